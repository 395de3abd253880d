package registry

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// The garbage collector's finalizers (Kubernetes documentation, "Garbage Collection").
const (
	FinalizerOrphan     = "orphan"
	FinalizerForeground = "foregroundDeletion"
)

// DeleteOptions is meta/v1 DeleteOptions without dryRun.
type DeleteOptions struct {
	// Unsafe is ignoreStoreReadErrorWithClusterBreakingPotential. It is false if the server's gate for it is off.
	Unsafe             bool
	GracePeriodSeconds *int64
	OrphanDependents   *bool
	PropagationPolicy  string // "", Orphan, Background or Foreground
	UID                *string
	ResourceVersion    *string
}

// Delete deletes one object, or marks it as deleted if it has finalizers or a grace period.
func (r *Registry) Delete(q *Request, o DeleteOptions) (*Result, *status.Status) {
	if s := checkName(q.Name); s != nil {
		return nil, s
	}
	if s := checkDeletable(q); s != nil {
		return nil, s
	}
	if o.Unsafe {
		return retryOnConflict(q, true, func() (*Result, *status.Status) { return r.deleteCorrupt(q) })
	}
	warnPropagation(q, o)
	return retryOnConflict(q, true, func() (*Result, *status.Status) { return r.delete(q, o) })
}

// checkDeletable rejects the deletion of objects that the strategy protects.
func checkDeletable(q *Request) *status.Status {
	refuses := q.Definition.Hub.Strategy.Undeletable
	if refuses == nil || q.collected {
		return nil
	}
	if why := refuses(q.Name); why != "" {
		return status.Forbidden(q.Definition.GroupResource(), q.Name, why)
	}
	return nil
}

// warnPropagation warns a client that does not specify what happens to dependents.
func warnPropagation(q *Request, o DeleteOptions) {
	if text := q.Definition.Hub.Strategy.PropagationWarning; text != "" && o.PropagationPolicy == "" && o.OrphanDependents == nil {
		q.warn(text)
	}
}

func (r *Registry) delete(q *Request, o DeleteOptions) (*Result, *status.Status) {
	d := q.Definition
	item := r.stored(q.Asker, d, q.Namespace, q.Name)
	if item == nil {
		if s := r.unreachable(d, "delete"); s != nil {
			return nil, s
		}
		return nil, status.NotFound(d.GroupResource(), q.Name)
	}
	if s := r.corrupt(d, item); s != nil {
		return nil, s
	}
	obj := item.Object()
	if s := checkPreconditions(d, q.Name, obj, o); s != nil {
		return nil, s
	}
	if held := d.Hub.Strategy.Held; held != nil && held(obj) && obj.DeletionTimestamp() != "" {
		return &Result{Item: item, Pending: true}, nil // a namespace that is not empty yet; admission does not run again
	}
	if checksItself(d) && o.UID == nil {
		uid := obj.UID()
		o.UID = &uid
	}
	if d.Hub.Strategy.FirstDelete != nil && obj.DeletionTimestamp() == "" {
		if s := r.admitDelete(q, item, obj, &o); s != nil {
			return nil, s
		}
		return r.firstDelete(q, item, obj, resource.Propagation{Policy: o.PropagationPolicy, Orphan: o.OrphanDependents})
	}
	return r.beginDelete(q, item, obj, &o)
}

// admitDelete runs admission for the deletion of an object. old is its state; item identifies the stored revision.
func (r *Registry) admitDelete(q *Request, item *resource.Item, old object.Object, o *DeleteOptions) *status.Status {
	if s := r.encodable(q, item); s != nil {
		return s
	}
	attrs := &admission.Attributes{Context: r.context(q), Operation: admission.Delete, Old: old}
	attrs.Options = o.sent(q)
	if q.collected {
		attrs.Name = "" // a deletecollection has no name
	}
	if s := r.Admission.Mutate(attrs); s != nil {
		return s
	}
	if s := r.Admission.Validate(attrs); s != nil {
		return s
	}
	if r.hasChanged(q.Definition, item) {
		return stale
	}
	return r.unreachable(q.Definition, "delete")
}

// checksItself reports whether a resource's own storage checks preconditions before the generic code does. Such a storage
// (namespaces, custom resource definitions) also adds the uid of the stored object to the preconditions.
func checksItself(d *resource.Definition) bool {
	return d.Hub.Strategy.Held != nil || d.Hub.Strategy.FirstDelete != nil
}

// firstDelete marks an object as deleted and stores it. A later write removes the object once it has no finalizers.
func (r *Registry) firstDelete(q *Request, item *resource.Item, obj object.Object, p resource.Propagation) (*Result, *status.Status) {
	before := obj.Copy()
	ctx := r.context(q)
	obj.Set(object.Time(ctx.Now), "metadata", "deletionTimestamp")
	q.Definition.Hub.Strategy.FirstDelete(ctx, obj, p)
	return r.storePending(q, item, obj, before)
}

