package apiserver

import (
	"slices"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// route is the result of looking up a request's path and method: the resource or subresource, and the verb.
type route struct {
	def       *resource.Definition
	sub       *resource.Subresource // nil for the resource itself
	namespace string
	name      string // "" for a collection
	watch     bool   // one of the deprecated /watch/ paths
	verb      string
}

// find returns the route for a path below a served group version. It returns 404 without details if no resource has the path, and
// 405 if the path does not support the method.
func find(table *resource.Table, in *info, method string) (*route, *status.Status) {
	r, rest := &route{}, in.rest
	if len(rest) > 1 && rest[0] == "watch" {
		r.watch, rest = true, rest[1:]
	}
	inNamespace := len(rest) > 2 && rest[0] == "namespaces" && !namespaceSubresources[rest[2]]
	if inNamespace {
		r.namespace, rest = rest[1], rest[2:]
	}
	if len(rest) == 0 {
		return nil, status.NoResource()
	}
	r.def = table.Find(in.Group, in.Version, rest[0])
	if r.def == nil || inNamespace && !r.def.Namespaced || len(rest) > 1 && r.def.Namespaced && !inNamespace {
		return nil, status.NoResource()
	}
	r, s := r.below(rest[1:], inNamespace, method)
	if s == nil && inNamespace && r.verb != "update" { // an update checks its body first
		s = r.checkName()
	}
	return r, s
}

// checkName rejects a path of a namespaced object whose namespace is empty, because the object would have no storage key.
func (r *route) checkName() *status.Status {
	if r.def.Namespaced && r.namespace == "" && singleVerbs[r.verb] {
		return status.BadRequest("Namespace parameter required.")
	}
	return nil
}

// below resolves the part of the path after the resource: nothing, a name, or a name and a subresource.
func (r *route) below(rest []string, inNamespace bool, method string) (*route, *status.Status) {
	if r.watch {
		return r.watching(rest, method)
	}
	switch {
	case len(rest) == 0:
		r.verb = collectionVerbs[method]
		if r.def.Namespaced && !inNamespace && !r.def.Allows("list") {
			return nil, status.NoResource()
		}
		if r.def.Namespaced && !inNamespace && r.verb != "list" {
			return nil, status.NoMethod()
		}
	case len(rest) == 1:
		r.name, r.verb = rest[0], objectVerbs[method]
		if !slices.ContainsFunc(r.def.Verbs, func(verb string) bool { return singleVerbs[verb] }) {
			return nil, status.NoResource() // no path of the resource has a name
		}
	default:
		r.name, r.sub = rest[0], r.def.Sub(rest[1])
		if r.sub == nil || len(rest) > 2 && !proxies(r.sub) {
			return nil, status.NoResource()
		}
		r.verb = subresourceVerbs[method]
		if proxies(r.sub) && (method == wire.MethodHead || method == "OPTIONS") {
			r.verb = "get"
		}
		if !r.sub.Allows(r.verb) {
			return nil, status.NoMethod()
		}
		if r.name == "" {
			return nil, status.BadRequest("name must be provided")
		}
		return r, nil
	}
	if r.verb == "" || !r.def.Allows(r.verb) {
		return nil, status.NoMethod()
	}
	return r, nil
}

func (r *route) watching(rest []string, method string) (*route, *status.Status) {
	if len(rest) > 1 || !r.def.Allows("watch") {
		return nil, status.NoResource()
	}
	if len(rest) == 1 {
		r.name = rest[0]
	}
	if r.verb = "watch"; method != wire.MethodGet {
		return nil, status.NoMethod()
	}
	return r, nil
}

// proxies reports whether a subresource proxies requests, with any method and to any path below it.
func proxies(sub *resource.Subresource) bool { return sub.Stream != nil && sub.Allows("delete") }

// singleVerbs are the verbs of paths with a name.
var singleVerbs = map[string]bool{"get": true, "update": true, "patch": true, "delete": true}

var (
	collectionVerbs = map[string]string{wire.MethodGet: "list", wire.MethodPost: "create", wire.MethodDelete: "deletecollection"}
	objectVerbs     = map[string]string{wire.MethodGet: "get", wire.MethodPut: "update", wire.MethodPatch: "patch", wire.MethodDelete: "delete"}

	// Streams accept all methods; their Verbs restrict them.
	subresourceVerbs = map[string]string{wire.MethodGet: "get", wire.MethodPut: "update", wire.MethodPatch: "patch",
		wire.MethodPost: "create", wire.MethodDelete: "delete"}
)
