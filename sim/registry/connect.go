package registry

import (
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/fieldmanager"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Connect handles a request for a subresource whose body is not the object itself, such as scale or binding. verb is the verb of
// the resource.Connection; body is nil for a read. It returns an object of the subresource's kind or, for a successful response
// that is a Status and for errors, the Status.
func (r *Registry) Connect(q *Request, verb string, body object.Object) (object.Object, *status.Status) {
	connect, kind := q.Definition.Connect, q.Definition
	if sub := q.Definition.Sub(q.Subresource); sub != nil {
		connect, kind = sub.Connect, sub.Body
	}
	if connect == nil {
		return nil, notSimulated(q)
	}
	if verb != "create" { // only a create does not begin with reading the existing object
		if s := r.corrupt(q.Definition, r.stored(q.Asker, q.Definition, q.Namespace, q.Name)); s != nil {
			return nil, s
		}
	}
	c := &resource.Connection{Context: r.context(q), Verb: verb, Body: body, Objects: objects{Reader{r, q.Asker}, r, q}}
	c.Manage = func(live, obj object.Object) {
		switch {
		case q.Unversioned && q.Definition.Custom:
			obj.Remove("metadata", "managedFields") // the real server does not find the type of the object, and drops its managedFields
		case kind != nil && verb != "apply":
			r.Fields.Update(kind, live, obj, r.By(q))
		}
	}
	c.ToScale = func(parent []any, replicas map[string]string) []any { return fieldmanager.ToScale(parent, replicas) }
	c.FromScale = func(parent, scale []any, apiVersion string, replicas map[string]string) []any {
		return fieldmanager.FromScale(parent, scale, apiVersion, replicas)
	}
	attrs := &admission.Attributes{Context: c.Context, Operation: admission.Create, Object: body}
	c.Admit = func() *status.Status { return r.Admission.Validate(attrs) }
	c.ShowAs = func(show func(object.Object) object.Object) { q.show = show }
	c.AdmitUpdate = func(live, body object.Object) *status.Status {
		if verb == "update" {
			dedupOwners(q, body, false)
		}
		s := r.mutate(&admission.Attributes{Context: c.Context, Operation: admission.Update, Object: body, Old: live})
		dedupOwners(q, body, true)
		return s
	}
	if verb == "create" {
		if s := placeInNamespace(q.Definition, q.Namespace, body); s != nil {
			return nil, s
		}
		if c.Name == "" {
			c.Name = body.Name()
		}
		if q.Subresource == "" {
			for _, name := range systemFields {
				body.Remove("metadata", name)
			}
		}
		dedupOwners(q, body, false)
		c.Manage(nil, body)
		if s := r.mutate(attrs); s != nil {
			return nil, s
		}
		dedupOwners(q, body, true)
	}
	return connect(c)
}

// notSimulated returns the 501 for a subresource that kubesim deliberately does not serve, such as proxy. sim/COVERAGE.md lists
// them.
func notSimulated(q *Request) *status.Status {
	s := status.Plain("kubesim does not simulate %s/%s yet", q.Definition.Resource, q.Subresource)
	s.Code, s.Reason = 501, "NotImplemented"
	return s
}

// objects implements resource.Objects: it reads and writes stored objects for a Connector, on behalf of the client.
type objects struct {
	Reader
	r *Registry
	q *Request
}

// serverManager is the field manager of the requests that the server sends to itself.
const serverManager = "kube-apiserver"

// Update implements resource.Objects. Admission does not run for another subresource of the request's own resource.
func (o objects) Update(storage, namespace, name, subresource string, change func(object.Object) *status.Status) (object.Object, *status.Status) {
	q, r, kind := o.request(storage, namespace, name), o.r, Internal
	q.Subresource = subresource
	switch {
	case storage != o.q.Definition.Storage:
		q.Manager, kind = serverManager, Patch
	case subresource == o.q.Subresource:
		q.Definition = o.q.Definition
	default:
		r = o.r.WithoutAdmission()
	}
	result, s := r.Update(q, Change{Kind: kind, Make: func(obj object.Object) (object.Object, *status.Status) {
		return obj, change(obj)
	}})
	if s != nil {
		return nil, s
	}
	return Convert(q.Definition, result.Item.Object()), nil
}

// Write implements resource.Objects.
func (o objects) Write(storage, namespace, name string, change func(object.Object) *status.Status) *status.Status {
	q := o.request(storage, namespace, name)
	if s := o.r.unreachable(q.Definition, "update"); s != nil {
		return s
	}
	item := o.r.stored(q.Asker, q.Definition, namespace, name)
	if item == nil {
		return status.NotFound(q.Definition.GroupResource(), name)
	}
	obj := item.Shared().Copy()
	if s := change(obj); s != nil {
		return s
	}
	_, s := o.r.commit(q, item, obj)
	return s
}

// Delete implements resource.Objects.
func (o objects) Delete(storage, namespace, name string, options object.Object) *status.Status {
	del, dryRun, s := o.r.ReadDeleteOptions(options)
	if s != nil {
		return s
	}
	q := o.request(storage, namespace, name)
	q.DryRun = q.DryRun || dryRun
	_, s = o.r.WithoutAdmission().Delete(q, del)
	return s
}

// request returns a copy of the client's request for another object.
func (o objects) request(storage, namespace, name string) *Request {
	q := *o.q
	q.Definition, q.Namespace, q.Name, q.Subresource = o.r.Backend.Definition(storage), namespace, name, ""
	return &q
}
