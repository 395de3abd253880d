package conformance

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"time"
)

// Target is a server that is compared with the recordings.
type Target struct {
	URL       string            // scheme and host
	Transport http.RoundTripper // must send URL.RequestURI() and respect the request's context; the default is Network(false)
	Second    *Target           // another API server over the same store, if any; only its URL and Transport are used
	Token     string            // the bearer token, or "" if there is none
	Seed      uint64            // determines the names of the namespaces; if the server is used again, each run needs another seed

	// Minor is the server's minor version, such as "1.37". Cases of other minor versions do not run. If it is empty,
	// all cases run.
	Minor string
	// DefaultAPI reports that the server does not serve the API versions that are off by default. The cases of AllVersions do not run.
	DefaultAPI bool
	// NoWorkloads reports that the server does not serve Workload and PodGroup. The cases of Workloads do not run.
	NoWorkloads bool
	// SingleStack reports that services have addresses of one IP family. The cases of DualStack do not run.
	SingleStack bool

	// Scheduled reports that a scheduler runs. Only situations with "# @scheduled" run then, and the others if it is false.
	Scheduled bool

	// NoControl is set if the server, like a real one, does not support POST /sim/v1/compact and /sim/v1/expire.
	NoControl bool

	// Advance advances the server's clock and reports whether it could. If nil, the server uses the clock of package
	// time, which takes no real time in a testing/synctest bubble.
	Advance func(time.Duration) bool
	// Settle waits until the server and all pending requests can make no progress unless time passes, like
	// synctest.Wait. It is required if Advance is set.
	Settle func()

	tidy bool // Run deletes the objects of the case at the end, because the server is used again
}

// step is the interval by which the clock advances while a request waits.
const step = 100 * time.Millisecond

// sleep waits until d has passed on the server's clock.
func (t Target) sleep(d time.Duration) {
	if t.Advance == nil {
		time.Sleep(d)
		return
	}
	t.Settle()
	t.Advance(d)
	t.Settle()
}

// during runs f. If f has not returned after limit, it calls expire, which must make f return.
func (t Target) during(limit time.Duration, expire, f func()) {
	if t.Advance == nil {
		timer := time.AfterFunc(limit, expire)
		defer timer.Stop()
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for spent := time.Duration(0); ; spent += step {
		t.Settle()
		select {
		case <-done:
			return
		default:
		}
		if spent >= limit || !t.Advance(step) {
			expire()
			<-done
			return
		}
	}
}

// control drops the history of the store ("compact"), or of the store and all watch caches ("expire").
func (t Target) control(ctx context.Context, verb string) error {
	e, err := request{method: http.MethodPost, target: "/sim/v1/" + verb}.send(ctx, t)
	if err == nil && e.status/100 != 2 {
		err = fmt.Errorf("POST /sim/v1/%s answered %d", verb, e.status)
	}
	return err
}

// namespace returns the name of the namespace for a case: c- and eight letters.
func (t Target) namespace(c Case) string {
	h := fnv.New64a()
	h.Write([]byte(c.ID()))
	r := rand.New(rand.NewPCG(t.Seed, h.Sum64()))
	name := []byte("c-")
	for range 8 {
		name = append(name, byte('a'+r.IntN(26)))
	}
	return string(name)
}
