package apiserver

import (
	"errors"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// custom handles a request for a custom resource. Like the real server's handler, it has its own routing: the response for a path
// that does not match is 404 in plain text, and the error for an unsupported verb contains the verb.
func (e *Exchange) custom(d *resource.Definition) {
	in := &e.info
	across := in.Verb == "list" || in.Verb == "watch"
	if d.Namespaced != (in.within != "") && !(d.Namespaced && across) {
		e.notFound()
		return
	}
	if d.Unresolved {
		e.fail(status.Internal(errors.New("error resolving resource")))
		return
	}
	r := &route{def: d, namespace: in.within, verb: in.Verb, watch: in.Verb == "watch"}
	if d.Deprecated != "" {
		e.deprecate(d.Deprecated)
	}
	e.route = r
	if in.Subresource != "" {
		if r.sub = d.Sub(in.Subresource); r.sub == nil {
			e.fail(status.NotFound(d.GroupResource(), in.Name))
			return
		}
	}
	if r.sub != nil && !r.sub.Allows(in.Verb) || r.sub == nil && !d.Allows(in.Verb) {
		e.fail(status.MethodNotSupported(d.GroupResource(), in.Verb))
		return
	}
	if singleVerbs[in.Verb] {
		r.name = in.Name
	}
	e.serve()
}
