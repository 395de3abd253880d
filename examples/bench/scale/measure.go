package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// replicas is the number of pods of one Deployment.
const replicas = 100

// memoryLimit is the size of the heap from which on the garbage collector runs more often instead of letting it grow.
const memoryLimit = 7 << 30

// figures are the measured values of one size.
type figures struct {
	Nodes, Pods int
	Start       time.Duration // processor time until all nodes are ready
	Fill        time.Duration // processor time until all pods are ready
	Wall        time.Duration // of filling
	Expire      time.Duration // processor time of the virtual hour after that, in which all events expire
	Idle        time.Duration // processor time of the virtual day after that
	RSS         int64         // bytes, the peak
	Heap        int64         // bytes, when it is full
	Stored      int64         // bytes of the pods as JSON
}

// profiles are files to write profiles to; an empty name means none.
type profiles struct{ start, cpu, expire, idle, heap string }

// measure starts a cluster of one size, fills it, and lets time pass.
func measure(ctx context.Context, name string, p profiles) (f figures, err error) {
	if _, err := fmt.Sscanf(name, "%dx%d", &f.Nodes, &f.Pods); err != nil || f.Pods%replicas != 0 {
		return f, fmt.Errorf("%q is not a size: want nodes x pods, such as 100x1000, where the pods are a multiple of %d", name, replicas)
	}
	debug.SetMemoryLimit(memoryLimit)
	var w world
	if f.Start, err = costs(p.start, func() error { w, err = start(ctx, f.Nodes); return err }); err != nil {
		return f, err
	}
	defer w.srv.Close()
	base := heap()
	began := time.Now()
	if f.Fill, err = costs(p.cpu, func() error { return w.fill(ctx, f.Pods) }); err != nil {
		return f, err
	}
	f.Wall = time.Since(began)
	f.RSS = peak()
	f.Heap = heap() - base
	if err := writeHeap(p.heap); err != nil {
		return f, err
	}
	if f.Stored, err = w.check(f.Pods); err != nil {
		return f, err
	}
	f.Expire, _ = costs(p.expire, w.pass(time.Hour+time.Minute))
	f.Idle, err = costs(p.idle, w.pass(24*time.Hour))
	return f, err
}

// world is a cluster that is being measured.
type world struct {
	srv   *fake.Server
	clock *clock.Manual
}

// start starts a cluster, and waits until its nodes are ready.
func start(ctx context.Context, nodes int) (w world, err error) {
	w.clock = clock.NewManual(clock.Epoch())
	if w.srv, err = fake.New(fake.Options{Clock: w.clock, Nodes: nodes, Controllers: []string{"*"}}); err != nil {
		return w, err
	}
	return w, w.srv.Settle(ctx)
}

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web-%[1]d"},"spec":{"replicas":%[2]d,
"selector":{"matchLabels":{"app":"web-%[1]d"}},"template":{"metadata":{"labels":{"app":"web-%[1]d"}},"spec":{"containers":[
{"name":"web","image":"nginx:1.29","ports":[{"containerPort":80}],"resources":{"requests":{"cpu":"50m","memory":"64Mi"}}}]}}}}`

// fill creates Deployments, and waits until all their pods are ready.
func (w world) fill(ctx context.Context, pods int) error {
	for n := range pods / replicas {
		body := fmt.Sprintf(deployment, n, replicas)
		if _, err := w.do(http.MethodPost, "/apis/apps/v1/namespaces/default/deployments", body); err != nil {
			return err
		}
	}
	return w.srv.Settle(ctx)
}

// pass returns a function that lets time pass, in which no client asks.
func (w world) pass(d time.Duration) func() error {
	return func() error {
		w.clock.Advance(d)
		return nil
	}
}

// check returns an error unless all pods are running and ready, and the size of the pods.
func (w world) check(want int) (bytes int64, err error) {
	ready, token := 0, ""
	for {
		text, err := w.do(http.MethodGet, "/api/v1/pods?limit=500&continue="+token, "")
		if err != nil {
			return 0, err
		}
		var list struct {
			Metadata struct{ Continue string }
			Items    []struct {
				Status struct {
					Phase      string
					Conditions []struct{ Type, Status string }
				}
			}
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return 0, err
		}
		bytes += int64(len(text))
		for _, pod := range list.Items {
			for _, c := range pod.Status.Conditions {
				if pod.Status.Phase == "Running" && c.Type == "Ready" && c.Status == "True" {
					ready++
				}
			}
		}
		if token = list.Metadata.Continue; token == "" {
			break
		}
	}
	if ready != want {
		return 0, fmt.Errorf("%d of %d pods are running and ready", ready, want)
	}
	return bytes, nil
}

// do sends a request, and returns the body of the answer.
func (w world) do(method, path, body string) ([]byte, error) {
	q, err := http.NewRequest(method, w.srv.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	answer, err := w.srv.Transport().RoundTrip(q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %d %.300s", method, path, answer.StatusCode, text)
	}
	return text, err
}

// costs returns the processor time that f takes. If profile is set, it names the file for the CPU profile of f.
func costs(profile string, f func() error) (time.Duration, error) {
	if profile != "" {
		to, err := os.Create(profile)
		if err != nil {
			return 0, err
		}
		defer to.Close()
		if err := pprof.StartCPUProfile(to); err != nil {
			return 0, err
		}
		defer pprof.StopCPUProfile()
	}
	before := used()
	err := f()
	return used() - before, err
}

// used returns the processor time that this process has used.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no argument that could be wrong
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak returns the largest resident set so far, in bytes. Linux counts it in KiB.
func peak() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no argument that could be wrong
	}
	return u.Maxrss << 10
}

// heap returns the bytes of live objects.
func heap() int64 {
	runtime.GC()
	runtime.GC() // objects that finalizers have freed
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// writeHeap writes a profile of the heap to a file, unless its name is empty.
func writeHeap(name string) error {
	if name == "" {
		return nil
	}
	to, err := os.Create(name)
	if err != nil {
		return err
	}
	defer to.Close()
	return pprof.WriteHeapProfile(to)
}
