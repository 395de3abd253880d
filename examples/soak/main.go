// Command soak runs random operations with random faults against the simulator, one seed after another. It checks all promises of
// sim/checker, and that each object is linearizable.
//
//	go run ./soak                     a million operations
//	go run ./soak -seed 17            a single seed
//	go run ./soak -target http://…    the same clients, concurrently, against a running server
//	go run ./soak -for 1h             32 clients of client-go over TLS, against a server in another process, in real time
//
// Each run has its own seed. Runs are executed in parallel, each on one goroutine. For the first run that fails, soak prints the
// shortest scenario that still fails, writes it to a file, and prints the command that runs it again.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/soak"
)

var (
	total  = flag.Int("ops", 1_000_000, "operations in all")
	size   = flag.Int("size", 700, "operations of a run")
	first  = flag.Uint64("first", 1, "seed of the first run")
	seed   = flag.Uint64("seed", 0, "run this seed only")
	target = flag.String("target", "", "URL of a server to check instead, in its namespaces default and kube-public")
	token  = flag.String("token", "", "bearer token for -target")
	length = flag.Duration("for", 0, "run real clients for so long instead")
	actors = flag.Int("clients", 32, "how many of them, with -for")
	served = flag.String("serve", "", "be the server of -for, with its archive in this file")
)

func main() {
	flag.Parse()
	var err error
	switch {
	case *served != "":
		err = serve(os.Stdin, os.Stdout, *served)
	case *length != 0:
		err = endure(*length, *actors, 120, max(*seed, 1))
	case *target != "":
		err = check(&Remote{URL: strings.TrimSuffix(*target, "/"), Transport: http.DefaultTransport, Token: *token,
			Config: soak.Swarm(max(*seed, 1), *size)})
	case *seed != 0:
		err = again(*seed)
	default:
		err = all()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// check runs the clients against a running server and checks the recorded history.
func check(r *Remote) error {
	h, err := r.Run()
	if err != nil {
		return err
	}
	if err := verdict(h); err != nil {
		return err
	}
	fmt.Printf("%d requests, %d watches, %d commits: no promise was broken\n", len(h.Calls), len(h.Streams), len(h.Commits))
	return nil
}

// run executes a soak run and adds a violation if an object is not linearizable.
func run(o soak.Options) (*soak.Result, error) {
	r, err := soak.Run(o)
	if err == nil && linearizable(r.History, true) == porcupine.Illegal {
		r.Violations = append(r.Violations, checker.Violation{Promise: "Linearizable",
			Text: "each object behaves as one register", What: "answers about an object fit no order of the requests"})
	}
	return r, err
}

// all runs one seed after the other on all processors until -total operations have been executed. If a run fails or breaks a
// promise, it repeats that seed and returns the error.
func all() error {
	var done, next, unexpected atomic.Int64
	next.Store(int64(*first))
	began := time.Now()
	stop := make(chan struct{})
	var workers sync.WaitGroup
	var once sync.Once
	var failure error
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for done.Load() < int64(*total) && unexpected.Load() == 0 {
				n := uint64(next.Add(1) - 1)
				r, err := run(soak.Options{Config: soak.Swarm(n, *size)})
				if err == nil && len(r.Violations) == 0 {
					done.Add(int64(r.Ops))
					continue
				}
				unexpected.Add(1)
				once.Do(func() { failure = again(n) })
			}
		})
	}
	go progress(stop, began, &done, &next)
	workers.Wait()
	close(stop)
	if failure != nil {
		return failure
	}
	took := time.Since(began)
	fmt.Printf("%d operations in %d runs, %s: no promise was broken (%.0f operations a second)\n", done.Load(),
		next.Load()-int64(*first), took.Round(time.Second), float64(done.Load())/took.Seconds())
	return nil
}

// progress prints the progress every five seconds.
func progress(stop <-chan struct{}, began time.Time, done, next *atomic.Int64) {
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			n := done.Load()
			fmt.Fprintf(os.Stderr, "%9d of %d operations, seed %d, %.0f a second\n", n, *total, next.Load(),
				float64(n)/time.Since(began).Seconds())
		}
	}
}

// again runs a single seed. If it fails, again writes the shortest failing scenario to a file, and returns an error that contains
// it.
func again(seed uint64) error {
	c := soak.Swarm(seed, *size)
	replay := fmt.Sprintf("replay: make soak SOAKFLAGS='-size %d -seed %d'", *size, seed)
	r, err := soak.Shrink(soak.Options{Config: c}, run)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, replay)
	}
	if len(r.Violations) == 0 {
		fmt.Printf("%s\nno promise was broken; hash %s\n", c, r.Hash)
		return nil
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("kubesim-soak-%d.txtar", seed))
	text := r.Scenario().Format()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	var b strings.Builder
	for _, v := range r.Violations {
		fmt.Fprintln(&b, v.Error())
	}
	return fmt.Errorf("%s\n%s\n%s%s\nto see all of it: kubesim run %s", c, text, &b, replay, path)
}
