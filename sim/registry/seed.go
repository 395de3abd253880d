package registry

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Seed stores an object, given in the version of the request with its defaults, in one commit. Unlike a create, it keeps the uid,
// times, generation, deletion, status and derived fields, which a client cannot set. Fields that the server sets in every object
// are set as in a create if they are missing. If an object of the same name exists, Seed merges the two; lists are replaced. No
// admission plugin runs.
//
// The object is validated like an update that changes nothing. Fields that a create must not have, such as the selector of a
// running Job, are therefore valid. An object that is being deleted and waits for nothing is rejected, because it cannot exist on a
// real server.
func (r *Registry) Seed(q *Request, obj object.Object) *status.Status {
	d := q.Definition
	if d.Hub.Strategy.Virtual {
		return status.BadRequest("%s are not stored", d.Resource)
	}
	if s := placeInNamespace(d, q.Namespace, obj); s != nil {
		return s
	}
	given, s := decode(d, obj)
	if s != nil {
		return s
	}
	if given.Name() == "" && given.GenerateName() != "" {
		given.Set(r.nameOf(d, given.GenerateName()), "metadata", "name")
	}
	q.Name = given.Name()
	ctx := r.context(q)
	before := r.storedForGet(q.Asker, d, q.Namespace, q.Name)
	var old object.Object
	if before != nil {
		old = before.Object()
	}
	live := merged(r.mergeBase(ctx, given, old), given)
	reserved := r.reserving(ctx)
	defer reserved.revert()
	if s := allocate(ctx, live, old); s != nil {
		return s
	}
	if s := checkDeletion(d, live); s != nil {
		return s
	}
	stored := live.Copy()
	stored.SetDefault("1", "metadata", "resourceVersion")
	if errs := validateChanged(ctx, stored, stored.Copy()); len(errs) > 0 {
		return status.Invalid(groupKindOf(d.Hub, live), q.Name, errs)
	}
	if old != nil && object.Equal(map[string]any(live), map[string]any(old)) {
		return nil
	}
	if _, ok := given.Get("metadata", "managedFields"); !ok {
		shape := d.Hub // the version of live
		if d.Custom {
			shape = d
		}
		r.Fields.Update(shape, old, live, r.By(q))
	}
	if canonicalize := d.Hub.Strategy.Canonicalize; canonicalize != nil {
		canonicalize(live)
	}
	if _, s := r.put(q, live); s != nil {
		return s
	}
	reserved.commit()
	return nil
}

// mergeBase returns the object into which given is merged: a copy of the stored object, or the object that a create would store.
func (r *Registry) mergeBase(ctx *resource.Context, given, old object.Object) object.Object {
	if old != nil {
		return old.Copy()
	}
	fresh := given.Copy()
	fresh.Remove("metadata", "deletionTimestamp")
	fresh.SetDefault(r.newUID(), "metadata", "uid")
	fresh.SetDefault(object.Time(ctx.Now), "metadata", "creationTimestamp")
	prepareNew(ctx, fresh)
	return fresh
}

// merged sets the values of given in base and returns base. It merges maps recursively. The caller must not use given afterwards.
func merged(base, given map[string]any) object.Object {
	for name, v := range given { // order does not matter: each key is handled independently
		m, isMap := v.(map[string]any)
		old, wasMap := base[name].(map[string]any)
		if isMap && wasMap {
			base[name] = map[string]any(merged(old, m))
			continue
		}
		if v != nil {
			base[name] = v
		}
	}
	return base
}

// checkDeletion rejects an object that a real server would have removed already.
func checkDeletion(d *resource.Definition, live object.Object) *status.Status {
	if live.DeletionTimestamp() == "" {
		return nil
	}
	if isReleased(d, live) && d.Hub.Strategy.GracePeriod == nil {
		return status.BadRequest("it has a deletionTimestamp and no finalizers: a server removes such an object at once")
	}
	live.SetDefault(int64(0), "metadata", "deletionGracePeriodSeconds")
	return nil
}
