package registry

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/status"
)

// collectionPage is the page size of a deletecollection's lists.
const collectionPage = 10000

// DeleteCollection deletes the objects that a list with the same options returns, one after the other, and answers with that list
// as it was before. The first failure ends it; objects deleted by then stay deleted.
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
			// A path with an empty namespace lists all of them, and then has no key for what it finds.
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
	asker = nil // if the list waits now, it ends within the commit of another request
}
