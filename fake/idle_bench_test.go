package fake_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// idleWatches is the number of watches.
const idleWatches = 10_000

// noSocket is the http.ResponseWriter of a connection that costs nothing. It counts the events that arrive.
type noSocket struct {
	header http.Header
	events *sync.WaitGroup
	ready  *sync.WaitGroup
	begun  bool
}

func (w *noSocket) Header() http.Header { return w.header }
func (w *noSocket) WriteHeader(int)     {}
func (w *noSocket) Write(p []byte) (int, error) {
	w.events.Done()
	return len(p), nil
}

func (w *noSocket) Flush() {
	if !w.begun {
		w.begun = true
		w.ready.Done()
	}
}

// cpu returns the CPU time that this process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkIdleWatches measures the server's cost of a write for each of 10,000 watches that get the event, without the
// cost of their sockets: from the commit to the call to Write. The result is cpu-ns/event.
func BenchmarkIdleWatches(b *testing.B) {
	srv, err := fake.New(fake.Options{Clock: clock.System{}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var events, ready, ended sync.WaitGroup
	defer func() { cancel(); ended.Wait(); srv.Close() }()
	ready.Add(idleWatches)
	for range idleWatches {
		q, err := http.NewRequestWithContext(ctx, "GET", "/api/v1/namespaces/default/configmaps?watch=1", nil)
		if err != nil {
			b.Fatal(err)
		}
		ended.Go(func() { srv.Handler().ServeHTTP(&noSocket{http.Header{}, &events, &ready, false}, q) })
	}
	ready.Wait()
	write := func(n int) {
		events.Add(idleWatches)
		q, err := http.NewRequestWithContext(ctx, "POST", srv.URL()+"/api/v1/namespaces/default/configmaps", strings.NewReader(fmt.Sprintf(`{"metadata":{"name":"a%d"}}`, n)))
		if err != nil {
			b.Fatal(err)
		}
		res, err := srv.Transport().RoundTrip(q)
		if err != nil || res.StatusCode != http.StatusCreated {
			b.Fatal(res, err)
		}
		events.Wait()
	}
	write(-1)
	before := cpu(b)
	for n := 0; b.Loop(); n++ {
		write(n)
	}
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N)/idleWatches, "cpu-ns/event")
	b.ReportMetric(0, "ns/op")
}
