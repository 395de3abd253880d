package registry

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/fieldmanager"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// NamespaceMismatch is the text of a 400 for an object of another namespace than the URL's.
const NamespaceMismatch = "the namespace of the provided object does not match the namespace sent on the request"

// Create stores a new object, given in the version of the request with its defaults. The object is used up.
func (r *Registry) Create(q *Request, obj object.Object) (*Result, *status.Status) {
	return retryOnConflict(q, false, func() (*Result, *status.Status) { return r.create(q, obj, Put) })
}

// systemFields of metadata are not a client's to set on create (rest.WipeObjectMetaSystemFields).
var systemFields = []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}

func (r *Registry) create(q *Request, obj object.Object, kind ChangeKind) (*Result, *status.Status) {
	d := q.Definition
	if s := placeInNamespace(d, q.Namespace, obj); s != nil {
		return nil, s
	}
	fields := systemFields
	if q.creates {
		fields = fields[:2] // an update that creates overwrites these two and takes the others as they are, until 1.37
	}
	meta := obj.Metadata()
	for _, f := range fields {
		delete(meta, f)
	}
	if kind != Apply {
		dedupOwners(q, obj, false)
		r.manage(q, nil, obj)
	}
	if q.creates && r.Server.Since(37) {
		for _, f := range systemFields[2:] {
			obj.Remove("metadata", f)
		}
	}
	hub, s := decode(d, obj)
	if s != nil {
		return nil, s
	}
	ctx := r.context(q)
	ctx.Name = hub.Name()
	if s := terminating(d, ctx.Name); s != nil {
		return nil, s
	}
	attrs := &admission.Attributes{Context: ctx, Operation: admission.Create, Object: hub}
	if s := r.mutate(attrs); s != nil {
		return nil, s
	}
	dedupOwners(q, hub, true)
	if q.creates {
		if _, ok := ParseRev(hub.ResourceVersion()); !ok { // admission may have changed it
			return nil, badVersion(hub.ResourceVersion())
		}
	}
	if r.Authorizer != nil {
		if s := r.Authorizer.Escalation(q, hub, nil, r.Reader()); s != nil {
			return nil, s
		}
	}
	if !d.Hub.Strategy.Virtual {
		hub.Set(r.newUID(), "metadata", "uid")
		hub.Set(object.Time(ctx.Now), "metadata", "creationTimestamp")
	}
	return r.createNamed(q, ctx, attrs)
}

// mutate runs mutating admission for the object of a write. If a policy or webhook leaves malformed managedFields, the previous
// ones are restored, with a warning (fieldmanager.NewManagedFieldsValidatingAdmissionController).
func (r *Registry) mutate(attrs *admission.Attributes) *status.Status {
	before := attrs.Object.List("metadata", "managedFields")
	if s := r.Admission.Mutate(attrs); s != nil || !attrs.Changed() {
		return s
	}
	if err := fieldmanager.Validate(attrs.Object); err != nil {
		if attrs.Object.Remove("metadata", "managedFields"); len(before) > 0 {
			attrs.Object.Set(before, "metadata", "managedFields")
		}
		attrs.Warn(".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated " +
			"mutating admission controller; please fix your requests: " + err.Error())
	}
	return nil
}

// placeInNamespace gives obj the namespace of the request, or refuses one of its own.
func placeInNamespace(d *resource.Definition, namespace string, obj object.Object) *status.Status {
	if !d.Namespaced {
		obj.Remove("metadata", "namespace")
		return nil
	}
	switch own := obj.Namespace(); own {
	case "":
		obj.Set(namespace, "metadata", "namespace")
	case namespace:
	default:
		return status.BadRequest(NamespaceMismatch)
	}
	return nil
}

// dedupOwners removes repeated owner references. The real server checks twice, before and after mutating admission, but for patches
// only once, after it. late selects which of its two warnings is added.
func dedupOwners(q *Request, obj object.Object, late bool) {
	if uids := metadata.DedupOwnerReferences(obj); len(uids) > 0 {
		q.warn(metadata.DuplicateOwnersWarning(uids, late))
	}
}

// manage records the fields that the request sets in managedFields. live is nil for a create.
func (r *Registry) manage(q *Request, live, obj object.Object) {
	d := q.Definition
	if d.ToHub == nil || d.Hub == d {
		r.Fields.Update(d, live, obj, r.By(q))
		return
	}
	seen := obj // the conversion from the hub version may add annotations for fields that this version does not have
	if hub, err := d.ToHub(obj.Copy()); err == nil {
		seen = Convert(d, hub)
	}
	r.Fields.Update(d, live, seen, r.By(q))
	if managed, ok := seen.Get("metadata", "managedFields"); ok {
		obj.Set(managed, "metadata", "managedFields")
	} else {
		obj.Remove("metadata", "managedFields")
	}
}

