package apiserver

import (
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

// Forward forwards a request to an aggregated API server and returns its response. It returns nil if the server is not available,
// and TimedOut if the request has reached its Limit. The Cluster's lock is held when it is called and when it returns.
type Forward func(q *Request, user resource.User) *Answer

// pass forwards the request to an aggregated API server and relays its response (kube-aggregator, proxyHandler). Unless the
// connection is upgraded, that server's headers follow the standard ones.
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

// TimedOut is the response of a Forward whose request has reached its Limit.
var TimedOut = &Answer{Code: wire.StatusGatewayTimeout}

// rerouted is the header of requests that were forwarded by another server. They are not forwarded again (KEP-4020).
const rerouted = "X-Kubernetes-Apiserver-Rerouted"

// reroute forwards a request for a resource that this server does not serve to a server that does (KEP-4020, mixed version proxy).
// The user is authorized here and again there. It returns false if no server serves the resource, or the request has already been
// forwarded.
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
