package podspec

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// lifecycleAndProbes checks the lifecycle hooks and the probes of a container that keeps running.
func (r *Rules) lifecycleAndProbes(c object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []string{"postStart", "preStop"} {
		if hook := c.At("lifecycle", name); hook != nil {
			errs = append(errs, r.handler(hook, p.Child("lifecycle", name))...)
		}
	}
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		probe, at := c.At(name), p.Child(name)
		if probe == nil {
			continue
		}
		errs = append(errs, r.probe(probe, at)...)
		if n := probe.Int64("successThreshold"); name != "readinessProbe" && n != 1 {
			errs = append(errs, field.Invalid(at.Child("successThreshold"), n, "must be 1"))
		}
		if n, ok := probe.Int("terminationGracePeriodSeconds"); name == "readinessProbe" && ok {
			errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"), n, "must not be set for readinessProbes"))
		}
	}
	return errs
}

func (r *Rules) probe(probe object.Object, p field.Path) field.ErrorList {
	errs := r.handler(probe, p)
	for _, name := range []string{"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"} {
		errs = append(errs, field.NonNegative(probe.Int64(name), p.Child(name))...)
	}
	if n, ok := probe.Int("terminationGracePeriodSeconds"); ok && n <= 0 {
		errs = append(errs, field.Invalid(p.Child("terminationGracePeriodSeconds"), n, "must be greater than 0"))
	}
	return errs
}

// handlers are the ways to probe a container or to act on it, in the order in which they are counted.
var handlers = []struct {
	name  string
	check func(r *Rules, h object.Object, p field.Path) field.ErrorList
}{
	{"exec", execAction},
	{"httpGet", httpGetAction},
	{"tcpSocket", tcpSocketAction},
	{"grpc", tcpSocketAction},
	{"sleep", sleepAction},
}

// handler checks that exactly one way is given, and that one.
func (r *Rules) handler(o object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	found := false
	for _, h := range handlers {
		action := o.At(h.name)
		switch {
		case action == nil:
		case found:
			errs = append(errs, field.Forbidden(p.Child(h.name), "may not specify more than 1 handler type"))
		default:
			found = true
			errs = append(errs, h.check(r, action, p.Child(h.name))...)
		}
	}
	if !found {
		errs = append(errs, field.Required(p, "must specify a handler type"))
	}
	return errs
}

func execAction(_ *Rules, h object.Object, p field.Path) field.ErrorList {
	if len(h.List("command")) == 0 {
		return field.ErrorList{field.Required(p.Child("command"), "")}
	}
	return nil
}

func httpGetAction(_ *Rules, h object.Object, p field.Path) field.ErrorList {
	errs := field.MustBeSet(p.Child("path"), h.String("path"))
	errs = append(errs, ValidatePortOrName(p.Child("port"), h["port"])...)
	errs = append(errs, field.MustBeOneOf(p.Child("scheme"), h.String("scheme"), "HTTP", "HTTPS")...)
	for _, header := range h.Objects("httpHeaders") {
		errs = append(errs, field.Check(p.Child("httpHeaders"), header.String("name"), field.HTTPHeaderName)...)
	}
	return errs
}

// tcpSocketAction checks a handler that has nothing but a port.
func tcpSocketAction(_ *Rules, h object.Object, p field.Path) field.ErrorList {
	return ValidatePortOrName(p.Child("port"), h["port"])
}

func sleepAction(r *Rules, h object.Object, p field.Path) field.ErrorList {
	grace, ok := r.Spec.Int("terminationGracePeriodSeconds")
	if n := h.Int64("seconds"); ok && (n < 0 || n > grace) {
		return field.ErrorList{field.Invalid(p, n, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", grace))}
	}
	return nil
}

// ValidatePortOrName checks an IntOrString that is the number or the name of a port; absent is 0.
func ValidatePortOrName(p field.Path, port any) field.ErrorList {
	if name, ok := port.(string); ok {
		return field.Check(p, name, field.PortName)
	}
	number, _ := port.(int64)
	return field.Messages(p, number, field.PortNumber(number))
}
