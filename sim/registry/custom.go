package registry

import (
	"bytes"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// putCustom is putAt for custom resources, which are stored in one version and written through several.
func (r *Registry) putCustom(q *Request, obj object.Object, key string) (*resource.Item, *status.Status) {
	d, store, applies := q.Definition, r.Backend.Store(), q.applies
	before := modRevisionOf(store, key)
	stored, value, s := r.encodeStored(q, obj, store.Rev()+1)
	if s == nil {
		s = tooLarge(d, resource.NewItem(d, stored, 0, value), stored, before, applies || before != 0)
		if s != nil && !applies {
			obj.Remove("metadata", "managedFields")
			if stored, value, s = r.encodeStored(q, obj, store.Rev()+1); s == nil {
				s = tooLarge(d, resource.NewItem(d, stored, 0, value), stored, before, applies || before != 0)
			}
		}
	}
	if s != nil {
		return nil, s
	}
	rev := store.Rev() + 1
	d.StorageCodec.Prepare(q.Asker, stored) // which may wait for a webhook
	if s := q.ended(); s != nil {
		return nil, s
	}
	switch {
	case r.Backend.Store() != store:
		return nil, status.Plain("etcdserver: the store was replaced")
	case modRevisionOf(store, key) != before:
		return nil, stale // another request wrote while a webhook was called
	case store.Rev()+1 != rev || stored.ResourceVersion() != FormatRev(rev):
		rev = store.Rev() + 1
		value = printAt(stored, rev)
	}
	var aux mvcc.Aux // anything else is read as the store has it
	if d.GVK == d.StorageCodec.Stored && d.StorageCodec.Whole(obj) {
		aux = resource.NewItem(d, obj, rev, value).StoredAt(key)
	}
	event := store.Put(key, value, aux)
	r.Backend.Committed(q.By, event)
	it := resource.ItemOf(d, event.KV)
	return it, r.unreadable(it)
}

// modRevisionOf returns the revision of a key's last write, or 0 if the key does not exist.
func modRevisionOf(store *mvcc.Store, key string) uint64 {
	kv, err := store.Get(key, 0)
	if err != nil || kv == nil {
		return 0
	}
	return kv.ModRev
}

// encodeStored returns an object converted to its stored version, which may be obj itself, and its stored bytes at a revision.
func (r *Registry) encodeStored(q *Request, obj object.Object, rev uint64) (stored object.Object, value []byte, s *status.Status) {
	d := q.Definition
	d.StorageCodec.Tidy(obj)
	stored = obj
	if d.GVK != d.StorageCodec.Stored {
		stored = obj.Copy()
		stored.Remove("metadata", "resourceVersion") // which is not stored in the object there: a webhook does not see it
		var err error
		if stored, err = d.StorageCodec.Write(q.Asker, stored); err != nil {
			return nil, nil, status.Plain("%s", err.Error())
		}
	}
	return stored, printAt(stored, rev), nil
}

// encodable returns why an object cannot be written or deleted in the version of the request although it can be read in it: except
// in a dry run, the real server first converts the cached object back to the stored version.
func (r *Registry) encodable(q *Request, item *resource.Item) *status.Status {
	d := q.Definition
	if q.DryRun || d.StorageCodec == nil || d.StorageCodec.Ask == nil || d.GVK == d.StorageCodec.Stored {
		return nil
	}
	_, _, s := r.encodeStored(q, item.Object(), item.Rev)
	return s
}

// printAt returns the stored form of an object at a revision.
func printAt(stored object.Object, rev uint64) []byte {
	stored.Set(FormatRev(rev), "metadata", "resourceVersion")
	return codec.Append(nil, stored, nil)
}

// commitCustom is the end of commit for custom resources: an object whose stored form would not change is not written.
func (r *Registry) commitCustom(q *Request, item *resource.Item, obj object.Object) (*Result, *status.Status) {
	d := q.Definition
	if q.DryRun {
		it, s := r.readBack(q, obj)
		return &Result{Item: it}, s
	}
	_, value, s := r.encodeStored(q, obj, item.Rev)
	if s != nil {
		return nil, s
	}
	if r.hasChanged(d, item) {
		return nil, stale
	}
	if bytes.Equal(value, item.Raw()) {
		return &Result{Item: item}, nil
	}
	if s := q.ready(obj, item); s != nil {
		return nil, s
	}
	it, s := r.putCustom(q, obj, d.KeyOf(item))
	return &Result{Item: it}, s
}

// readBack returns an object of a dry run as readers would see it if it were stored, with its resourceVersion: without fields that
// the storage version does not have, and with that version's defaults.
func (r *Registry) readBack(q *Request, obj object.Object) (*resource.Item, *status.Status) {
	d := q.Definition
	if d.StorageCodec == nil {
		return r.encodeUnstored(d, obj), nil
	}
	d.StorageCodec.Tidy(obj)
	stored, err := d.StorageCodec.Write(q.Asker, obj.Copy())
	if err == nil {
		obj, err = d.StorageCodec.Read(q.Asker, stored)
	}
	if err != nil {
		return nil, status.Plain("%s", err.Error())
	}
	return r.encodeUnstored(d, obj), nil
}

// ConvertAhead converts the cached objects of a namespace, or the one with the name, to the version of d if a webhook has to do that.
// A read that waits for the cache, and a watch, find the results: no commit may come between the first state of a watch and its
// events, so that they cannot wait for a webhook.
func (r *Registry) ConvertAhead(by resource.Asker, d *resource.Definition, namespace, name string) {
	if d.StorageCodec == nil || d.StorageCodec.Ask == nil {
		return
	}
	view := r.Backend.Cache(d.Hub).View()
	if name != "" {
		if kv := view.Get(d.Key(namespace, name)); kv != nil {
			resource.ItemFor(by, d.Hub, kv)
		}
		return
	}
	view.Range(d.Key(namespace, ""), "", func(kv *mvcc.KV) bool {
		resource.ItemFor(by, d.Hub, kv)
		return true
	})
}

// terminating refuses the creation of an object whose definition is being deleted.
func terminating(d *resource.Definition, name string) *status.Status {
	if !d.Terminating {
		return nil
	}
	return status.Forbidden(d.GroupResource(), name, "create not allowed while custom resource definition is terminating")
}

// groupKindOf returns the kind in the error of an invalid object: for a custom resource it is the kind that the object has.
func groupKindOf(hub *resource.Definition, obj object.Object) status.Resource {
	if !hub.Custom {
		return hub.GroupKind()
	}
	return status.Resource{Group: schema.ParseGVK(obj.APIVersion(), obj.Kind()).Group, Resource: obj.Kind()}
}

// otherKind returns the errors of a custom resource of another kind or version than the one of the path. Such an object is not
// compared with the schema, but for its lists, embedded resources and rules.
func otherKind(hub *resource.Definition, obj object.Object) field.ErrorList {
	var errs field.ErrorList
	if kind := obj.Kind(); hub.Custom && kind != hub.Kind {
		errs = append(errs, field.Invalid(field.Root("kind"), kind, "must be "+hub.Kind))
	}
	if version := schema.ParseGVK(obj.APIVersion(), "").GV(); hub.Custom && version != hub.GV() {
		errs = append(errs, field.Invalid(field.Root("apiVersion"), version, "must be "+hub.GV()))
	}
	return errs
}
