package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// BenchmarkStart measures the time to start a server and create a pod.
func BenchmarkStart(b *testing.B) {
	for _, t := range startable() {
		b.Run(t.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				startOnce(b, t)
			}
		})
	}
}

// startOnce starts a target, and runs its cleanup functions like a test.
func startOnce(b *testing.B, t target) {
	one := &ending{TB: b}
	defer one.end()
	if _, err := t.open(one, 0).create(context.Background(), pod(0)); err != nil {
		b.Fatal(err)
	}
}

// ending is a testing.TB whose Cleanup functions run at end.
type ending struct {
	testing.TB
	cleanup []func()
}

func (e *ending) Cleanup(f func()) { e.cleanup = append(e.cleanup, f) }

// Helper and Logf do nothing, because the embedded TB may be nil.
func (e *ending) Helper()             {}
func (e *ending) Logf(string, ...any) {}

func (e *ending) end() {
	for _, f := range e.cleanup {
		f()
	}
}

// startable returns the targets that store objects.
func startable() (out []target) {
	for _, t := range targets {
		switch t.name {
		case "kubesim", "client-go-simple", "client-go", "controller-runtime":
			out = append(out, t)
		}
	}
	return out
}

// child is set in the environment of a process that only measures its first start. Its value is the name of the target.
const child = "KUBESIM_BENCH_START"

// BenchmarkStartFirst is like BenchmarkStart, but measures the first server in a process, which loads schemas and fills
// caches.
func BenchmarkStartFirst(b *testing.B) {
	for _, t := range startable() {
		b.Run(t.name, func(b *testing.B) {
			var total time.Duration
			for b.Loop() {
				total += firstStart(b, t.name)
			}
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/op") // without the start of the process
		})
	}
}

func firstStart(b *testing.B, name string) time.Duration {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), child+"="+name)
	out, err := command.Output()
	if err != nil {
		b.Fatal(err)
	}
	d, err := time.ParseDuration(string(out))
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func TestMain(m *testing.M) {
	name := os.Getenv(child)
	if name == "" {
		os.Exit(m.Run())
	}
	for _, t := range startable() {
		if t.name == name {
			p := pod(0)
			begin := time.Now()
			if _, err := t.open(&ending{}, 0).create(context.Background(), p); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Print(time.Since(begin))
		}
	}
}
