package registry

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Change describes how an update creates the new object from the current one.
type Change struct {
	// Make returns the new object for the current one, which is nil if there is none. Both are in the version of the request, with
	// its defaults. Make may change current, except in a Put or an Apply. The new object must not be changed afterwards, because it
	// becomes the shared one (resource.Item.Shared).
	Make func(current object.Object) (object.Object, *status.Status)

	// Edit replaces Make for callers that start from the JSON of the current object. item is the current item, or nil if printed is
	// in another version. If Edit is nil, Make is called.
	Edit func(printed []byte, item *resource.Item) (object.Object, *status.Status)

	Kind ChangeKind
}

// ChangeKind describes how the new object of an update is created.
type ChangeKind int

const (
	// Put means that the client sent the whole object. Its uid is a precondition. A missing object may be created.
	Put ChangeKind = iota
	// Patch means that the client sent a patch. If the object is missing, the response is 404.
	Patch
	// Apply means that the client sent the fields that it manages. A missing object is created. The new object already has its
	// managedFields.
	Apply
	// Internal means that a handler changes the object as a side effect of a request. If the object is missing, the response is 404.
	// The new object already has its managedFields.
	Internal
)

// Update changes one object. If the resource and the kind of change allow it, Update creates a missing object.
func (r *Registry) Update(q *Request, change Change) (*Result, *status.Status) {
	if s := checkName(q.Name); s != nil {
		return nil, s
	}
	q.applies = change.Kind == Apply
	return retryOnConflict(q, change.Kind != Put, func() (*Result, *status.Status) { return r.update(q, change) })
}

// Current returns the item that a PUT will replace, for decoding its body (codec.Decoder.Changed). It returns nil if the object
// does not exist or is not stored in the version of the request.
func (r *Registry) Current(q *Request) *resource.Item {
	d := q.Definition
	if d.Hub != d || d.Layout() == nil || !r.Backend.Reachable() {
		return nil
	}
	it := r.stored(q.Asker, d, q.Namespace, q.Name)
	if it != nil && it.Err() == nil {
		it.Shared()
	}
	return it
}

func (r *Registry) update(q *Request, change Change) (*Result, *status.Status) {
	d := q.Definition
	item := r.stored(q.Asker, d, q.Namespace, q.Name)
	if item == nil {
		if s := r.unreachable(d, "update"); s != nil {
			return nil, s
		}
		return r.updateMissing(q, change)
	}
	if s := r.unreadable(item); s != nil {
		return nil, s
	}
	if s := r.encodable(q, item); s != nil {
		return nil, s
	}
	old := item.Shared()
	live := old
	if d.Hub != d {
		live = Convert(d, old.Copy())
	}
	obj, s := change.make(d, item, live)
	if s != nil {
		return nil, s
	}
	if s := CheckIdentity(q, obj); s != nil {
		return nil, s
	}
	if uid := obj.UID(); uid != "" && uid != old.UID() && change.Kind == Put {
		return nil, status.Conflict(d.GroupResource(), q.Name, status.InvalidObject(r.preconditionKey(q), status.UIDDiffers(uid, old.UID())))
	}
	if change.Kind == Put {
		dedupOwners(q, obj, false)
	}
	if change.Kind == Put || change.Kind == Patch {
		r.manage(q, live, obj)
	}
	if obj, s = decode(d, obj); s != nil {
		return nil, s
	}
	return r.replace(q, item, old, obj)
}

// make returns the new object. live is the current object; make does not change it.
func (c Change) make(d *resource.Definition, item *resource.Item, live object.Object) (object.Object, *status.Status) {
	switch {
	case c.Edit != nil && d.Hub == d:
		return c.Edit(item.Bytes(), item)
	case c.Edit != nil:
		return c.Edit(codec.Append(nil, live, d.Layout()), nil)
	case c.Kind == Put || c.Kind == Apply:
		return c.Make(live)
	}
	return c.Make(Convert(d, item.Shared().Copy()))
}

// CheckIdentity sets the namespace of obj, and rejects it if its name or namespace does not match the request.
func CheckIdentity(q *Request, obj object.Object) *status.Status {
	if s := placeInNamespace(q.Definition, q.Namespace, obj); s != nil {
		return s
	}
	if name := obj.Name(); name == "" {
		return status.BadRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", q.Name)
	} else if name != q.Name {
		return status.BadRequest("the name of the object (%s) does not match the name on the URL (%s)", name, q.Name)
	}
	return nil
}

