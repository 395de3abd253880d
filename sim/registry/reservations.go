package registry

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// reservations are the reservations of one write. It is nil if the kind reserves nothing, or the write is a dry run.
//
//	allocate ─ Reserve: commit ─▶ validation, admission ─┬─ refused ─▶ revert: deletes the reservations
//	                                                    └─ commit: deletes the released ones ─▶ the object itself
type reservations struct {
	r           *Registry
	by          resource.Author
	made, freed []resource.Reservation
}

// reserving gives the strategy of a write what it reserves through.
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

// commit deletes what the write has released.
func (t *reservations) commit() {
	if t == nil {
		return
	}
	freed := t.freed
	t.made, t.freed = nil, nil
	t.r.release(t.by, freed)
}

// revert deletes the reservations of a write that fails. After a commit it does nothing.
func (t *reservations) revert() {
	if t == nil {
		return
	}
	made := t.made
	t.made, t.freed = nil, nil
	t.r.release(t.by, made)
}

// release deletes reservations. It ignores failures: a reservation that cannot be deleted stays.
func (r *Registry) release(by resource.Author, all []resource.Reservation) {
	for _, of := range all {
		if d := r.Backend.Definition(of.Storage); d != nil {
			_, _ = r.Delete(Loopback(by, d, of.Namespace, of.Name), DeleteOptions{})
		}
	}
}

// Loopback is a request that the server sends to itself, on behalf of an author if by is not nil.
func Loopback(by resource.Author, d *resource.Definition, namespace, name string) *Request {
	return &Request{By: by, Definition: d, Namespace: namespace, Name: name, Manager: serverManager,
		User: resource.User{Name: "system:apiserver", Groups: []string{"system:masters", "system:authenticated"}}}
}
