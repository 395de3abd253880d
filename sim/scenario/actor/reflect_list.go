package actor

import (
	"cmp"

	"github.com/kubesim/kubesim/sim/object"
)

// list reads all objects with list requests.
func (r *reflector) list() {
	r.doing, r.initial, r.paged = "lists", map[string]object.Object{}, false
	rv := r.reached()
	if !r.unavailable {
		rv = cmp.Or(rv, "0")
	}
	q := r.query(rv)
	if r.PageSize != "" || rv == "" || rv == "0" {
		q.Set("limit", cmp.Or(r.PageSize, pageLimit))
	}
	r.send(q)
}

// page handles the response to a list request, which is one page of the list.
func (r *reflector) page(a *Answer) {
	if a.Code != 200 || a.Broken || a.Body == nil {
		r.listFailed(a)
		return
	}
	for _, obj := range a.Body.Objects("items") {
		r.initial[keyOf(obj)] = obj
	}
	if token := a.Body.String("metadata", "continue"); token != "" {
		r.paged = true
		q := r.query("")
		q.Set("limit", a.Query.Get("limit"))
		q.Set("continue", token)
		r.send(q)
		return
	}
	r.fallback = false
	r.replace(a.Body.ResourceVersion())
	r.resume()
}

// listFailed handles the failure of a list.
func (r *reflector) listFailed(a *Answer) {
	switch {
	case gone(a.Body) && r.paged: // the remaining pages have expired: list without a limit, at the original revision
		r.paged, r.initial = false, map[string]object.Object{}
		r.send(r.query(r.reached()))
	case gone(a.Body) && !r.fallback:
		r.unavailable, r.fallback = true, true
		r.list()
	default:
		r.fallback, r.initial = false, nil
		r.sleep("its list failed", func() { r.begin() })
	}
}
