package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
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

// replicas is the number of pods of each Deployment.
const replicas = 100

// collectPercent is the growth of the heap, in percent, after which the garbage collector runs, as in kubesim serve. memoryLimit is
// the memory at which it runs more often instead of letting the heap grow.
const (
	collectPercent = 200
	memoryLimit    = 37 << 30 / 10 // 3.7 GiB
)

// figures are the measured values of one size.
type figures struct {
	Nodes, Pods int
	Start       time.Duration // processor time until all nodes are ready
	Fill        time.Duration // processor time until all pods are ready
	Wall        time.Duration // real time of filling
	Expire      time.Duration // processor time of the following hour of simulated time, in which all events expire
	Idle        time.Duration // processor time of the simulated day after that
	RSS         int64         // peak, in bytes
	Heap        int64         // in bytes, after filling
	Stored      int64         // size of the pods' JSON in bytes
	Hash        string        // of all objects, after filling
}

// profiles are the names of files for profiles. If a name is empty, no profile is written.
type profiles struct{ start, cpu, expire, idle, heap string }

// measure starts a cluster of one size, fills it, and advances its clock.
func measure(ctx context.Context, name string, p profiles) (f figures, err error) {
	if f.Nodes, f.Pods, err = size(name); err != nil {
		return f, err
	}
	debug.SetGCPercent(collectPercent)
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
	fmt.Fprintf(os.Stderr, "%s: all pods are ready after %s of CPU, peak RSS %d MB\n", name, seconds(f.Fill), f.RSS/1e6) // the rest takes minutes
	if f.Hash, err = w.hash(); err != nil {
		return f, err
	}
	f.Expire, _ = costs(p.expire, w.pass(time.Hour+time.Minute))
	f.Idle, err = costs(p.idle, w.pass(24*time.Hour))
	return f, err
}

// size reads a size, such as 100x1000.
func size(name string) (nodes, pods int, err error) {
	if _, err := fmt.Sscanf(name, "%dx%d", &nodes, &pods); err != nil || pods%replicas != 0 {
		return 0, 0, fmt.Errorf("%q is not a size: want nodes x pods, such as 100x1000, where the pods are a multiple of %d", name, replicas)
	}
	return nodes, pods, nil
}

// world is a cluster that is being measured.
type world struct {
	srv   *fake.Server
	clock *clock.Manual
}

// start starts a cluster and waits until its nodes are ready.
func start(ctx context.Context, nodes int) (w world, err error) {
	w.clock = clock.NewManual(clock.Epoch())
	if w.srv, err = fake.New(fake.Options{Clock: w.clock, Nodes: nodes, Controllers: []string{"*"}}); err != nil {
		return w, err
	}
	return w, w.srv.Settle(ctx)
}

const deployments = "/apis/apps/v1/namespaces/default/deployments"

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web-%[1]d"},"spec":{"replicas":%[2]d,
"selector":{"matchLabels":{"app":"web-%[1]d"}},"template":{"metadata":{"labels":{"app":"web-%[1]d"}},"spec":{"containers":[
{"name":"web","image":"nginx:1.29","ports":[{"containerPort":80}],"resources":{"requests":{"cpu":"50m","memory":"64Mi"}}}]}}}}`

// fill creates Deployments and waits until all of their pods are ready.
func (w world) fill(ctx context.Context, pods int) error {
	for n := range pods / replicas {
		body := fmt.Sprintf(deployment, n, replicas)
		if _, err := w.do(http.MethodPost, deployments, body); err != nil {
			return err
		}
	}
	return w.srv.Settle(ctx)
}

// pass returns a function that advances the clock by d without any requests.
func (w world) pass(d time.Duration) func() error {
	return func() error {
		w.clock.Advance(d)
		return nil
	}
}

// check returns the total size of the pods' JSON. It returns an error unless all of them are running and ready.
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

// hashed lists the resources that the hash of a cluster covers: all that its nodes and controllers write.
var hashed = []string{"/api/v1/nodes", "/api/v1/pods", "/api/v1/events", "/apis/apps/v1/deployments", "/apis/apps/v1/replicasets",
	"/apis/coordination.k8s.io/v1/leases"}

// hash returns a hash of the JSON of all objects, with their uids, resourceVersions and times. Each run of one size must give the
// same hash.
func (w world) hash() (string, error) {
	h := sha256.New()
	for _, path := range hashed {
		answer, err := send(w.srv.Transport(), http.MethodGet, w.srv.URL()+path, "")
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

// do sends a request and returns the body of the response.
func (w world) do(method, path, body string) ([]byte, error) {
	return do(w.srv.Transport(), method, w.srv.URL()+path, body)
}

// do sends a request through a transport, and returns the body of the response.
func do(through http.RoundTripper, method, url, body string) ([]byte, error) {
	answer, err := send(through, method, url, body)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// send sends a request through a transport. It returns an error if the response is not a success.
func send(through http.RoundTripper, method, url, body string) (*http.Response, error) {
	q, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	answer, err := through.RoundTrip(q)
	if err != nil || answer.StatusCode < 300 {
		return answer, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return nil, errors.Join(fmt.Errorf("%s %s: %d %.300s", method, url, answer.StatusCode, text), err)
}

// costs returns the processor time that f takes. If profile is not empty, it writes a CPU profile of f to that file.
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

// used returns the processor time of this process so far.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are valid
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak returns the largest resident set size so far in bytes. Linux reports it in KiB.
func peak() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are valid
	}
	return u.Maxrss << 10
}

// heap returns the size of all live objects in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC() // also frees objects with finalizers
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// writeHeap writes a heap profile to a file, unless name is empty.
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
