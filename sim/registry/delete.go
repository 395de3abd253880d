package registry

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// The finalizers of the garbage collector (Kubernetes documentation, "Garbage Collection").
const (
	FinalizerOrphan     = "orphan"
	FinalizerForeground = "foregroundDeletion"
)

// DeleteOptions is meta/v1 DeleteOptions without dryRun.
type DeleteOptions struct {
	GracePeriodSeconds *int64
	OrphanDependents   *bool
	PropagationPolicy  string // "", Orphan, Background or Foreground
	UID                *string
	ResourceVersion    *string
}

// Delete deletes one object, or begins to: finalizers and grace periods keep it for a while.
func (r *Registry) Delete(q *Request, o DeleteOptions) (*Result, *status.Status) {
	if s := checkName(q.Name); s != nil {
		return nil, s
	}
	return anew(q, true, func() (*Result, *status.Status) { return r.delete(q, o) })
}

func (r *Registry) delete(q *Request, o DeleteOptions) (*Result, *status.Status) {
	d := q.Definition
	item := r.stored(d, q.Namespace, q.Name)
	if item == nil {
		if s := r.unreachable(d, "delete"); s != nil {
			return nil, s
		}
		return nil, status.NotFound(d.Resourced(), q.Name)
	}
	if s := unreadable(item); s != nil {
		return nil, s
	}
	obj := item.Object()
	if s := checkPreconditions(d, q.Name, obj, o); s != nil {
		return nil, s
	}
	attrs := &admission.Attributes{Context: r.context(q), Operation: admission.Delete, Old: obj}
	if s := r.Admission.Mutate(attrs); s != nil {
		return nil, s
	}
	if s := r.Admission.Validate(attrs); s != nil {
		return nil, s
	}
	if r.moved(d, item) {
		return nil, stale
	}
	if s := r.unreachable(d, "delete"); s != nil {
		return nil, s
	}
	if first := d.Hub.Strategy.FirstDelete; first != nil && obj.DeletionTimestamp() == "" {
		return r.firstDelete(q, item, obj, first)
	}
	return r.beginDelete(q, item, obj, o)
}

// firstDelete marks an object as deleted and leaves the rest to those who remove its finalizers.
func (r *Registry) firstDelete(q *Request, item *resource.Item, obj object.Object, first func(*resource.Context, object.Object)) (*Result, *status.Status) {
	before := obj.Copy()
	ctx := r.context(q)
	obj.Set(object.Time(ctx.Now), "metadata", "deletionTimestamp")
	first(ctx, obj)
	return r.storePending(q, item, obj, before)
}

