package registry

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// reservations holds the reservations of one write. It is nil if the kind reserves nothing or the write is a dry run.
//
//	allocate ─ Reserve: commit ─▶ validation, admission ─┬─ error ─▶ revert: deletes the reservations
//	                                                    └─ commit: deletes the released ones ─▶ the object itself
type reservations struct {
	r           *Registry
	by          resource.Author
	made, freed []resource.Reservation
}

// reserving creates the reservations of a write and sets them in its context.
func (r *Registry) reserving(ctx *resource.Context) *reservations {
	if ctx.Definition.Hub.Strategy.Allocate == nil || ctx.DryRun {
		return nil
	}
	t := &reservations{r: r, by: ctx.By}
	ctx.Reservations = t
	return t
}

// Reserve implements resource.Reservations.
func (t *reservations) Reserve(storage string, obj object.Object) *status.Status {
	d := t.r.Backend.Definition(storage)
	if d.Default != nil {
		d.Default(obj)
	}
	of := resource.Reservation{Storage: storage, Namespace: obj.Namespace(), Name: obj.Name()}
	if _, s := t.r.Create(Loopback(t.by, d, of.Namespace, of.Name), obj); s != nil {
		return s
	}
	t.made = append(t.made, of)
	return nil
}

// Release implements resource.Reservations.
func (t *reservations) Release(of resource.Reservation) { t.freed = append(t.freed, of) }

// commit deletes the reservations that the write has released.
func (t *reservations) commit() {
	if t == nil {
		return
	}
	freed := t.freed
	t.made, t.freed = nil, nil
	t.r.release(t.by, freed)
}

// revert deletes the reservations made by a write that fails. It does nothing after commit.
func (t *reservations) revert() {
	if t == nil {
		return
	}
	made := t.made
	t.made, t.freed = nil, nil
	t.r.release(t.by, made)
}

// release deletes reservations. It ignores failures.
func (r *Registry) release(by resource.Author, all []resource.Reservation) {
	for _, of := range all {
		if d := r.Backend.Definition(of.Storage); d != nil {
			_, _ = r.Delete(Loopback(by, d, of.Namespace, of.Name), DeleteOptions{})
		}
	}
}

// Loopback returns a request that the server sends to itself. by is its author; it may be nil.
func Loopback(by resource.Author, d *resource.Definition, namespace, name string) *Request {
	return &Request{By: by, Definition: d, Namespace: namespace, Name: name, Manager: serverManager,
		User: resource.User{Name: "system:apiserver", Groups: []string{"system:masters", "system:authenticated"}}}
}
