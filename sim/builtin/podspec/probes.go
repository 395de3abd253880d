package podspec

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/field"
)

// lifecycleAndProbes checks the lifecycle hooks and the probes of a container that keeps running.
func (r *Rules) lifecycleAndProbes(c field.Cursor) {
	for _, name := range []string{"postStart", "preStop"} {
		if c.Has("lifecycle", name) {
			r.handler(c.Child("lifecycle", name))
		}
	}
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if !c.Has(name) {
			continue
		}
		probe := c.Child(name)
		r.handler(probe)
		for _, name := range []string{"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"} {
			probe.Child(name).NonNegative()
		}
		grace, successes := probe.Child("terminationGracePeriodSeconds").Min(1, "must be greater than 0"), probe.Child("successThreshold").OrZero()
		successes.InvalidIf(name != "readinessProbe" && successes.Int64() != 1, "must be 1")
		grace.InvalidIf(name == "readinessProbe" && grace.Has(), "must not be set for readinessProbes")
	}
}

// handlers are the ways to probe a container or to act on it, in the order in which they are counted.
var handlers = []struct {
	name  string
	check func(r *Rules, at field.Cursor)
}{
	{"exec", func(_ *Rules, at field.Cursor) { at.Require("command") }},
	{"httpGet", httpGetAction},
	{"tcpSocket", func(_ *Rules, at field.Cursor) { PortOrName(at.Child("port")) }},
	{"grpc", func(_ *Rules, at field.Cursor) { PortOrName(at.Child("port")) }},
	{"sleep", sleepAction},
}

// handler checks that exactly one way is given, and that one.
func (r *Rules) handler(at field.Cursor) {
	found := false
	for _, h := range handlers {
		switch {
		case !at.Has(h.name):
		case found:
			at.Child(h.name).Forbidden("may not specify more than 1 handler type")
		default:
			found = true
			h.check(r, at.Child(h.name))
		}
	}
	at.RequireIf(!found, "must specify a handler type")
}

func httpGetAction(_ *Rules, at field.Cursor) {
	at.Require("path")
	PortOrName(at.Child("port"))
	at.Child("scheme").OrEmpty().OneOf("HTTP", "HTTPS")
	for header := range at.Each("httpHeaders") {
		header.Child("name").ReportAt(at.Child("httpHeaders")).OrEmpty().Check(field.HTTPHeaderName)
	}
}

func sleepAction(r *Rules, at field.Cursor) {
	grace, ok := r.Spec.Int("terminationGracePeriodSeconds")
	if n := at.Int64("seconds"); ok && (n < 0 || n > grace) {
		at.Invalid(n, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", grace))
	}
}

// PortOrName checks an IntOrString that is the number or the name of a port; absent is 0.
func PortOrName(at field.Cursor) { at.OrZero().CheckInt(field.PortNumber).Check(field.PortName) }