// preconditionKey returns the storage key for the error message of a failed precondition.
func (r *Registry) preconditionKey(q *Request) string {
	return q.Definition.ServerKey(q.Namespace, q.Name, q.DryRun)
}

// updateMissing handles an update of a missing object: it creates the object or returns 404.
func (r *Registry) updateMissing(q *Request, change Change) (*Result, *status.Status) {
	d := q.Definition
	notFound := status.NotFound(d.GroupResource(), q.Name)
	creates := change.Kind == Put && d.Hub.Strategy.AllowCreateOnUpdate || change.Kind == Apply
	if change.Kind == Put {
		warnOwners(q, change)
	}
	if !creates || q.Subresource != "" && d.Hub.Strategy.ApplyCreates != q.Subresource {
		return nil, notFound
	}
	obj, s := change.Make(nil)
	if s != nil {
		return nil, s
	}
	uid := obj.UID()
	if uid != "" && change.Kind == Apply { // an apply compares the uid before the name (applyPatch in patch.go of k8s.io/apiserver)
		return nil, status.Conflict(d.GroupResource(), q.Name,
			"uid mismatch: the provided object specified uid "+uid+", and no existing object was found")
	}
	if s := CheckIdentity(q, obj); s != nil {
		return nil, s
	}
	if uid != "" {
		return nil, status.Conflict(d.GroupResource(), q.Name, status.InvalidObject(r.preconditionKey(q), status.UIDDiffers(uid, "")))
	}
	if _, ok := ParseRev(obj.ResourceVersion()); !ok {
		return nil, badVersion(obj.ResourceVersion())
	}
	create := *q
	create.creates = true
	return r.create(&create, obj, change.Kind)
}

// warnOwners adds the warning about repeated owner references in a PUT. The real server adds it before it looks up the object.
func warnOwners(q *Request, change Change) {
	if obj, s := change.Make(nil); s == nil {
		if uids := metadata.DedupOwnerReferences(obj); len(uids) > 0 {
			q.warn(metadata.DuplicateOwnersWarning(uids, false))
		}
	}
}

// replace replaces old, whose stored form is item, with obj. Both are in the hub version.
func (r *Registry) replace(q *Request, item *resource.Item, old, obj object.Object) (*Result, *status.Status) {
	d := q.Definition
	ctx := r.context(q)
	attrs := &admission.Attributes{Context: ctx, Operation: admission.Update, Object: obj, Old: old}
	if q.show == nil {
		if s := r.mutate(attrs); s != nil {
			return nil, s
		}
		dedupOwners(q, obj, true)
	}
	if r.hasChanged(d, item) {
		return nil, stale
	}
	if s := placeInNamespace(d, q.Namespace, obj); s != nil { // admission may have changed the namespace
		return nil, s
	}
	if r.Authorizer != nil {
		if s := r.Authorizer.Escalation(q, obj, old, r.Reader()); s != nil {
			return nil, s
		}
	}
	if s := checkVersion(q, item, obj); s != nil {
		return nil, s
	}
	if d.Custom && schema.ParseGVK(obj.APIVersion(), obj.Kind()).Version == "" {
		return nil, status.Internal(errors.New("Object 'apiVersion' is missing in 'object has no apiVersion field'"))
	}
	old = decoratedBefore(q, old)
	attrs.Old = old
	prepareUpdate(ctx, obj, old)
	reserved := r.reserving(ctx)
	defer reserved.revert()
	if s := allocate(ctx, obj, old); s != nil {
		return nil, s
	}
	if errs := validateChanged(ctx, obj, old); len(errs) > 0 {
		return nil, status.Invalid(groupKindOf(d.Hub, obj), obj.Name(), errs)
	}
	if d.Hub.Strategy.Warn != nil {
		d.Hub.Strategy.Warn(ctx, obj, old)
	}
	warnFinalizers(q, obj, old)
	r.Fields.Unchanged(old, obj)
	if q.show != nil {
		attrs.Object, attrs.Old = q.show(obj), q.show(old)
	}
	if s := r.Admission.Validate(attrs); s != nil {
		return nil, s
	}
	if s := r.encryptable(q); s != nil {
		return nil, s
	}
	if r.hasChanged(d, item) {
		return nil, stale
	}
	if s := r.unreachable(d, "update"); s != nil {
		return nil, s
	}
	reserved.commit()
	result, s := r.commit(q, item, obj)
	if s == nil {
		result.Item = inAnswer(q, result.Item)
	}
	return result, s
}

