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

// Time-outs and limits of connections, those of kube-apiserver (genericapiserver.SecureServingInfo.Serve).
const (
	HeaderTimeout = 32 * time.Second // a request's header has to be there
	IdleTimeout   = 90 * time.Second // a connection stays without a request
	headerMax     = 1 << 20          // bytes
	streamsMax    = 100              // requests at a time on one connection of HTTP/2

	// BodyTimeout is how long a request's body may take: kube-apiserver's limit for requests that are no watches. A watch
	// begins after it, and may last.
	BodyTimeout = 60 * time.Second
)

// Default limits, if ListenOptions have none. They are far above the needs of tests, and below the limits of a machine.
const (
	connectionsMax = 20_000
	// MaxWatches is how many watches there may be at a time.
	MaxWatches = 100_000
)

// refusedLife is how long a connection above the limit stays open to receive its error.
const refusedLife = 5 * time.Second

// socket is a net.Listener that counts its connections. A connection above the limit is accepted, so that its client gets an error, and
// closed soon.
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
	over bool // there were too many before it
	once sync.Once
}

// Close implements net.Conn.
func (c *counted) Close() error {
	c.once.Do(func() { c.of.open.Add(-1) })
	return c.Conn.Close()
}

// overKey marks, in the context of its requests, a connection that is too many.
type overKey struct{}

// markOver is http.Server.ConnContext.
func markOver(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if k, ok := c.(*counted); ok && k.over {
		return context.WithValue(ctx, overKey{}, true)
	}
	return ctx
}

// requests counts the requests in progress, so that a listener can end when there are none.
type requests struct {
	mu      sync.Mutex
	n       int
	closing bool
	none    chan struct{} // closed when the listener is closing and nothing is left
}

// begin reports whether another request is taken.
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

// close lets no more requests begin. The channel is closed when there are none.
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

// limitBody sets a deadline of BodyTimeout for the body of a request. It also limits net/http, which reads the rest of a body before the
// next request of a connection.
func limitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(BodyTimeout)) // every connection of a listener has one
	}
}