// By returns the owner of the fields that a request sets.
func (r *Registry) By(q *Request) fieldmanager.By {
	return fieldmanager.By{Name: q.Manager, Subresource: q.Subresource, Time: r.Backend.Now(), Asker: q.Asker}
}

// createNamed tries generated names until one is free (KEP-4420); an object with a name of its own is tried once.
func (r *Registry) createNamed(q *Request, ctx *resource.Context, attrs *admission.Attributes) (*Result, *status.Status) {
	template, requested := attrs.Object, ctx.Name
	generate := template.Name() == "" && template.GenerateName() != "" && !q.Definition.Hub.Strategy.Virtual
	for attempt := 1; ; attempt++ {
		obj := template
		if generate {
			obj = template.Copy()
			obj.Set(r.nameOf(q.Definition, template.GenerateName()), "metadata", "name")
		}
		validated := *ctx
		validated.Name = cmp.Or(requested, obj.Name()) // whatever admission has renamed it to
		result, s := r.createOnce(q, ctx, &admission.Attributes{Context: &validated, Operation: admission.Create, Object: obj})
		if s == nil || s.Reason != status.ReasonAlreadyExists || template.GenerateName() == "" {
			return result, s
		}
		if !generate || attempt == generateNameAttempts {
			conflict := status.GenerateNameConflict(status.Resource{Group: q.Definition.Hub.Group, Resource: q.Definition.Resource}, obj.Name())
			if strings.HasPrefix(s.Message, beingDeleted) {
				conflict.Message = beingDeleted + conflict.Message
			}
			return nil, conflict
		}
	}
}

func (r *Registry) createOnce(q *Request, ctx *resource.Context, attrs *admission.Attributes) (*Result, *status.Status) {
	d, strategy, obj := q.Definition, q.Definition.Hub.Strategy, attrs.Object
	ctx.Name = obj.Name()
	if !strategy.Virtual {
		if s := placeInNamespace(d, q.Namespace, obj); s != nil { // admission may have moved it
			return nil, s
		}
	}
	reserved := r.reserving(ctx)
	defer reserved.revert()
	prepareNew(ctx, obj)
	if strategy.Virtual {
		return r.answer(ctx, attrs)
	}
	if s := allocate(ctx, obj, nil); s != nil {
		return nil, s
	}
	if errs := r.validateNew(ctx, obj); len(errs) > 0 {
		return nil, status.Invalid(groupKindOf(d.Hub, obj), obj.Name(), errs)
	}
	if strategy.Warn != nil {
		strategy.Warn(ctx, obj, nil)
	}
	if strategy.Canonicalize != nil {
		strategy.Canonicalize(obj)
	}
	warnFinalizers(q, obj, nil)
	if q.creates && q.Caller != nil {
		if s := q.Caller.MayCreate(); s != nil {
			return nil, s
		}
	}
	if s := r.Admission.Validate(attrs); s != nil {
		return nil, s
	}
	if strategy.ReadsMore != nil || d.DefaultsLate(obj) {
		d.Hub.Default(obj)
	}
	if q.creates && !q.DryRun {
		obj.Remove("metadata", "resourceVersion") // which the store drops
	}
	if rev, ok := ParseRev(obj.ResourceVersion()); ok && rev != 0 && !q.DryRun {
		return nil, status.Plain("resourceVersion should not be set on objects to be created")
	}
	if s := r.unreachable(d, "create"); s != nil {
		return nil, s
	}
	at := obj.Name()
	if q.creates {
		at = q.Name // which admission cannot change
	}
	if s := r.exists(q, obj, at); s != nil {
		return nil, s
	}
	it, s := r.storeNew(q, obj, at)
	if s == nil && !q.DryRun {
		reserved.commit()
	}
	return &Result{Item: inAnswer(q, it), Created: true}, s
}

// storeNew stores a new object under a name, and returns it as readers see it. A dry run stores nothing.
func (r *Registry) storeNew(q *Request, obj object.Object, name string) (*resource.Item, *status.Status) {
	d := q.Definition
	if q.DryRun {
		return r.readBack(q, obj)
	}
	if s := q.ready(obj, nil); s != nil {
		return nil, s
	}
	obj.Remove("metadata", "selfLink") // which the store drops
	it, s := r.putAt(q, obj, d.Key(obj.Namespace(), name))
	if s == stale {
		if old := r.stored(q.Asker, d, obj.Namespace(), name); old != nil {
			return nil, alreadyExists(d, old)
		}
	}
	return it, s
}

