package main

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/clock"
)

// pace implements --speed: it advances a manual clock. While a request is under way, the clock runs as fast as real time, so that
// the timeouts of requests and webhooks are not shortened. Watches and other streams do not slow the clock down.
type pace struct {
	clock    *clock.Manual
	speed    int
	requests atomic.Int64 // under way
}

// paceTick is the real time between two advances of the clock.
const paceTick = 10 * time.Millisecond

// run advances the clock until ctx is done. It does not make up for the real time that an advance itself takes, in which
// controllers run.
func (p *pace) run(ctx context.Context) {
	ticker := time.NewTicker(paceTick)
	defer ticker.Stop()
	for last := time.Now(); ; last = time.Now() {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		d := time.Since(last)
		if p.requests.Load() == 0 {
			d *= time.Duration(p.speed)
		}
		p.clock.Advance(d)
	}
}

// Filter implements listen.Filter. It counts the requests that are under way.
func (p *pace) Filter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isStream(r) {
			p.requests.Add(1)
			defer p.requests.Add(-1)
		}
		next.ServeHTTP(w, r)
	})
}

// isStream reports whether a request may last as long as the client likes.
func isStream(r *http.Request) bool {
	q := r.URL.Query()
	return q.Has("watch") || q.Has("follow") || r.Header.Get("Upgrade") != "" || strings.HasPrefix(r.URL.Path, "/sim/")
}
