package apiserver

import (
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

// Forward passes a request on to an aggregated API server and returns its answer. The Cluster's lock is held when it is
// called and when it returns. nil: the server is not available.
type Forward func(q *Request, user resource.User) *Answer

// pass answers a request with what an aggregated API server says (k8s.io/kube-aggregator, proxyHandler). Its headers come
// behind those that every answer has, unless the connection becomes its own.
func (c *call) pass(forward Forward) {
	if c.hook != nil {
		if s := c.hook.Decided(c.exchange); s != nil {
			c.refuse(s)
			return
		}
	}
	q := *c.q
	q.Header = q.Header.Clone()
	q.Header["Audit-Id"] = c.header["Audit-Id"]
	q.Limit = c.limit()
	a := forward(&q, c.user)
	switch a {
	case nil:
		c.text(wire.StatusServiceUnavailable, "service unavailable\n")
		return
	case TimedOut:
		c.timedOut()
		return
	}
	if a.Code != wire.StatusSwitchingProtocols {
		c.addWarnings()
		for name, values := range a.Header { // order does not matter
			c.header[name] = append(c.header[name], values...)
		}
		a.Header = c.header
	}
	c.reply(a)
}

// TimedOut is the answer of a Forward that has waited for the Limit of its request.
var TimedOut = &Answer{Code: wire.StatusGatewayTimeout}
