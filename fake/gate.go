package fake

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/status"
)

// gate is what a request to a listener passes first:
//
//	request ─▶ shutting down? 429 ─▶ too many connections? 503 ─▶ another site's? 403 ─▶ CORS ─▶ the server
//
// Whether the sender may do what he asks for is not its matter: of the API the server decides, and of what moves the
// simulator mayControl does.
type gate struct {
	origins   *origins
	requests  requests
	maximum   int // of connections
	next      http.Handler
	preflight func(w http.ResponseWriter, r *http.Request)
}

// ServeHTTP is http.Handler's.
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
		writeStatus(w, status.Unavailable(fmt.Sprintf("kubesim: too many connections: this listener serves %d at a time (--max-connections)", g.maximum)))
		return
	}
	if refused := g.origins.check(r); refused != nil {
		writeStatus(w, refused)
		return
	}
	if g.origins.share(w.Header(), r) {
		g.preflight(w, r)
		return
	}
	g.next.ServeHTTP(w, r)
}

// preflight answers a browser that asks, before it sends a page's request, whether the page may send it.
func preflight(pick func(*http.Request) *apiserver.Server) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Audit-Id"] = []string{pick(r).AuditID(r.Header.Get("Audit-Id"))}
		w.Header()["Cache-Control"] = []string{"no-cache, private"}
		w.WriteHeader(http.StatusNoContent)
	}
}

// writeStatus answers with a Status.
func writeStatus(w http.ResponseWriter, s *status.Status) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(s.Details.RetryAfterSeconds))
	}
	w.WriteHeader(s.Code)
	_, _ = w.Write(s.JSON()) // a client that went away is no error of the server
}

// tooManyWatches is the answer to a watch beyond the greatest number of them.
func tooManyWatches(most int64) *status.Status {
	return status.TooManyRequests(fmt.Sprintf("kubesim: too many watches: this listener serves %d at a time (--max-watches)", most), 1)
}

// limitBody gives the body of a request bodyTimeout to arrive, whoever reads it: package net/http does, if nobody else, before
// it takes the next request of a connection.
func limitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // every connection of a listener has one
	}
}

// readBody reads the body of a request. It reports false, and has answered, when limitBody's time is over before.
func readBody(w http.ResponseWriter, r *http.Request, q *apiserver.Request) bool {
	q.ReadBody(r.Body, r.ContentLength)
	switch {
	case errors.Is(q.BodyError, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		writeStatus(w, status.Timeout("request did not complete within the allotted timeout", 0))
		return false
	case q.BodyError == nil && q.Rest == nil && r.ContentLength != 0:
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // in process there is none
	}
	return true
}

// OpenToAnyone reports whether somebody who shows nothing, or only what everybody knows of kubesim, may do everything: nobody
// is authenticated, or the default tokens or the default key for tokens of service accounts are good.
func (s *Server) OpenToAnyone() bool {
	o := &s.options
	return !o.authenticates() || slices.Contains(o.Authorizers, "AlwaysAllow") || o.Tokens == nil || o.ServiceAccounts.SigningKey == nil ||
		slices.ContainsFunc(auth.DefaultTokens(), func(d auth.Token) bool {
			return slices.ContainsFunc(o.Tokens, func(t auth.Token) bool { return t.Token == d.Token })
		})
}
