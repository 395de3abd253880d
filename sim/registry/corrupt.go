package registry

import (
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// This file implements the responses for objects that cannot be decoded, and their unsafe deletion (KEP-3926, gate
// AllowUnsafeMalformedObjectDeletion). Such an object is a custom resource that cannot be converted to the current storage version of its
// definition, a value that a client of etcd has written, or one that cannot be decrypted.
//
//	get, delete     500, "StorageError: corrupt object"
//	update, patch   500, "object not decodable"
//	list            500 with each such object as a cause; 429 while they prevent the cache from being filled
//	unsafe delete   removes the object, without finalizers, preconditions and admission

// corruptGate is the feature gate. If it is off, the response contains the decoder's own error.
const corruptGate = "AllowUnsafeMalformedObjectDeletion"

// unsafeVerb is the verb that an unsafe deletion requires in addition to delete.
const unsafeVerb = "unsafe-delete-ignore-read-errors"

func (r *Registry) reportsCorrupt() bool { return r.Server.Gates[corruptGate] }

// unreadable returns the error for a write to an object that cannot be decoded, or nil if the object does not exist or can be
// decoded.
func (r *Registry) unreadable(it *resource.Item) *status.Status {
	if it == nil || it.Err() == nil {
		return nil
	}
	if isEncrypted(it) && !r.reportsCorrupt() {
		return status.Internal(it.Err())
	}
	return status.Plain("%s", r.notDecodable(it))
}

// isEncrypted reports whether the value of an item cannot be decrypted.
func isEncrypted(it *resource.Item) bool {
	var transform *resource.TransformError
	return errors.As(it.Err(), &transform)
}

// decrypted returns the item of a stored value, or one with an Err if the value cannot be decrypted.
func (r *Registry) decrypted(d *resource.Definition, kv *mvcc.KV, it *resource.Item) *resource.Item {
	if r.Config == nil || r.Config.Encryption.Values == nil {
		return it
	}
	if err := r.Config.Encryption.Values.Unreadable(d.Hub.Storage, kv.Key, kv.ModRev); err != nil {
		return it.Failed(err)
	}
	return it
}

// encryptable returns an error if the value of a write cannot be encrypted. It may release the Cluster's lock.
func (r *Registry) encryptable(q *Request) *status.Status {
	if r.Config == nil || r.Config.Encryption.Values == nil || q.DryRun || q.Asker == nil {
		return nil
	}
	if err := r.Config.Encryption.Values.Prepare(q.Definition.Hub.Storage, q.Asker.Unlocked); err != nil {
		return status.Internal(err)
	}
	return nil
}

// storedWithOtherKey reports whether an update without changes stores the object again, because it is encrypted with another key.
func (r *Registry) storedWithOtherKey(d *resource.Definition, item *resource.Item) bool {
	return r.Config != nil && r.Config.Encryption.Values != nil && r.Config.Encryption.Values.Stale(d.Hub.Storage, d.KeyOf(item), item.Rev)
}

func (r *Registry) notDecodable(it *resource.Item) string {
	switch {
	case !r.reportsCorrupt():
		return it.Err().Error()
	case isEncrypted(it):
		return "data from the storage is not transformable revision=0: " + it.Err().Error()
	}
	return fmt.Sprintf("object not decodable revision=%d: %s", it.Rev, it.Err())
}

// corrupt returns the error for reading or deleting an object that cannot be decoded, or nil if the object does not exist or can be
// decoded. If the gate is off, it is the same error as that of unreadable.
func (r *Registry) corrupt(d *resource.Definition, it *resource.Item) *status.Status {
	if it == nil || it.Err() == nil || !r.reportsCorrupt() {
		return r.unreadable(it)
	}
	key := d.ServerKey(it.Namespace, it.Name, true) // without /registry, which only the storage layer adds
	return status.Internal(fmt.Errorf("%s", status.CorruptObject(key, r.notDecodable(it))))
}

// corruptList returns the error for a list with objects that cannot be decoded, or nil if there are none.
func (r *Registry) corruptList(d *resource.Definition, broken []*resource.Item) *status.Status {
	switch {
	case len(broken) == 0:
		return nil
	case !r.reportsCorrupt() && isEncrypted(broken[0]):
		return status.Internal(fmt.Errorf("unable to transform key %q: %w", d.ServerKey(broken[0].Namespace, broken[0].Name, false), broken[0].Err()))
	case !r.reportsCorrupt():
		return r.unreadable(broken[0])
	}
	var causes []status.Cause
	for _, it := range broken {
		key := d.ServerKey(it.Namespace, it.Name, false)
		causes = append(causes, status.Cause{Field: key, Message: status.CorruptObject(key, r.notDecodable(it))})
	}
	return status.StorageRead(d.GroupResource(), "list", causes)
}

// deleteCorrupt deletes an object that cannot be decoded. It returns a conflict for any other object.
func (r *Registry) deleteCorrupt(q *Request) (*Result, *status.Status) {
	d := q.Definition
	if r.Authorizer != nil {
		if s := r.Authorizer.May(q, resource.Access{Verb: unsafeVerb, Namespace: q.Namespace, Name: q.Name}, r.Reader()); s != nil {
			return nil, status.Forbidden(d.GroupResource(), q.Name, fmt.Sprintf("not permitted to do %q, reason: ", unsafeVerb))
		}
	}
	item := r.stored(q.Asker, d, q.Namespace, q.Name)
	switch {
	case item == nil:
		if s := r.unreachable(d, "delete"); s != nil {
			return nil, s
		}
		return nil, status.NotFound(d.GroupResource(), q.Name)
	case item.Err() == nil:
		return nil, status.Conflict(d.GroupResource(), q.Name, status.InvalidObject(d.ServerKey(q.Namespace, q.Name, false),
			"unsafe deletion is not allowed because the object is decodable from storage"))
	}
	if r.hasChanged(d, item) { // the object was written while a conversion webhook was called
		return nil, stale
	}
	if !q.DryRun {
		if s := q.ready(object.Object{}, item); s != nil {
			return nil, s
		}
		r.remove(q.By, d, item)
	}
	done := status.Success(status.Resource{Resource: d.Kind}, q.Name, "")
	done.Code = wire.StatusOK
	return &Result{Status: done}, nil
}