// checkPreconditions compares the uid and resourceVersion that a client expects with the stored ones.
func checkPreconditions(d *resource.Definition, name string, obj object.Object, o DeleteOptions) *status.Status {
	of := d.Hub.GroupKind()
	if checksItself(d) {
		of = d.GroupResource()
		if o.UID != nil && *o.UID != obj.UID() {
			return status.Conflict(of, name, status.UIDDiffers(*o.UID, obj.UID()))
		}
		if o.ResourceVersion != nil && *o.ResourceVersion != obj.ResourceVersion() {
			return status.Conflict(of, name, status.VersionDiffers(*o.ResourceVersion, obj.ResourceVersion()))
		}
	}
	if o.UID != nil && *o.UID != obj.UID() {
		return status.Conflict(of, name, fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *o.UID, obj.UID()))
	}
	if o.ResourceVersion != nil && *o.ResourceVersion != obj.ResourceVersion() {
		return status.Conflict(of, name, fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", *o.ResourceVersion, obj.ResourceVersion()))
	}
	return nil
}

// beginDelete removes the object, or marks it as deleted if it must wait. A deletion that a running grace period already covers
// changes nothing. Any other deletion sets the finalizers of its propagation policy.
//
// A deletion has up to two steps: an update that marks the object, and the removal. Admission runs before each of them, but not if
// a pending deletion changes nothing.
func (r *Registry) beginDelete(q *Request, item *resource.Item, obj object.Object, o *DeleteOptions) (*Result, *status.Status) {
	before := obj.Copy()
	if n := o.GracePeriodSeconds; n != nil && *n < 0 {
		*n = 1
	}
	graceful, pending := r.beginGraceful(q.Definition.Hub.Strategy, obj, o)
	if pending {
		return &Result{Item: item, Pending: true}, nil
	}
	obj.SetFinalizers(r.deletionFinalizers(q, obj, *o))
	waits := len(obj.List("metadata", "finalizers")) > 0
	if s := r.admitDelete(q, item, before, o); s != nil {
		return nil, s
	}
	if waits && !graceful {
		r.markDeleting(obj)
	}
	if grace, _ := obj.DeletionGracePeriodSeconds(); waits || graceful && grace > 0 {
		return r.storePending(q, item, obj, before)
	}
	if emptied := !graceful && len(before.List("metadata", "finalizers")) > 0; emptied && q.DryRun {
		return &Result{Item: r.encodeUnstored(q.Definition, empty(q.Definition.Hub))}, nil
	} else if emptied {
		if s := r.checkEmptied(q, before, o); s != nil {
			return nil, s
		}
		if s := r.admitDelete(q, item, before, o); s != nil {
			return nil, s
		}
	}
	return r.finishDelete(q, item, obj, before, graceful, o)
}

// checkEmptied returns a conflict if the deletion has a resourceVersion precondition. It is called for a deletion that itself
// removes the last finalizers: the real server then compares the precondition with the modified object, which has no
// resourceVersion.
func (r *Registry) checkEmptied(q *Request, before object.Object, o *DeleteOptions) *status.Status {
	d := q.Definition
	if o.ResourceVersion == nil {
		return nil
	}
	return status.Conflict(d.GroupResource(), q.Name, status.InvalidObject(r.preconditionKey(q), status.VersionDiffers("", before.ResourceVersion())))
}

// deletionFinalizers returns the finalizers of obj, with those of the garbage collector set according to the propagation policy.
func (r *Registry) deletionFinalizers(q *Request, obj object.Object, o DeleteOptions) []string {
	names := obj.Finalizers()
	orphan, foreground := propagation(q.Definition, names, o)
	kept := names[:0:0]
	for _, name := range names {
		if name != FinalizerOrphan && name != FinalizerForeground {
			kept = append(kept, name)
		}
	}
	if orphan {
		kept = append(kept, FinalizerOrphan)
	}
	if foreground {
		kept = append(kept, FinalizerForeground)
	}
	if slices.Equal(distinct(names), distinct(kept)) {
		return names // in their original order
	}
	return kept
}

// distinct returns the names in sorted order, without duplicates.
func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

func propagation(d *resource.Definition, finalizers []string, o DeleteOptions) (orphan, foreground bool) {
	switch {
	case d.Hub.Strategy.NoGarbageCollection:
		return false, false
	case o.OrphanDependents != nil:
		return *o.OrphanDependents, false
	case o.PropagationPolicy != "":
		return o.PropagationPolicy == "Orphan", o.PropagationPolicy == "Foreground"
	}
	for _, name := range finalizers {
		switch name {
		case FinalizerOrphan:
			return true, false
		case FinalizerForeground:
			return false, true
		}
	}
	return d.Hub.Strategy.OrphansByDefault, false
}

