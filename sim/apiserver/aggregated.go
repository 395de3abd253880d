package apiserver

import (
	"github.com/kubesim/kubesim/sim/http"
	"github.com/kubesim/kubesim/sim/resource"
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
	a := forward(&q, c.user)
	if a == nil {
		c.text(http.StatusServiceUnavailable, "service unavailable\n")
		return
	}
	if a.Code != http.StatusSwitchingProtocols {
		c.addWarnings()
		for name, values := range a.Header { // order does not matter
			c.header[name] = append(c.header[name], values...)
		}
		a.Header = c.header
	}
	c.done(a)
}

// drop ends what comes after the header of an answer that nobody reads.
func (a *Answer) drop() {
	if a.Watch != nil {
		a.Watch.End()
	}
	if a.Stream != nil {
		_ = a.Stream.Close() // of one that is gone
	}
}
