package registry

import (
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/pack"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Import returns the form in which an object of another cluster would be stored. obj is in the version of the request, with that
// version's defaults. Import sets a missing uid and creationTimestamp, and nothing else. It validates the object like an update
// that changes nothing. It runs no admission plugins, allocates nothing and stores nothing.
func (r *Registry) Import(q *Request, obj object.Object) (object.Object, *status.Status) {
	d := q.Definition
	if d.Hub.Strategy.Virtual {
		return nil, status.BadRequest("%s are not stored", d.Resource)
	}
	if d.Namespaced && obj.Namespace() == "" {
		return nil, status.BadRequest("it has no metadata.namespace")
	}
	if s := placeInNamespace(d, obj.Namespace(), obj); s != nil {
		return nil, s
	}
	obj, s := decode(d, obj)
	if s != nil {
		return nil, s
	}
	q.Namespace, q.Name = obj.Namespace(), obj.Name()
	ctx := r.context(q)
	if obj.UID() == "" {
		obj.Set(r.newUID(), "metadata", "uid")
	}
	obj.SetDefault(object.Time(ctx.Now), "metadata", "creationTimestamp")
	if isReleased(d, obj) && d.Hub.Strategy.GracePeriod == nil {
		return nil, status.BadRequest("it has a deletionTimestamp and no finalizers: a server removes such an object at once")
	}
	stored := obj.Copy()
	stored.SetDefault("1", "metadata", "resourceVersion")
	if errs := validateChanged(ctx, stored, stored); len(errs) > 0 {
		return nil, status.Invalid(groupKindOf(d.Hub, obj), q.Name, errs)
	}
	if canonicalize := d.Hub.Strategy.Canonicalize; canonicalize != nil {
		canonicalize(obj)
	}
	return obj, nil
}

// Record returns the key and value with which an object is stored at a revision. obj is a result of Import or a stored object.
// Record changes obj.
func (r *Registry) Record(d *resource.Definition, obj object.Object, rev uint64) *mvcc.KV {
	var value []byte
	if d.StorageCodec != nil {
		d.StorageCodec.Tidy(obj)
		value = printAt(obj, rev)
	} else {
		value = d.Value(r.encode(d, obj, rev))
	}
	return &mvcc.KV{Key: d.Key(obj.Namespace(), obj.Name()), Text: pack.New(value), CreateRev: rev, ModRev: rev}
}
