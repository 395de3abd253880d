package apiserver

import (
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

// Forward passes a request on to an aggregated API server and returns its answer. The Cluster's lock is held when it is called and
// when it returns. It returns nil if the server is not available.
type Forward func(q *Request, user resource.User) *Answer

// pass answers a request with the answer of an aggregated API server (k8s.io/kube-aggregator, proxyHandler). The server's headers
// follow those that every answer has, unless the connection is upgraded.
func (e *Exchange) pass(forward Forward) {
	if e.Observation != nil {
		if s := e.Observation.Decided(); s != nil {
			e.refuse(s)
			return
		}
	}
	q := *e.Request
	q.Header = q.Header.Clone()
	q.Header["Audit-Id"] = e.head["Audit-Id"]
	q.Limit = e.limit()
	a := forward(&q, e.User)
	switch a {
	case nil:
		e.text(wire.StatusServiceUnavailable, "service unavailable\n")
		return
	case TimedOut:
		e.timedOut()
		return
	}
	if a.Code != wire.StatusSwitchingProtocols {
		e.addWarnings()
		for name, values := range a.Header { // order does not matter
			e.head[name] = append(e.head[name], values...)
		}
		a.Header = e.head
	}
	e.reply(a)
}

// TimedOut is the answer of a Forward that has waited for the Limit of its request.
var TimedOut = &Answer{Code: wire.StatusGatewayTimeout}

// rerouted marks a request that comes from another server: it is not passed on again (KEP-4020).
const rerouted = "X-Kubernetes-Apiserver-Rerouted"

// reroute passes a request for a resource that this server does not serve on to one that does, as servers of different versions do
// for each other (KEP-4020, mixed version proxy). The user is authorized here and again there. It reports false if no server serves
// the resource, or the request was passed on before.
func (e *Exchange) reroute() bool {
	in := &e.info
	if e.Header.Get(rerouted) != "" || e.s.Table.Find(in.Group, in.Version, in.Resource) != nil {
		return false
	}
	peer := e.s.Host.Peer(in.Group, in.Version, in.Resource)
	if peer == nil {
		return false
	}
	q := *e.Request
	q.Header = q.Header.Clone()
	q.Header.Set(rerouted, "true")
	q.Header["Audit-Id"] = e.head["Audit-Id"]
	peer.Do(&q, e.reply)
	return true
}