// commit stores obj unless it equals the stored object. If obj is being deleted and has nothing left to wait for, commit removes it
// instead.
func (r *Registry) commit(q *Request, item *resource.Item, obj object.Object) (*Result, *status.Status) {
	d := q.Definition
	if isReleased(d, obj) {
		obj.Set(FormatRev(item.Rev), "metadata", "resourceVersion")
		sent := r.encodeSent(d, obj)
		if !q.DryRun {
			if s := q.ready(obj, item); s != nil {
				return nil, s
			}
			r.remove(q.By, d, item)
		}
		return &Result{Item: sent}, nil
	}
	if !q.DryRun {
		obj.Remove("metadata", "selfLink") // the store drops it
	}
	if d.StorageCodec != nil {
		return r.commitCustom(q, item, obj)
	}
	same, form := r.line(d, obj, item)
	unchanged := bytes.Equal(d.Value(same), item.Raw()) && !r.storedLess(d, obj) && !d.NilBytes(obj) && !r.storedWithOtherKey(d, item)
	if d.DefaultsLate(obj) {
		stored := bytes.Clone(same.Bytes())
		d.Hub.Default(obj)
		same, form = r.line(d, obj, item)
		same.SetStored(stored)
	}
	if q.DryRun || unchanged {
		return &Result{Item: r.encode(d, obj, item.Rev)}, nil
	}
	if s := q.ready(obj, item); s != nil {
		return nil, s
	}
	if tooLarge(d, same, obj, item.Rev, true) != nil {
		it, s := r.putAt(q, obj, d.KeyOf(item))
		return &Result{Item: it}, s
	}
	rev := r.Backend.Store().Rev() + 1
	it := same.At(rev)
	obj.Set(FormatRev(rev), "metadata", "resourceVersion")
	it.SetForm(form)
	it.SharedAfter(item) // if it has to be parsed, this reuses unchanged values of the previous object
	r.store(q, it, d.KeyOf(item))
	return &Result{Item: it}, nil
}

// line encodes obj, the next state of item. It returns an item whose JSON is in a buffer that is valid only until the next object is
// encoded, and the Form of obj.
func (r *Registry) line(d *resource.Definition, obj object.Object, item *resource.Item) (*resource.Item, resource.Form) {
	text, form := r.print(d, obj, item.Rev, item.Parsed())
	return written(d, obj, resource.NewItem(d.Hub, obj, item.Rev, text)), form
}

// storedLess reports whether the stored form of the object still lacks fields that readers see because it was not updated since its
// create (Strategy.ReadsMore).
func (r *Registry) storedLess(d *resource.Definition, obj object.Object) bool {
	if more := d.Hub.Strategy.ReadsMore; more == nil || !more(obj) {
		return false
	}
	kv, err := r.Backend.Store().Get(d.Key(obj.Namespace(), obj.Name()), 0)
	return err == nil && kv != nil && kv.CreateRev == kv.ModRev
}

// isReleased reports whether an object is being deleted and has nothing left to wait for.
func isReleased(d *resource.Definition, obj object.Object) bool {
	if obj.DeletionTimestamp() == "" || len(obj.List("metadata", "finalizers")) > 0 {
		return false
	}
	if grace, ok := obj.DeletionGracePeriodSeconds(); ok && grace != 0 {
		return false
	}
	held := d.Hub.Strategy.Held
	return held == nil || !held(obj)
}

// checkVersion implements the optimistic lock: the resourceVersion of the new object must be that of the stored one. Errors contain
// the name in the request. The name in the object may differ, because admission may have changed it on create.
func checkVersion(q *Request, item *resource.Item, obj object.Object) *status.Status {
	d := q.Definition
	rv := obj.ResourceVersion()
	rev, ok := ParseRev(rv)
	switch {
	case !ok:
		return badVersion(rv)
	case rev == 0 && d.DeniesUnconditionalUpdate():
		return status.Invalid(d.GroupResource(), q.Name, field.ErrorList{
			field.Invalid(field.Root("metadata").Child("resourceVersion"), int64(0), "must be specified for an update")})
	case rev != 0 && rev != item.Rev:
		return status.Conflict(d.GroupResource(), q.Name, status.OptimisticLock)
	}
	obj.Set(FormatRev(item.Rev), "metadata", "resourceVersion")
	return nil
}

func badVersion(rv string) *status.Status {
	_, err := strconv.ParseUint(rv, 10, 64)
	return status.Plain("%v", err)
}
