// Package apiserver handles HTTP requests like kube-apiserver.
//
//	Request, its body read ─▶ Do ─▶ authenticate ─▶ authorize ─▶ discovery, or route ─▶ a file per verb ─▶ done(Answer)
//	                          └─ under the Cluster's lock; never blocks ──────────────────────────────────┘
//
// done is called at once, or later if a read waits for a cache. An Answer is complete, and the events of a watch are in its queue,
// before anything is sent: no lock is held while a client reads, and a client that does not read cannot block others. Package fake
// converts requests and responses from and to net/http and waits. The engine of the page needs neither.
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

// bodyMax is the maximum size of a request body.
const bodyMax = 3 << 20

// Server is one API server.
type Server struct {
	Lock      sync.Locker // the Cluster's lock, which guards everything below
	Registry  *registry.Registry
	Table     *resource.Table
	Schema    *schema.Set
	Discovery *discovery.Documents
	Auth      *auth.Auth
	Decoder   *codec.Decoder
	Nodes     *kubelet.Nodes // the kubelets to which streams of pods are forwarded, or nil
	Host      Host

	scratch []byte // buffer for encoding messages
}

// Host provides the parts of the surrounding cluster that a Server needs. Its methods are called with the Cluster's lock held.
type Host interface {
	// Hook returns the Hook that observes requests, or nil.
	Hook() Hook
	// Auditor returns the Auditor of all requests, or nil if requests are not audited.
	Auditor() Auditor
	// Flow returns the current configuration that classifies requests. If it is nil, responses do not have the headers of the
	// classification.
	Flow() *flowcontrol.Config
	// Watching is called with each watch before the watch sends its first event.
	Watching(*Exchange, *watchcache.Watch)
	// Peer returns another server that serves a resource which this one does not serve, or nil.
	Peer(group, version, resource string) *Server
	// Aggregated returns the Forward for the aggregated API server to which a path belongs, or nil if the path does not belong to
	// one.
	Aggregated(path string) Forward
	// Unlocked calls f without the Cluster's lock during a request.
	Unlocked(f func())
}

// StandaloneHost is a Host for a server without a surrounding cluster.
type StandaloneHost struct{}

func (StandaloneHost) Hook() Hook                            { return nil }
func (StandaloneHost) Auditor() Auditor                      { return nil }
func (StandaloneHost) Flow() *flowcontrol.Config             { return nil }
func (StandaloneHost) Watching(*Exchange, *watchcache.Watch) {}
func (StandaloneHost) Peer(string, string, string) *Server   { return nil }
func (StandaloneHost) Aggregated(string) Forward             { return nil }
func (StandaloneHost) Unlocked(f func())                     { f() }

// Request is one HTTP request whose body has been read.
type Request struct {
	Method string
	Path   string // the decoded path
	Target string // path and query as sent; if empty, Path is used
	Query  url.Values
	Header wire.Header

	Client *auth.Client // the identity of the client's connection, such as its certificate, or nil
	From   string       // the client's address, HOST:PORT, or ""

	// Spared exempts the request, and the events of its watch, from faults.
	Spared bool
	// Context is done when the client disconnects. It may be nil.
	Context context.Context
	// Limit is the time within which another server must begin its response. If it is 0, there is no limit.
	Limit time.Duration

	Body      []byte // at most one byte longer than a server accepts
	BodyError error  // the error of reading the body

	Rest io.Reader // the rest of a Body that is longer than a server accepts; otherwise nil
}

// ReadBody reads the body of a request and sets Body, BodyError and Rest. length is the Content-Length, or -1 if it
// is not known.
func (q *Request) ReadBody(body io.Reader, length int64) {
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

// unmarked escapes HTML in text of the request that is sent back.
var unmarked = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Do handles q. It calls done exactly once: at once, or later under the Cluster's lock if the response has to wait for a commit or
// a timer. The caller holds the lock.
func (s *Server) Do(q *Request, done func(*Answer)) {
	e, ok := s.exchange(q, done)
	e.head["Audit-Id"] = []string{e.auditID()}
	if !ok {
		target := unmarked.Replace(cmp.Or(q.Target, q.Path))
		delete(e.head, "Cache-Control") // a later filter sets it
		e.text(wire.StatusInternalServerError, fmt.Sprintf("Internal Server Error: \"%s\": "+
			"failed to create RequestInfo: unable to determine kind and namespace from url, %[1]s\n", target))
		return
	}
	refused := e.checkTimeout()
	if refused != nil {
		e.beginAudit(true)
	} else {
		refused = e.authenticate()
	}
	if hook := s.Host.Hook(); hook != nil {
		e.proceedObserved(hook, refused)
		return
	}
	e.proceed(refused)
}
