package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubesim/kubesim/sim/checker"
)

// endurance runs rounds of real clients with a server in another process, over TCP and TLS, in real time:
//
//	round    32 clientsets with informers ─ faults ─▶ server ─ archive
//	           └─ recorder: each request, response and frame ─▶ checker.History ─▶ every promise, linearizability
//	between  no clients; all objects are deleted and the store is compacted: the server's heap must not grow
//
// The history of a round is checked and then dropped, so that an hour needs no more memory than a minute.
type endurance struct {
	server  *child
	clients int
	ops     int // number of operations of a client in a round

	requests, watches, commits int
	last                       *checker.History // of the last round
}

// endure runs rounds for a duration, and at least as many as are needed to assess the heap.
func endure(d time.Duration, clients, ops int, seed uint64) error {
	klog.SetLogger(logr.Discard()) // client-go logs each fault
	dir, err := os.MkdirTemp("", "kubesim-endurance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server, err := startChild(ctx, filepath.Join(dir, "archive"))
	if err != nil {
		return err
	}
	e := &endurance{server: server, clients: clients, ops: ops}
	var first, last condition
	var heaps []int64 // heap size after each round except the first ones
	began := time.Now()
	said := began
	rounds := 0
	for ; rounds < warm+least || time.Since(began) < d; rounds++ {
		if err := e.round(seed + uint64(rounds)); err != nil {
			return fmt.Errorf("round %d (-seed %d): %w", rounds, seed+uint64(rounds), err)
		}
		if last, err = server.rest(); err != nil {
			return err
		}
		if rounds == warm {
			first = last
		}
		if rounds >= warm {
			heaps = append(heaps, last.heap)
		}
		if time.Since(said) > 30*time.Second {
			said = time.Now()
			fmt.Fprintf(os.Stderr, "%s: %d rounds, %d requests, heap %.1f MB\n", time.Since(began).Round(time.Second), rounds+1, e.requests, float64(last.heap)/1e6)
		}
	}
	fmt.Printf("%d clients, %s, %d rounds: %d requests, %d watches, %d commits: no promise was broken\n", clients,
		time.Since(began).Round(time.Second), rounds, e.requests, e.watches, e.commits)
	grown := drift(heaps)
	fmt.Printf("the server's heap: %.2f MB after %d rounds, then between %.2f and %.2f MB, which is %+.1f %% in all; goroutines: %d and %d; processor: %s\n",
		float64(first.heap)/1e6, warm+1, float64(slices.Min(heaps))/1e6, float64(slices.Max(heaps))/1e6, 100*grown,
		first.goroutines, last.goroutines, last.cpu.Round(time.Millisecond))
	if math.Abs(grown) > heapDrift {
		return fmt.Errorf("the heap has changed by more than %.0f %%", 100*heapDrift)
	}
	return server.stop()
}

// plan contains faults that apply only to workers.
const plan = `on update,patch * client=worker- p=0.02 do fail Conflict
on create,update,patch,delete * client=worker- p=0.02 do commit-then-fail Timeout
on create,update,patch,delete * client=worker- p=0.01 do fail Timeout
on * * client=worker- p=0.003 do fail ServiceUnavailable retry=1
on * * client=worker- p=0.003 do fail TooManyRequests retry=1
on get,list * client=worker- p=0.01 do truncate 100
on * * client=worker- p=0.01 do delay-request 20ms
on * * client=worker- p=0.01 do delay-answer 30ms
on watch * client=worker- p=0.002 do close
on watch * client=worker- p=0.002 do delay 50ms
on watch * client=worker- p=0.001 do fail Expired
on create,update,patch,delete * client=worker- p=0.002 do compact
on list * client=worker- p=0.01 do expire
`

// round executes one round: it removes the faults of the last one, records the workers' requests, deletes their objects, and checks
// the history.
func (e *endurance) round(seed uint64) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(e.server.ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	if err := control(transport, "DELETE", e.server.url+"/sim/v1/faults", ""); err != nil {
		return err
	}
	r := &Remote{URL: e.server.url, Transport: transport}
	config := &rest.Config{Host: e.server.url, TLSClientConfig: rest.TLSClientConfig{CAData: e.server.ca}}
	var failed error
	h, err := r.record(func(ctx context.Context) { failed = e.play(ctx, r, transport, config, seed) })
	if err == nil {
		err = failed
	}
	if err == nil {
		err = tidy(transport, e.server.url)
	}
	if err != nil {
		return err
	}
	e.last = h
	e.requests, e.watches, e.commits = e.requests+len(h.Calls), e.watches+len(h.Streams), e.commits+len(h.Commits)
	return verdict(h)
}

// play runs the workers while faults occur.
func (e *endurance) play(ctx context.Context, r *Remote, transport http.RoundTripper, config *rest.Config, seed uint64) error {
	if err := control(transport, "POST", e.server.url+"/sim/v1/faults", plan); err != nil {
		return err
	}
	var clients sync.WaitGroup
	var workers []*worker
	defer func() {
		for _, w := range workers {
			w.hangUp()
		}
	}()
	for n := range e.clients {
		w, err := newWorker(r, config, n, seed)
		if err != nil {
			return err
		}
		workers = append(workers, w)
		clients.Go(func() { w.work(ctx, e.ops) })
	}
	clients.Wait()
	return control(transport, "DELETE", e.server.url+"/sim/v1/faults", "")
}

// verdict returns an error if any check of the history fails.
func verdict(h *checker.History) error {
	var out []string
	for _, v := range checker.Check(h) {
		out = append(out, v.Error())
	}
	if linearizable(h, false) == porcupine.Illegal {
		out = append(out, "Linearizable: answers about an object fit no order of the requests")
	}
	if len(out) > 0 {
		return fmt.Errorf("%s", strings.Join(out[:min(len(out), 10)], "\n"))
	}
	return nil
}

// tidy deletes the objects that a round has created.
func tidy(transport http.RoundTripper, url string) error {
	for _, path := range []string{"/api/v1/namespaces/%s/configmaps", "/apis/coordination.k8s.io/v1/namespaces/%s/leases"} {
		for _, namespace := range namespaces {
			if err := control(transport, "DELETE", url+fmt.Sprintf(path, namespace), ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// control sends a request, and returns an error if it fails.
func control(transport http.RoundTripper, method, url, body string) error {
	q, err := http.NewRequest(method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	res, err := transport.RoundTrip(q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, url, res.Status)
	}
	return nil
}

const (
	// warm is the number of rounds before the heap is first measured.
	warm = 3

	// least is the minimum number of measured rounds. With fewer of them, a fluctuation could not be distinguished from a leak.
	least = 12

	// heapDrift is the maximum relative change of the heap between the first and the last measured round.
	heapDrift = 0.10
)

// drift returns the relative change of the heap from the first round to the last, given its size in bytes after each. The heap fluctuates
// by a seventh from round to round, so two rounds are not enough. drift uses the median of the slopes between any two rounds (Theil-Sen),
// which a leak changes and a single high round does not.
func drift(heaps []int64) float64 {
	var slopes []float64
	for i, before := range heaps {
		for j, after := range heaps[i+1:] {
			slopes = append(slopes, float64(after-before)/float64(j+1))
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	return median(slopes) * float64(len(heaps)-1) / float64(median(heaps))
}

// median returns the middle number, or the greater one of the two middle numbers.
func median[N int64 | float64](numbers []N) N {
	return slices.Sorted(slices.Values(numbers))[len(numbers)/2]
}
