package registry

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// UnsafeOption is the option for deleting objects that cannot be decoded. See corrupt.go.
const UnsafeOption = "ignoreStoreReadErrorWithClusterBreakingPotential"

var unsafeOption = field.Root(UnsafeOption)

// ReadDeleteOptions validates options and converts them to DeleteOptions. It returns 422 Invalid for unknown or contradictory
// values.
func (r *Registry) ReadDeleteOptions(options object.Object) (o DeleteOptions, dryRun bool, s *status.Status) {
	var errs field.ErrorList
	if b, ok := options.Bool("orphanDependents"); ok {
		o.OrphanDependents = &b
	}
	policy, hasPolicy := options.Get("propagationPolicy")
	o.PropagationPolicy, _ = policy.(string)
	p := field.Root("propagationPolicy")
	if hasPolicy && policy != nil && o.OrphanDependents != nil {
		errs = append(errs, field.Invalid(p, field.Named(o.PropagationPolicy), "orphanDependents and deletionPropagation cannot be both set"))
	}
	switch {
	case !hasPolicy || policy == nil:
	case o.PropagationPolicy != "Foreground" && o.PropagationPolicy != "Background" && o.PropagationPolicy != "Orphan":
		errs = append(errs, field.NotSupported(p, field.Named(o.PropagationPolicy), "Foreground", "Background", "Orphan", "nil"))
	}
	dryRun, bad := ParseDryRun(object.Strings(options.List("dryRun")))
	errs = append(errs, bad...)
	if !r.reportsCorrupt() {
		options.Remove(UnsafeOption)
	}
	o.Unsafe = options.True(UnsafeOption)
	if o.Unsafe {
		errs = append(errs, r.checkUnsafe(options, dryRun)...)
	}
	if len(errs) > 0 {
		return o, false, invalidDeleteOptions(errs...)
	}
	if n, ok := options.Int("gracePeriodSeconds"); ok {
		o.GracePeriodSeconds = &n
	}
	if uid, ok := options.Get("preconditions", "uid"); ok && uid != nil {
		text, _ := uid.(string)
		o.UID = &text
	}
	if rv, ok := options.Get("preconditions", "resourceVersion"); ok && rv != nil {
		text, _ := rv.(string)
		o.ResourceVersion = &text
	}
	return o, dryRun, nil
}

// sent returns the options for admission: the options that the client sent, with the grace period and the uid that the deletion has
// set since. The options of a deletecollection are returned unchanged.
func (o *DeleteOptions) sent(q *Request) object.Object {
	if q.collected {
		return q.Options
	}
	options := q.Options.Copy()
	if options == nil {
		options = object.Object{}
		if o.OrphanDependents != nil {
			options["orphanDependents"] = *o.OrphanDependents
		}
		if o.PropagationPolicy != "" {
			options["propagationPolicy"] = o.PropagationPolicy
		}
		if o.ResourceVersion != nil {
			options.Set(*o.ResourceVersion, "preconditions", "resourceVersion")
		}
	}
	if o.GracePeriodSeconds != nil {
		options["gracePeriodSeconds"] = *o.GracePeriodSeconds
	}
	if o.UID != nil {
		options.Set(*o.UID, "preconditions", "uid")
	}
	return options
}

// checkUnsafe returns an error for each option that cannot be combined with an unsafe deletion.
func (r *Registry) checkUnsafe(options object.Object, dryRun bool) (errs field.ErrorList) {
	if dryRun && !r.Server.Since(37) {
		errs = append(errs, field.Invalid(unsafeOption, true, "cannot be set together with .dryRun"))
	}
	for _, name := range []string{"propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions"} {
		if options.Has(name) {
			errs = append(errs, field.Invalid(unsafeOption, true, "cannot be set together with ."+name))
		}
	}
	return errs
}

func invalidDeleteOptions(errs ...*field.Error) *status.Status {
	return status.Invalid(status.Resource{Group: "meta.k8s.io", Resource: "DeleteOptions"}, "", errs)
}

// ParseDryRun parses the values of dryRun. The only valid value is All.
func ParseDryRun(values []string) (bool, field.ErrorList) {
	for _, v := range values {
		if v != "All" {
			return false, field.ErrorList{field.NotSupported(field.Root("dryRun"), values, "All")}
		}
	}
	return len(values) > 0, nil
}
