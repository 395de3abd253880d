package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/observe"
)

// OnePerOwner returns a check for Never. It finds two objects of a resource that have the same controller as owner and
// are not being deleted. This happens if a controller creates an object twice because it does not know that the object
// already exists. If an owner is supposed to have several objects, pass the labels or annotations that distinguish them:
// OnePerOwner("pods", "ordinal").
//
//	srv.Never("two deployments of a site", fake.OnePerOwner("deployments.apps"))
func OnePerOwner(resource string, distinguishing ...string) func(View) error {
	return func(view View) error {
		if w := view.Write; w != nil && w.Resource != resource && w.Resource != bareOf(view, resource) {
			return nil
		}
		seen := map[string]string{}
		for _, obj := range view.List(resource, "") {
			owner := controllerOf(obj)
			if owner == nil || obj.DeletionTimestamp() != "" {
				continue
			}
			key := owner.String("uid")
			for _, name := range distinguishing {
				key += " " + obj.Labels()[name] + obj.Annotations()[name]
			}
			if other, ok := seen[key]; ok {
				return fmt.Errorf("%s %s has two %s in namespace %s: %s and %s", owner.Kind(), owner.String("name"), resource,
					obj.Namespace(), other, obj.Name())
			}
			seen[key] = obj.Name()
		}
		return nil
	}
}

// bareOf returns the full name of a resource. The given name may omit the group.
func bareOf(view View, resource string) string {
	if d := view.definition(resource); d != nil {
		return named(d)
	}
	return resource
}

// controllerOf returns the owner reference of an object's controller, or nil if it has none.
func controllerOf(obj Object) Object {
	for _, owner := range obj.Objects("metadata", "ownerReferences") {
		if owner.True("controller") {
			return owner
		}
	}
	return nil
}

// LeftBehind returns a check for Eventually. The check passes when all objects of the resource owners are gone, and with
// them all objects that the client has created, except leases, events, and objects that the garbage collector deletes
// because all of their owners are gone. It detects objects that a finalizer has forgotten, such as objects in other
// namespaces or without a namespace, for which owner references do not work.
//
//	srv.Eventually("everything is gone", time.Minute, srv.LeftBehind("operator", "sites.web.example.com"))
func (o *Oracles) LeftBehind(client, owners string) func(View) error {
	w := o.observer.begun()
	return func(view View) error {
		if left := view.List(owners, ""); len(left) > 0 {
			return fmt.Errorf("%s %s is still there", left[0].Kind(), left[0].Name())
		}
		uids := map[string]bool{}
		view.Each(func(_ string, obj Object) bool {
			uids[obj.UID()] = true
			return true
		})
		var left []string
		view.Each(func(resource string, obj Object) bool {
			made := w.creators[view.key(resource, obj)] // the check holds the Cluster's lock
			if strings.HasPrefix(made, client) && made != "" && !isTransient(resource) && !collectable(obj, uids) {
				left = append(left, resource+" "+strings.TrimPrefix(obj.Namespace()+"/"+obj.Name(), "/"))
			}
			return true
		})
		if len(left) > 0 {
			return fmt.Errorf("left behind by %s: %s", client, strings.Join(left, ", "))
		}
		return nil
	}
}

// key returns an object's key in the store.
func (v View) key(resource string, obj Object) string {
	return v.definition(resource).Key(obj.Namespace(), obj.Name())
}

// isTransient reports whether objects of a resource expire or may remain, so that clients need not delete them.
func isTransient(resource string) bool {
	return resource == "leases.coordination.k8s.io" || resource == "events" || resource == "events.events.k8s.io"
}

// collectable reports whether an object has owners, but none of them exists. The garbage collector, if it runs, deletes
// such an object.
func collectable(obj Object, uids map[string]bool) bool {
	owners := obj.Objects("metadata", "ownerReferences")
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(o object.Object) bool { return uids[o.String("uid")] })
}

// WithinRBAC makes a test fail at the first request of a user that RBAC would deny, even if the server allows all
// requests. The failure names the missing rule. To send requests as a user, use Server.As, for example.
func (o *Oracles) WithinRBAC(user string) {
	o.observer.begun().promise(&promise{name: "RBAC would refuse", asked: func(at auth.Attributes, byRoles func(auth.Attributes) bool) error {
		if at.User.Name != user || byRoles(at) {
			return nil
		}
		return fmt.Errorf("%s may not %s; the missing rule: %s", user, asked(at), auth.Needed(at))
	}})
}

// asked returns the access that a user requests as text, such as "get pods/log in namespace default" or "get /healthz".
func asked(at auth.Attributes) string {
	if !at.IsResource {
		return at.Verb + " " + at.Path
	}
	access := at.Verb + " " + strings.TrimSuffix(at.Resource+"."+at.Group, ".")
	if at.Subresource != "" {
		access += "/" + at.Subresource
	}
	if at.Namespace != "" {
		access += " in namespace " + at.Namespace
	}
	return access
}

// NoHotLoop makes a test fail if clients whose User-Agent begins with a prefix send more than max requests in a minute
// of the server's clock. It detects a reconciler that requeues itself endlessly, even if it does not write. For
// comparison, a controller sends some dozens of requests when it starts, and client-go's rate limit, which tests
// disable, allows 300 requests per minute.
func (o *Oracles) NoHotLoop(userAgent string, max int) {
	w := o.observer.begun()
	began, n, verbs := time.Time{}, 0, map[string]int{}
	w.promise(&promise{name: "a hot loop", answer: func(r *observe.Reply) error {
		if !strings.HasPrefix(r.UserAgent, userAgent) {
			return nil
		}
		if now := w.cluster.Clock().Now(); now.Sub(began) >= time.Minute {
			began, n, verbs = now, 0, map[string]int{}
		}
		n++
		verbs[r.Verb+" "+r.Resource+" "+r.Key]++
		if n <= max {
			return nil
		}
		most := ""
		for _, request := range object.SortedKeys(verbs) {
			if verbs[request] > verbs[most] {
				most = request
			}
		}
		return fmt.Errorf("%s sent %d requests since %s; %d of them %s", clientName(r.UserAgent), n, stamp(began), verbs[most], most)
	}})
}
