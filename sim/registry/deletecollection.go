package registry

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/status"
)

// collectionPage is the page size with which a deletecollection lists the objects.
const collectionPage = 10000

// DeleteCollection lists the objects that match the options, deletes them one by one, and calls done with the list as it was
// before. It stops at the first error other than 404; objects that are already deleted stay deleted.
func (r *Registry) DeleteCollection(q *Request, o ListOptions, del DeleteOptions, done func(*Page, *status.Status)) {
	if del.Unsafe {
		done(nil, invalidDeleteOptions(field.Invalid(unsafeOption, true, "is not allowed with DELETECOLLECTION, try again after removing the option")))
		return
	}
	warnPropagation(q, del)
	o.paged = true
	if o.ResourceVersion != "" && o.Limit == 0 {
		o.Limit = collectionPage // with a limit a resourceVersion is exact
	}
	asker := q.Asker
	r.List(q, o, func(p *Page, s *status.Status) {
		if s != nil {
			done(nil, s)
			return
		}
		if len(p.Items) > 0 && q.Definition.Namespaced && q.Namespace == "" {
			// A path with an empty namespace lists all namespaces, but then has no key for the objects found.
			done(nil, status.BadRequest("Namespace parameter required."))
			return
		}
		for _, it := range p.Items {
			one := *q
			one.Namespace, one.Name, one.collected = it.Namespace, it.Name, true
			one.Asker = asker
			if _, s := r.Delete(&one, del); s != nil && s.Reason != status.ReasonNotFound {
				done(nil, s)
				return
			}
		}
		done(p, nil)
	})
	asker = nil // a list that is still waiting calls back within the commit of another request, which must not wait for a webhook
}
