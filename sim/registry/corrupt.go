package registry

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// This file implements the responses for objects that cannot be decoded, and their unsafe deletion (KEP-3926, gate
// AllowUnsafeMalformedObjectDeletion). In kubesim, such an object is always a custom resource that cannot be converted to the
// current storage version of its definition.
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
	return status.Plain("%s", r.notDecodable(it))
}

func (r *Registry) notDecodable(it *resource.Item) string {
	if !r.reportsCorrupt() {
		return it.Err().Error()
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
