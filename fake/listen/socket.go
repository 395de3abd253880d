package listen

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/fake/answer"
	"github.com/kubesim/kubesim/sim/status"
)

// Timeouts and limits of connections, which are those of kube-apiserver (genericapiserver.SecureServingInfo.Serve).
const (
	HeaderTimeout = 32 * time.Second // for a request's header
	IdleTimeout   = 90 * time.Second // for a connection without a request
	headerMax     = 1 << 20          // bytes
	streamsMax    = 100              // concurrent requests on one HTTP/2 connection

	// BodyTimeout is the time limit for a request's body, kube-apiserver's limit for requests other than watches. A watch begins
	// after its body and may last longer.
	BodyTimeout = 60 * time.Second
)

// The default limits of ListenOptions. They are far above what tests need, and below what a machine can handle.
const (
	connectionsMax = 20_000
	// MaxWatches is the maximum number of open watches.
	MaxWatches = 100_000
)

// refusedLife is the time for which a connection above the limit stays open to receive its error.
const refusedLife = 5 * time.Second

// socket is a net.Listener that counts its connections. A connection above the limit is accepted, so that its client gets an error,
// and is closed shortly afterwards.
type socket struct {
	net.Listener
	max  int64
	open atomic.Int64
}

// Accept implements net.Listener.
func (s *socket) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	k := &counted{Conn: c, of: s, over: s.open.Add(1) > s.max}
	if k.over {
		time.AfterFunc(refusedLife, func() { _ = k.Close() })
	}
	return k, nil
}

// counted is a connection of a socket.
type counted struct {
	net.Conn
	of   *socket
	over bool // it exceeds the limit
	once sync.Once
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.once.Do(func() { c.of.open.Add(-1) })
	return c.Conn.Close()
}

// overKey is the context key that marks requests on a connection above the limit.
type overKey struct{}

// markOver implements http.Server.ConnContext.
func markOver(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if k, ok := c.(*counted); ok && k.over {
		return context.WithValue(ctx, overKey{}, true)
	}
	return ctx
}

// requests counts the requests in progress, so that a listener can wait until there are none.
type requests struct {
	mu      sync.Mutex
	n       int
	closing bool
	none    chan struct{} // closed when the listener is closing and no requests remain
}

// begin reports whether another request may begin.
func (q *requests) begin() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closing {
		return false
	}
	q.n++
	return true
}

func (q *requests) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.n--
	q.check()
}

// close prevents further requests. The returned channel is closed when none remain.
func (q *requests) close() (none <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closing {
		q.closing, q.none = true, make(chan struct{})
		q.check()
	}
	return q.none
}

func (q *requests) check() {
	if q.closing && q.n == 0 {
		close(q.none)
	}
}

// gate is the first handler for requests to a listener:
//
//	request ─▶ shutting down? 429 ─▶ too many connections? 503 ─▶ another site's? 403 ─▶ CORS ─▶ the server
//
// The server authorizes the request.
type gate struct {
	origins  *origins
	requests requests
	maximum  int // maximum number of connections
	server   Server
	next     http.Handler // the server and its middleware
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
	if r.Context().Value(overKey{}) != nil {
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

// limitBody sets a deadline of BodyTimeout for reading a request's body. It also applies to net/http, which reads the rest of a
// body before the next request on a connection.
func limitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(BodyTimeout)) // all connections of a listener support it
	}
}
