package registry

import (
	"bytes"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/pack"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// putCustom is putAt for custom resources, which are written in the version of the request and stored in the storage version. It
// returns stale if another request wrote the object while a conversion webhook was called.
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
	d.StorageCodec.Prepare(q.Asker, stored) // may wait for a webhook
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
	text := pack.New(value)
	var aux mvcc.Aux // without an aux, readers decode the stored value
	if d.GVK == d.StorageCodec.Stored && d.StorageCodec.Whole(obj) {
		item := resource.NewItem(d, obj, rev, value).StoredAt(key)
		text, aux = item.Text(), item
	}
	event := store.Put(key, text, aux)
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

// encodeStored converts an object to its storage version and returns it, which may be obj itself, and its JSON at a revision.
func (r *Registry) encodeStored(q *Request, obj object.Object, rev uint64) (stored object.Object, value []byte, s *status.Status) {
	d := q.Definition
	d.StorageCodec.Tidy(obj)
	stored = obj
	if d.GVK != d.StorageCodec.Stored {
		stored = obj.Copy()
		stored.Remove("metadata", "resourceVersion") // the real server does not store it, so a webhook does not see it
		var err error
		if stored, err = d.StorageCodec.Write(q.Asker, stored); err != nil {
			return nil, nil, status.Plain("%s", err.Error())
		}
	}
	return stored, printAt(stored, rev), nil
}

// encodable returns an error if an object cannot be converted from the version of the request to its storage version. Before it
// writes or deletes an object, the real server converts the cached object back, except in a dry run.
func (r *Registry) encodable(q *Request, item *resource.Item) *status.Status {
	d := q.Definition
	if q.DryRun || d.StorageCodec == nil || d.StorageCodec.Ask == nil || d.GVK == d.StorageCodec.Stored {
		return nil
	}
	_, _, s := r.encodeStored(q, item.Object(), item.Rev)
	return s
}

// printAt sets the resourceVersion of stored to rev and returns its JSON.
func printAt(stored object.Object, rev uint64) []byte {
	stored.Set(FormatRev(rev), "metadata", "resourceVersion")
	return codec.Append(nil, stored, nil)
}

// commitCustom implements commit for custom resources. It writes nothing if the JSON in the storage version does not change.
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
	if bytes.Equal(value, item.Raw()) && !r.storedWithOtherKey(d, item) {
		return &Result{Item: item}, nil
	}
	if s := q.ready(obj, item); s != nil {
		return nil, s
	}
	it, s := r.putCustom(q, obj, d.KeyOf(item))
	return &Result{Item: it}, s
}

// readBack returns the object of a dry run as readers would see it if it were stored: without fields that the storage version does
// not have, and with that version's defaults. The object keeps its resourceVersion.
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

// ConvertAhead converts the cached objects of a namespace to the version of d if a webhook does the conversion. If name is not
// empty, it converts only that object. A read that waits for the cache and a watch then use the results. They cannot wait for a
// webhook themselves, because no commit may happen between the initial state of a watch and its events.
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

// terminating rejects the creation of an object whose definition is being deleted.
func terminating(d *resource.Definition, name string) *status.Status {
	if !d.Terminating {
		return nil
	}
	return status.Forbidden(d.GroupResource(), name, "create not allowed while custom resource definition is terminating")
}

// groupKindOf returns the kind for the error of an invalid object. For a custom resource, it is the kind in the object itself.
func groupKindOf(hub *resource.Definition, obj object.Object) status.Resource {
	if !hub.Custom {
		return hub.GroupKind()
	}
	return status.Resource{Group: schema.ParseGVK(obj.APIVersion(), obj.Kind()).Group, Resource: obj.Kind()}
}

// otherKind returns an error if the kind of a custom resource differs from that of the request's path, and another if its
// apiVersion does. Such an object is not validated against the schema, except for its lists, embedded resources and rules.
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
