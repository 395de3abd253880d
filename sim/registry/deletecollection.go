package registry

import (
	"github.com/kubesim/kubesim/sim/status"
)

// DeleteCollection deletes the objects a list of the same options returns, one after the other, and answers with that
// list as it was before. The first failure ends it; what was deleted stays deleted.
func (r *Registry) DeleteCollection(q *Request, o ListOptions, del DeleteOptions, done func(*Page, *status.Status)) {
	r.List(q, o, func(p *Page, s *status.Status) {
		if s != nil {
			done(nil, s)
			return
		}
		for _, it := range p.Items {
			one := *q
			one.Namespace, one.Name = it.Namespace, it.Name
			if _, s := r.Delete(&one, del); s != nil && s.Reason != status.ReasonNotFound {
				done(nil, s)
				return
			}
		}
		done(p, nil)
	})
}
