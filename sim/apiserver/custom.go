package apiserver

import (
	"errors"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// custom answers a request for a custom resource. What the path says is looked up in a way of its own, as the real
// server's handler for them does: a path that does not fit is 404 in plain text, a verb that is missing is named.
func (c *call) custom(d *resource.Definition) {
	in := &c.info
	across := in.verb == "list" || in.verb == "watch"
	if d.Namespaced != (in.namespace != "") && !(d.Namespaced && across) {
		c.notFound()
		return
	}
	if d.Unresolved {
		c.fail(status.Internal(errors.New("error resolving resource")))
		return
	}
	r := &route{def: d, namespace: in.namespace, verb: in.verb, watch: in.verb == "watch"}
	if d.Deprecated != "" {
		c.warn(d.Deprecated)
	}
	c.route = r
	if in.subresource != "" {
		if r.sub = d.Sub(in.subresource); r.sub == nil {
			c.fail(status.NotFound(d.Resourced(), in.name))
			return
		}
	}
	if r.sub != nil && !r.sub.Allows(in.verb) || r.sub == nil && !d.Allows(in.verb) {
		c.fail(status.MethodNotSupported(d.Resourced(), in.verb))
		return
	}
	if singleVerbs[in.verb] {
		r.name = in.name
	}
	c.serve()
}
