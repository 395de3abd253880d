package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// beside measures one size with an unmodified kube-controller-manager and kube-scheduler. It starts them from the directory
// programs, against kubesim serve, whose nodes run the pods:
//
//	kube-controller-manager ─http─▶ kubesim serve --nodes N --controllers none ◀─http─ kube-scheduler
//	                                      ▲ Deployments; their status, once a second
//	                                    scale
//
// It returns a table row per process. The two programs limit their requests to 20 and 50 per second by default; here the limits
// are lifted.
func beside(ctx context.Context, programs, name string) (string, error) {
	nodes, pods, err := size(name)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	b := &realControlPlane{dir: dir, programs: programs}
	defer b.stop()
	if err := b.start(ctx, nodes); err != nil {
		return "", err
	}
	var before []time.Duration
	for _, p := range b.processes {
		before = append(before, p.used())
	}
	began := time.Now()
	if err := b.fill(ctx, pods); err != nil {
		return "", err
	}
	wall := time.Since(began)
	text := "| process | nodes | pods | real time | CPU until the pods are ready | CPU per pod |\n" + strings.Repeat("|---", 6) + "|\n"
	for i, p := range b.processes {
		cpu := p.used() - before[i]
		text += fmt.Sprintf("| %s | %d | %d | %s | %s | %.2f ms |\n", p.name, nodes, pods, seconds(wall), seconds(cpu), cpu.Seconds()*1e3/float64(pods))
	}
	fmt.Print(text)
	return text, nil
}

// realControlPlane holds the processes of one measurement.
type realControlPlane struct {
	dir, programs string
	url           string
	processes     []process
}

// process is a started program.
type process struct {
	name string
	*exec.Cmd
}

// config returns the path of the kubeconfig file.
func (b *realControlPlane) config() string { return filepath.Join(b.dir, "kubeconfig") }

// serve starts kubesim and waits until it serves requests.
func (b *realControlPlane) serve(ctx context.Context, nodes int, controllers string) error {
	address, err := unused()
	if err != nil {
		return err
	}
	b.url = "http://" + address
	if err := b.run("kubesim", "serve", "--nodes", strconv.Itoa(nodes), "--controllers", controllers, "--listen", address,
		"--kubeconfig", b.config()); err != nil {
		return err
	}
	return b.until(ctx, func() (bool, error) {
		_, err := b.do(http.MethodGet, "/readyz", "")
		return err == nil, nil
	})
}

// start starts kubesim without controllers, then the two programs.
func (b *realControlPlane) start(ctx context.Context, nodes int) error {
	if err := b.serve(ctx, nodes, "none"); err != nil {
		return err
	}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		if err := b.run(name, "--kubeconfig", b.config(), "--leader-elect=false", "--kube-api-qps=100000", "--kube-api-burst=100000",
			"--bind-address=127.0.0.1", "--secure-port=0"); err != nil {
			return err
		}
	}
	return b.until(ctx, func() (bool, error) { // both have filled their caches when the first pod is ready
		_, err := b.do(http.MethodPost, deployments, fmt.Sprintf(deployment, -1, 1))
		if err != nil && !strings.Contains(err.Error(), "already exists") {
			return false, err
		}
		return b.ready(1)
	})
}

// fill creates Deployments and waits until all of their pods are ready.
func (b *realControlPlane) fill(ctx context.Context, pods int) error {
	for n := range pods / replicas {
		if _, err := b.do(http.MethodPost, deployments, fmt.Sprintf(deployment, n, replicas)); err != nil {
			return err
		}
	}
	return b.until(ctx, func() (bool, error) { return b.ready(pods + 1) })
}

// ready reports whether the ready replicas of all Deployments add up to pods.
func (b *realControlPlane) ready(pods int) (bool, error) {
	text, err := b.do(http.MethodGet, deployments, "")
	if err != nil {
		return false, err
	}
	var list struct {
		Items []struct{ Status struct{ ReadyReplicas int } }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return false, err
	}
	ready := 0
	for _, d := range list.Items {
		ready += d.Status.ReadyReplicas
	}
	return ready == pods, nil
}

// until waits until a condition holds. It checks the condition once a second.
func (b *realControlPlane) until(ctx context.Context, holds func() (bool, error)) error {
	for {
		if done, err := holds(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}

// run starts a program that logs to a file in the temporary directory.
func (b *realControlPlane) run(name string, args ...string) error {
	log, err := os.Create(filepath.Join(b.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.Command(filepath.Join(b.programs, name), args...)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return err
	}
	b.processes = append(b.processes, process{name, c})
	return nil
}

// stop kills the processes.
func (b *realControlPlane) stop() {
	for _, p := range b.processes {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
}

// used returns the processor time of a process so far, from /proc.
func (p process) used() time.Duration {
	const ticks = 100 // a second, on Linux
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte(") ")) // the name of the program may contain spaces
	fields := strings.Fields(string(rest))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / ticks
}

// do sends a request to kubesim and returns the body of the response.
func (b *realControlPlane) do(method, path, body string) ([]byte, error) {
	return do(http.DefaultTransport, method, b.url+path, body)
}

// unused returns a local address on which no process listens.
func unused() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