// beginGraceful starts the grace period of an object whose kind has one, or shortens it. It returns pending if a grace period is
// already running and the options do not request a shorter one.
func (r *Registry) beginGraceful(strategy *resource.Strategy, obj object.Object, o *DeleteOptions) (graceful, pending bool) {
	if strategy.GracePeriod == nil {
		return false, false
	}
	ts := obj.DeletionTimestamp()
	if ts == "" {
		period := strategy.GracePeriod(obj, o.GracePeriodSeconds)
		o.GracePeriodSeconds = &period
		r.setDeletion(obj, period)
		return true, false
	}
	running, ok := obj.DeletionGracePeriodSeconds()
	switch {
	case !ok || running == 0:
		return false, false
	case o.GracePeriodSeconds == nil || *o.GracePeriodSeconds >= running:
		return false, true
	}
	r.shorten(obj, ts, running, *o.GracePeriodSeconds)
	return true, false
}

// shorten moves the end of a running grace period to the time at which the shorter period would have ended, but not into the past.
func (r *Registry) shorten(obj object.Object, ts string, running, period int64) {
	now := r.Backend.Now()
	end, err := time.Parse(time.RFC3339, ts)
	if err != nil {
		end = now
	}
	end = end.Add(time.Duration(period-running) * time.Second)
	if end.Before(now) {
		end = now
		if period != 0 {
			period = 1
		}
	}
	obj.Set(object.Time(end), "metadata", "deletionTimestamp")
	obj.Set(period, "metadata", "deletionGracePeriodSeconds")
}

// setDeletion starts a grace period of that many seconds.
func (r *Registry) setDeletion(obj object.Object, period int64) {
	end := r.Backend.Now().Add(time.Duration(period) * time.Second)
	obj.Set(object.Time(end), "metadata", "deletionTimestamp")
	obj.Set(period, "metadata", "deletionGracePeriodSeconds")
	bumpGeneration(obj)
}

// markDeleting starts a deletion that waits for finalizers.
func (r *Registry) markDeleting(obj object.Object) {
	now := object.Time(r.Backend.Now())
	if ts := obj.DeletionTimestamp(); ts == "" {
		bumpGeneration(obj)
		obj.Set(now, "metadata", "deletionTimestamp")
	} else if ts > now {
		obj.Set(now, "metadata", "deletionTimestamp")
	}
	obj.Set(int64(0), "metadata", "deletionGracePeriodSeconds")
}

func bumpGeneration(obj object.Object) {
	if n := obj.Generation(); n > 0 {
		obj.Set(n+1, "metadata", "generation")
	}
}

// storePending stores an object whose deletion is pending and returns it as a Result with Pending. It writes nothing in a dry run,
// or if the deletion changed neither the object nor the version in which it is stored.
func (r *Registry) storePending(q *Request, item *resource.Item, obj, before object.Object) (*Result, *status.Status) {
	if object.Equal(map[string]any(obj), map[string]any(before)) {
		if q.Definition.StorageCodec != nil { // it is written if it was stored in another version
			result, s := r.commitCustom(q, item, obj)
			if s == nil {
				result.Pending = true
			}
			return result, s
		}
		return &Result{Item: item, Pending: true}, nil
	}
	if q.DryRun {
		return &Result{Item: r.encode(q.Definition, obj, item.Rev), Pending: true}, nil
	}
	if s := q.ready(obj, item); s != nil {
		return nil, s
	}
	it, s := r.putAt(q, obj, q.Definition.KeyOf(item))
	return &Result{Item: it, Pending: true}, s
}

// finishDelete removes the object. If its kind has grace periods, it is first written with a grace period of zero, as in the real
// server: watches receive MODIFIED, then DELETED. Admission runs again for the removal.
func (r *Registry) finishDelete(q *Request, item *resource.Item, obj, before object.Object, graceful bool, o *DeleteOptions) (*Result, *status.Status) {
	d := q.Definition
	if !q.DryRun {
		if s := q.ready(obj, item); s != nil {
			return nil, s
		}
	}
	if graceful {
		if q.DryRun {
			item = r.encode(d, obj, item.Rev)
		} else if !object.Equal(map[string]any(obj), map[string]any(before)) {
			var s *status.Status
			if item, s = r.putAt(q, obj, d.KeyOf(item)); s != nil {
				return nil, s
			}
			r.Backend.Pause()
			if left := r.stored(q.Asker, d, q.Namespace, q.Name); left != nil { // another write may have changed it meanwhile, or removed it
				item = left
				if s := r.admitDelete(q, item, item.Object(), o); s != nil {
					return nil, s
				}
			}
		}
	}
	if !q.DryRun {
		item = r.remove(q.By, d, item)
	}
	if d.ReturnsDeleted() {
		return &Result{Item: decorate(d, item)}, nil
	}
	return &Result{Status: status.Success(d.GroupResource(), item.Name, obj.UID())}, nil
}

// empty returns the response to a dry run that removes the last finalizers and would therefore delete the object. The real server
// stops before it writes, and returns the empty object into which it would have decoded the result.
func empty(d *resource.Definition) object.Object {
	obj := object.Object{"apiVersion": d.GV(), "kind": d.Kind, "metadata": map[string]any{}}
	if d.Strategy.Blank != nil {
		d.Strategy.Blank(obj)
	}
	return obj
}
