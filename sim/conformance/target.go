package conformance

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"time"
)

// Target is a server to compare.
type Target struct {
	URL       string            // scheme and host
	Transport http.RoundTripper // must send URL.RequestURI() and obey the request's context; the default is Network(false)
	Second    *Target           // another API server over the same store, if any; only its URL and Transport are used
	Token     string            // bearer token, empty if there is none
	Seed      uint64            // draws the namespaces' names; a server that outlives a run needs another one each time

	// Minor is the server's minor, such as "1.37". Cases of other minors do not run. If it is empty, all cases run.
	Minor string

	// NoControl means that the server does not have POST /sim/v1/compact and /sim/v1/expire, like a real one.
	NoControl bool

	// Advance advances the server's clock and reports whether it could. If it is nil, time passes by itself, by package
	// time, which takes no real time in a testing/synctest bubble.
	Advance func(time.Duration) bool
	// Settle returns when nothing more can happen without time passing, neither in the server nor in the requests under
	// way; synctest.Wait does that. Required with Advance.
	Settle func()

	tidy bool // Run finally deletes the objects of the case, because the server outlives it
}

// step is the step by which the clock advances while a request waits.
const step = 100 * time.Millisecond

// sleep lets d pass.
func (t Target) sleep(d time.Duration) {
	if t.Advance == nil {
		time.Sleep(d)
		return
	}
	t.Settle()
	t.Advance(d)
	t.Settle()
}

// during runs f and calls expire when f is not done after limit; f must then return.
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

// control drops the history of the store ("compact"), or of the store and every watch cache ("expire").
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
