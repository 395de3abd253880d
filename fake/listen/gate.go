package listen

import (
	"fmt"
	"net/http"
	"time"

	"github.com/kubesim/kubesim/fake/answer"
	"github.com/kubesim/kubesim/sim/status"
)

// gate is the handler that a request to a listener passes first:
//
//	request ─▶ shutting down? 429 ─▶ too many connections? 503 ─▶ another site's? 403 ─▶ CORS ─▶ the server
//
// The server authorizes the request.
type gate struct {
	origins  *origins
	requests requests
	maximum  int // of connections
	server   Server
	next     http.Handler // the server, and what it does before
}

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.requests.begin() { // filters.WithRetryAfter
		w.Header().Set("Connection", "close")
		w.Header().Set("Retry-After", "5")
		http.Error(w, "The apiserver is shutting down, please try again later.", http.StatusTooManyRequests)
		return
	}
	defer g.requests.end()
	limitBody(w, r)
	if isOver(r) {
		w.Header().Set("Connection", "close")
		w.Header().Set("Retry-After", "1")
		answer.WriteStatus(w, status.Unavailable(fmt.Sprintf("kubesim: too many connections: this listener serves %d at a time (--max-connections)", g.maximum)))
		return
	}
	if refused := g.origins.check(r); refused != nil {
		answer.WriteStatus(w, refused)
		return
	}
	if g.origins.share(w.Header(), r) {
		g.server.Preflight(w, r)
		return
	}
	g.next.ServeHTTP(w, r)
}

// limitBody sets a deadline of BodyTimeout for the body of a request. It also limits net/http, which reads the rest of a body before the
// next request of a connection.
func limitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(BodyTimeout)) // every connection of a listener has one
	}
}
