package scenario

import (
	"cmp"

	"github.com/kubesim/kubesim/sim/object"
)

// list reads everything with lists.
func (r *reflector) list(w *World) {
	r.doing, r.initial, r.paged = "lists", map[string]object.Object{}, false
	rv := r.reached()
	if !r.unavailable {
		rv = cmp.Or(rv, "0")
	}
	q := r.query(rv)
	if r.pageSize != "" || rv == "" || rv == "0" {
		q.Set("limit", cmp.Or(r.pageSize, pageLimit))
	}
	r.send(w, q, nil)
}

// page takes in a page of a list.
func (r *reflector) page(w *World, c *call) {
	if c.answer.Code != 200 || c.exchange.Lost > 0 || c.body == nil {
		r.listFailed(w, c)
		return
	}
	for _, obj := range c.body.Objects("items") {
		r.initial[key(obj.Namespace(), obj.Name())] = obj
	}
	if token := c.body.String("metadata", "continue"); token != "" {
		r.paged = true
		q := r.query("")
		q.Set("limit", c.query.Get("limit"))
		q.Set("continue", token)
		r.send(w, q, nil)
		return
	}
	r.fallback = false
	r.replace(w, c.body.ResourceVersion())
	r.resume(w)
}

// listFailed takes in a page that did not come.
func (r *reflector) listFailed(w *World, c *call) {
	switch {
	case gone(c.body) && r.paged: // the rest of the pages is gone: everything at once, at the revision asked for first
		r.paged, r.initial = false, map[string]object.Object{}
		r.send(w, r.query(r.reached()), nil)
	case gone(c.body) && !r.fallback:
		r.unavailable, r.fallback = true, true
		r.list(w)
	default:
		r.fallback, r.initial = false, nil
		r.sleep(w, "its list failed", func() { r.begin(w) })
	}
}