// prepareNew drops the fields of a new object that a client may not set, and calls the strategy's PrepareForCreate.
func prepareNew(ctx *resource.Context, obj object.Object) {
	strategy := ctx.Definition.Hub.Strategy
	if strategy.HasStatus && !strategy.MakesStatus {
		obj.Remove("status")
	}
	if strategy.SpecChanged != nil {
		obj.Set(int64(1), "metadata", "generation")
	}
	if strategy.PrepareForCreate != nil {
		strategy.PrepareForCreate(ctx, obj)
	}
}

// allocate assigns the values that the kind allocates to a new (old is nil) or changed object, before it is validated.
func allocate(ctx *resource.Context, obj, old object.Object) *status.Status {
	hub := ctx.Definition.Hub
	if hub.Strategy.Allocate == nil || ctx.Subresource != "" {
		return nil
	}
	errs, failure := hub.Strategy.Allocate(ctx, obj, old)
	if len(errs) > 0 {
		return status.Invalid(groupKindOf(hub, obj), obj.Name(), errs)
	}
	return failure
}

// validateNew returns everything wrong with a new object: metadata and the kind's own rules.
func (r *Registry) validateNew(ctx *resource.Context, obj object.Object) field.ErrorList {
	hub := ctx.Definition.Hub
	if errs := otherKind(hub, obj); len(errs) > 0 {
		ctx.Found = errs
		return append(errs, hub.Strategy.Validate(ctx, obj)...)
	}
	found := metaErrorsOf(ctx, obj, nil)
	errs := check(ctx, obj, nil, found)
	if named := slices.Contains(hub.Strategy.Checks.Of(ctx, false), resource.CheckMeta); len(errs) == 0 && (!named || hub.Strategy.NameRule != nil) {
		errs = append(metadata.Names(obj.Metadata(), field.NamePathSegment, field.Root("metadata")), found.rest...)
	}
	return declarative(ctx, errs)
}

// nameOf returns the name of an object that has a generateName only.
func (r *Registry) nameOf(d *resource.Definition, base string) string {
	if d.Hub.Strategy.PlainGenerateName {
		return base
	}
	return r.generateName(base)
}

// warnFinalizers adds warnings about the finalizers of custom resources. Those of other kinds are refused, or accepted without a
// warning.
func warnFinalizers(q *Request, obj, old object.Object) {
	if !q.Definition.Hub.Custom {
		return
	}
	for _, text := range metadata.FinalizerWarnings(obj.Metadata(), old.Metadata()) {
		q.warn(text)
	}
}

// beingDeleted stands before the text of a conflict with an object that is on its way out.
const beingDeleted = "object is being deleted: "

// exists returns why an object cannot be created if another is stored under its name: it cannot be converted into the version that is
// stored, which is found first, or the other is in its way. A dry run only looks for the other, and one that cannot be read is none.
func (r *Registry) exists(q *Request, obj object.Object, name string) *status.Status {
	d := q.Definition
	old := r.stored(q.Asker, d, obj.Namespace(), name)
	if old != nil && q.DryRun {
		old = r.storedForGet(q.Asker, d, obj.Namespace(), name)
	}
	switch {
	case old == nil, q.DryRun && old.Err != nil:
		return nil
	case d.StorageCodec != nil && !q.DryRun:
		if _, _, s := r.encodeStored(q, obj, old.Rev); s != nil {
			return s
		}
	}
	return alreadyExists(d, old)
}

func alreadyExists(d *resource.Definition, old *resource.Item) *status.Status {
	s := status.AlreadyExists(d.GroupResource(), old.Name)
	if old.Shared().DeletionTimestamp() != "" {
		s.Message = beingDeleted + s.Message
	}
	return s
}

// answer answers a create of a virtual resource, which stores nothing. Admission validates the object as sent, after the answer has
// been computed.
func (r *Registry) answer(ctx *resource.Context, attrs *admission.Attributes) (*Result, *status.Status) {
	obj := attrs.Object
	if validate := ctx.Definition.Hub.Strategy.Validate; validate != nil {
		if errs := validate(ctx, obj); len(errs) > 0 { // the real server names no kind here
			return nil, status.Invalid(status.Resource{Group: ctx.Definition.Group}, "", errs)
		}
	}
	answer := obj.Copy()
	if r.Authorizer != nil {
		if s := r.Authorizer.Review(ctx.Definition.Kind, ctx, answer); s != nil {
			return nil, s
		}
	}
	if s := r.Admission.Validate(attrs); s != nil {
		return nil, s
	}
	return &Result{Item: r.encodeUnstored(ctx.Definition, answer), Created: true}, nil
}
