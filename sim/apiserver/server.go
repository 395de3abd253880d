// Package apiserver answers HTTP requests as kube-apiserver does.
//
//	Request, its body read ─▶ Do ─▶ authenticate ─▶ authorize ─▶ discovery, or route ─▶ a file per verb ─▶ done(Answer)
//	                          └─ under the Cluster's lock; never blocks ──────────────────────────────────┘
//
// done is called at once, or later: a read may wait for a cache. An Answer is complete, and the events of a watch are in its queue,
// before anything is sent: no lock is held while a client reads, and a client that does not read cannot block others. Package fake
// converts requests and answers from and to net/http and waits; the engine of the page needs neither.
package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// bodyMax is the greatest size of a request body.
const bodyMax = 3 << 20

// Server is one API server.
type Server struct {
	Lock      sync.Locker // the Cluster's: guards everything below
	Registry  *registry.Registry
	Table     *resource.Table
	Schema    *schema.Set
	Discovery *discovery.Documents
	Auth      *auth.Auth
	Decoder   *codec.Decoder
	Nodes     *kubelet.Nodes // the kubelets that streams of pods are passed on to, if any
	Host      Host

	scratch []byte // where messages are printed before they get memory of their own
}

// Host provides the parts of the surrounding cluster that a Server needs. The Cluster's lock is held.
type Host interface {
	// Hook returns what observes requests, or nil if nothing does.
	Hook() Hook
	// Flow returns the current classification of requests. If it is nil, answers do not have its headers.
	Flow() *flowcontrol.Config
	// Watching is called with each watch before its first event.
	Watching(*Exchange, *watchcache.Watch)
	// Peer returns another server that serves a resource which this one does not serve, or nil.
	Peer(group, version, resource string) *Server
	// Aggregated returns what passes requests for a path on to the aggregated API server that it belongs to, or nil if it belongs to
	// none.
	Aggregated(path string) Forward
	// Unlocked calls f without the Cluster's lock, in the middle of a request.
	Unlocked(f func())
}

// StandaloneHost is a Host of a server that has no cluster around it.
type StandaloneHost struct{}

func (StandaloneHost) Hook() Hook                            { return nil }
func (StandaloneHost) Flow() *flowcontrol.Config             { return nil }
func (StandaloneHost) Watching(*Exchange, *watchcache.Watch) {}
func (StandaloneHost) Peer(string, string, string) *Server   { return nil }
func (StandaloneHost) Aggregated(string) Forward             { return nil }
func (StandaloneHost) Unlocked(f func())                     { f() }

// Request is one HTTP request whose body has been read.
type Request struct {
	Method string
	Path   string // decoded
	Target string // path and query as sent; the default is Path
	Query  url.Values
	Header wire.Header

	Client *auth.Client // the client as known beside the header, if at all
	From   string       // the client's address, HOST:PORT, if it has one

	// Spared exempts the request, and the events of its watch, from faults.
	Spared bool
	// Context ends when the client goes away. It may be nil.
	Context context.Context
	// Limit is the time that another server may take to begin its answer. 0 means no limit.
	Limit time.Duration

	Body         []byte // at most one byte more than a server accepts
	BodyError    error  // what went wrong while the body was read
	BodyExpected bool   // the request came with a body, or with a length of one

	Rest io.Reader // the rest of a Body that is longer than a server accepts; otherwise nil
}

// ReadBody reads the body of a request; length is the Content-Length, -1 when it is not known.
func (q *Request) ReadBody(body io.Reader, length int64) {
	q.BodyExpected = length != 0
	if length > 0 && length <= bodyMax {
		q.Body = make([]byte, 0, length+1)
	}
	for limit := bodyMax + 1; ; {
		if len(q.Body) == cap(q.Body) {
			q.Body = append(q.Body, 0)[:len(q.Body)]
		}
		n, err := body.Read(q.Body[len(q.Body):min(cap(q.Body), limit)])
		q.Body = q.Body[:len(q.Body)+n]
		if err != nil || len(q.Body) == limit {
			if err == nil {
				q.Rest = body
			}
			if err != io.EOF {
				q.BodyError = err
			}
			return
		}
	}
}

// unmarked escapes HTML in text that is sent back.
var unmarked = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Do answers q. It calls done exactly once: at once, or later under the Cluster's lock when the answer has to wait for
// a commit or a timer. The caller holds the lock.
func (s *Server) Do(q *Request, done func(*Answer)) {
	e, ok := s.exchange(q, done)
	e.head["Audit-Id"] = []string{e.auditID()}
	if !ok {
		target := unmarked.Replace(cmp.Or(q.Target, q.Path))
		delete(e.head, "Cache-Control") // which a later filter sets
		e.text(wire.StatusInternalServerError, fmt.Sprintf("Internal Server Error: \"%s\": "+
			"failed to create RequestInfo: unable to determine kind and namespace from url, %[1]s\n", target))
		return
	}
	refused := e.checkTimeout()
	if refused == nil {
		refused = e.authenticate()
	}
	if hook := s.Host.Hook(); hook != nil {
		e.proceedObserved(hook, refused)
		return
	}
	e.proceed(refused)
}
