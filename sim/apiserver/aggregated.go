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
