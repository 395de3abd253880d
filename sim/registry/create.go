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

// NamespaceMismatch is the message of the 400 response for an object whose namespace differs from that of the URL.
const NamespaceMismatch = "the namespace of the provided object does not match the namespace sent on the request"

// Create stores a new object. obj is in the version of the request, with that version's defaults; the caller must not use it
// afterwards.
func (r *Registry) Create(q *Request, obj object.Object) (*Result, *status.Status) {
	return retryOnConflict(q, false, func() (*Result, *status.Status) { return r.create(q, obj, Put) })
}

// systemFields are the metadata fields that a client cannot set on create (rest.WipeObjectMetaSystemFields).
var systemFields = []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}

func (r *Registry) create(q *Request, obj object.Object, kind ChangeKind) (*Result, *status.Status) {
	d := q.Definition
	if s := placeInNamespace(d, q.Namespace, obj); s != nil {
		return nil, s
	}
	fields := systemFields
	if q.creates {
		fields = fields[:2] // before 1.37, an update that creates an object resets only the uid and the creationTimestamp
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

// mutate runs mutating admission for the object of a write. If a policy or webhook leaves malformed managedFields, mutate restores
// the previous ones and adds a warning (fieldmanager.NewManagedFieldsValidatingAdmissionController).
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

// placeInNamespace sets the namespace of obj to that of the request. It returns an error if obj has a different namespace.
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

// dedupOwners removes repeated owner references. The real server checks for them before and after mutating admission, but only
// afterwards for patches. late selects which of its two warnings is added.
func dedupOwners(q *Request, obj object.Object, late bool) {
	if uids := metadata.DedupOwnerReferences(obj); len(uids) > 0 {
		q.warn(metadata.DuplicateOwnersWarning(uids, late))
	}
}

// manage records the fields that the request sets in managedFields. For a create, live is nil.
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

// createNamed stores the object. If the server generates its name, createNamed tries names until one is free (KEP-4420).
func (r *Registry) createNamed(q *Request, ctx *resource.Context, attrs *admission.Attributes) (*Result, *status.Status) {
	template, requested := attrs.Object, ctx.Name
	generate := template.Name() == "" && template.GenerateName() != "" && !q.Definition.Hub.Strategy.Virtual
	for attempt := 1; ; attempt++ {
		obj := template
		if generate {
			obj = template.Copy()
			obj.Set(r.nameOf(q.Definition, template.GenerateName()), "metadata", "name")
		}
		validated := ctx
		if name := cmp.Or(requested, obj.Name()); name != obj.Name() { // admission has renamed it
			renamed := *ctx
			renamed.Name, validated = name, &renamed
		}
		result, s := r.createOnce(q, ctx, &admission.Attributes{Context: validated, Operation: admission.Create, Object: obj})
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
		if s := placeInNamespace(d, q.Namespace, obj); s != nil { // admission may have changed the namespace
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
		obj.Remove("metadata", "resourceVersion") // the store drops it
	}
	if rev, ok := ParseRev(obj.ResourceVersion()); ok && rev != 0 && !q.DryRun {
		return nil, status.Plain("resourceVersion should not be set on objects to be created")
	}
	if s := r.unreachable(d, "create"); s != nil {
		return nil, s
	}
	if s := r.encryptable(q); s != nil {
		return nil, s
	}
	at := obj.Name()
	if q.creates {
		at = q.Name // admission cannot change it
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

// storeNew stores a new object under a name and returns the item that readers see. A dry run stores nothing.
func (r *Registry) storeNew(q *Request, obj object.Object, name string) (*resource.Item, *status.Status) {
	d := q.Definition
	if q.DryRun {
		return r.readBack(q, obj)
	}
	if s := q.ready(obj, nil); s != nil {
		return nil, s
	}
	obj.Remove("metadata", "selfLink") // the store drops it
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

// allocate allocates the values that the kind assigns to a new (old is nil) or changed object. It runs before validation.
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

// validateNew returns all errors of a new object, in its metadata and by the rules of its kind.
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

// nameOf returns the generated name of an object that has only a generateName.
func (r *Registry) nameOf(d *resource.Definition, base string) string {
	if d.Hub.Strategy.PlainGenerateName {
		return base
	}
	return r.generateName(base)
}

// warnFinalizers adds warnings about the finalizers of custom resources. For other kinds, finalizers are either rejected or
// accepted without a warning.
func warnFinalizers(q *Request, obj, old object.Object) {
	if !q.Definition.Hub.Custom {
		return
	}
	for _, text := range metadata.FinalizerWarnings(obj.Metadata(), old.Metadata()) {
		q.warn(text)
	}
}

// beingDeleted is the prefix of the message of a conflict with an object that is being deleted.
const beingDeleted = "object is being deleted: "

// exists returns an error if another object is stored under the name. It first checks that the new object can be converted to the
// storage version, and returns that error instead if it cannot. A dry run skips this check and ignores a stored object that cannot
// be decoded.
func (r *Registry) exists(q *Request, obj object.Object, name string) *status.Status {
	d := q.Definition
	old := r.stored(q.Asker, d, obj.Namespace(), name)
	if old != nil && q.DryRun {
		old = r.storedForGet(q.Asker, d, obj.Namespace(), name)
	}
	switch {
	case old == nil, q.DryRun && old.Err() != nil:
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

// answer computes the response to a create of a virtual resource, which is not stored (SubjectAccessReview). Validating admission
// sees the object that was sent, not the response.
func (r *Registry) answer(ctx *resource.Context, attrs *admission.Attributes) (*Result, *status.Status) {
	obj := attrs.Object
	if validate := ctx.Definition.Hub.Strategy.Validate; validate != nil {
		if errs := validate(ctx, obj); len(errs) > 0 { // the real server omits the kind here
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