// checkPreconditions compares the uid and resourceVersion a client expects with the stored ones.
func checkPreconditions(d *resource.Definition, name string, obj object.Object, o DeleteOptions) *status.Status {
	of := d.Kinded()
	if d.Hub.Strategy.Held != nil || d.Hub.Strategy.FirstDelete != nil { // these check by themselves, before the generic code does
		of = d.Resourced()
		if o.UID != nil && *o.UID != obj.UID() {
			return status.Conflict(of, name, fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", *o.UID, obj.UID()))
		}
		if o.ResourceVersion != nil && *o.ResourceVersion != obj.ResourceVersion() {
			return status.Conflict(of, name, fmt.Sprintf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s",
				*o.ResourceVersion, obj.ResourceVersion()))
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

// beginDelete decides whether the object goes at once.
func (r *Registry) beginDelete(q *Request, item *resource.Item, obj object.Object, o DeleteOptions) (*Result, *status.Status) {
	d := q.Definition
	strategy := d.Hub.Strategy
	period := int64(0)
	if strategy.GracePeriod != nil {
		period = strategy.GracePeriod(obj, o.GracePeriodSeconds)
	}
	held := strategy.Held != nil && strategy.Held(obj)
	if held && obj.DeletionTimestamp() != "" {
		return &Result{Item: item, Pending: true}, nil // a second deletion of a namespace that is terminating
	}
	before := obj.Copy()
	if !pendingGraceful(obj) {
		obj.SetFinalizers(r.deletionFinalizers(q, obj, o))
	}
	waits := len(obj.List("metadata", "finalizers")) > 0 || held
	if strategy.GracePeriod != nil {
		if pending, stop, s := r.beginGraceful(q, item, obj, period, o); stop {
			return pending, s
		}
	}
	if waits {
		r.markDeleting(obj, held)
		if strategy.BeginDelete != nil {
			strategy.BeginDelete(r.context(q), obj)
		}
		return r.storePending(q, item, obj, before)
	}
	return r.finishDelete(q, item, obj, before, period)
}

// pendingGraceful reports whether a grace period is running: then finalizers can no longer be changed by a deletion.
func pendingGraceful(obj object.Object) bool {
	grace, ok := obj.DeletionGracePeriodSeconds()
	return obj.DeletionTimestamp() != "" && ok && grace > 0
}

// deletionFinalizers returns the finalizers of obj with those of the garbage collector that the propagation policy asks
// for.
func (r *Registry) deletionFinalizers(q *Request, obj object.Object, o DeleteOptions) []string {
	names := obj.Finalizers()
	if q.Definition.Hub.Strategy.NoGarbageCollection {
		return names
	}
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
	return kept
}

func propagation(d *resource.Definition, finalizers []string, o DeleteOptions) (orphan, foreground bool) {
	switch {
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

// beginGraceful starts or shortens a grace period. stop says that nothing more is to be done now.
func (r *Registry) beginGraceful(q *Request, item *resource.Item, obj object.Object, period int64, o DeleteOptions) (result *Result, stop bool, s *status.Status) {
	before := item.Object()
	if ts := obj.DeletionTimestamp(); ts != "" {
		running, _ := obj.DeletionGracePeriodSeconds()
		if running == 0 || o.GracePeriodSeconds == nil && running > 0 || period >= running {
			if running == 0 {
				return nil, false, nil // nothing left to wait for but finalizers
			}
			result, s = r.storePending(q, item, obj, before)
			return result, true, s
		}
		period = r.shorten(obj, ts, running, period)
	} else if period > 0 {
		r.setDeletion(obj, period)
	}
	if period == 0 {
		return nil, false, nil
	}
	result, s = r.storePending(q, item, obj, before)
	return result, true, s
}

// shorten moves a running grace period's end to when the shorter period would have ended it, not into the past.
func (r *Registry) shorten(obj object.Object, ts string, running, period int64) int64 {
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
	return period
}

// setDeletion begins a grace period of so many seconds.
func (r *Registry) setDeletion(obj object.Object, period int64) {
	end := r.Backend.Now().Add(time.Duration(period) * time.Second)
	obj.Set(object.Time(end), "metadata", "deletionTimestamp")
	obj.Set(period, "metadata", "deletionGracePeriodSeconds")
	bumpGeneration(obj)
}

// markDeleting begins a deletion that waits for finalizers; held deletions have no grace period.
func (r *Registry) markDeleting(obj object.Object, held bool) {
	now := object.Time(r.Backend.Now())
	if ts := obj.DeletionTimestamp(); ts == "" {
		bumpGeneration(obj)
		obj.Set(now, "metadata", "deletionTimestamp")
	} else if ts > now {
		obj.Set(now, "metadata", "deletionTimestamp")
	}
	if !held {
		obj.Set(int64(0), "metadata", "deletionGracePeriodSeconds")
	}
}

func bumpGeneration(obj object.Object) {
	if n := obj.Generation(); n > 0 {
		obj.Set(n+1, "metadata", "generation")
	}
}

// storePending stores an object whose deletion goes on.
func (r *Registry) storePending(q *Request, item *resource.Item, obj, before object.Object) (*Result, *status.Status) {
	if object.Equal(map[string]any(obj), map[string]any(before)) {
		return &Result{Item: item, Pending: true}, nil
	}
	if q.DryRun {
		return &Result{Item: r.encode(q.Definition, obj, item.Rev), Pending: true}, nil
	}
	if s := q.ready(obj, item); s != nil {
		return nil, s
	}
	it, s := r.put(q.Definition, obj)
	return &Result{Item: it, Pending: true}, s
}

// finishDelete removes the object. One with grace periods is first written with a period of zero, as the real server
// does: watchers see MODIFIED, then DELETED.
func (r *Registry) finishDelete(q *Request, item *resource.Item, obj, before object.Object, period int64) (*Result, *status.Status) {
	d := q.Definition
	if !q.DryRun {
		if s := q.ready(obj, item); s != nil {
			return nil, s
		}
	}
	if d.Hub.Strategy.GracePeriod != nil && period == 0 {
		if ts := obj.DeletionTimestamp(); ts == "" {
			r.setDeletion(obj, 0)
		} else {
			obj.Set(int64(0), "metadata", "deletionGracePeriodSeconds")
		}
		if q.DryRun {
			item = r.encode(d, obj, item.Rev)
		} else if !object.Equal(map[string]any(obj), map[string]any(before)) {
			var s *status.Status
			if item, s = r.put(d, obj); s != nil {
				return nil, s
			}
		}
	}
	if !q.DryRun {
		item = r.remove(d, item)
	}
	if d.Hub.Strategy.ReturnsDeleted {
		return &Result{Item: item}, nil
	}
	return &Result{Status: status.Success(d.Resourced(), item.Name, obj.UID())}, nil
}
