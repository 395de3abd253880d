package registry

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// ReadDeleteOptions validates options and turns them into their Go form.
func ReadDeleteOptions(options object.Object) (o DeleteOptions, dryRun bool, s *status.Status) {
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
	if len(errs) > 0 {
		return o, false, status.Invalid(status.Resource{Group: "meta.k8s.io", Resource: "DeleteOptions"}, "", errs)
	}
	if n, ok := options.Int("gracePeriodSeconds"); ok {
		if n < 0 {
			n = 1
		}
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

// ParseDryRun reads the values of dryRun: All is the only one there is.
func ParseDryRun(values []string) (bool, field.ErrorList) {
	for _, v := range values {
		if v != "All" {
			return false, field.ErrorList{field.NotSupported(field.Root("dryRun"), values, "All")}
		}
	}
	return len(values) > 0, nil
}
