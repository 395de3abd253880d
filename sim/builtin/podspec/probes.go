package podspec

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
)

// lifecycleAndProbes checks the lifecycle hooks and the probes of a container. Plain init containers have neither.
func (r *Rules) lifecycleAndProbes(c field.Cursor) {
	if lifecycle := c.Child("lifecycle"); lifecycle.Has() {
		for _, name := range []string{"postStart", "preStop"} {
			if lifecycle.Has(name) {
				r.handler(lifecycle.Child(name))
			}
		}
		r.stopSignal(lifecycle.Child("stopSignal"))
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

// signals are the valid stop signals of a container. Windows supports only a few of them (KEP-4960).
var signals = strings.Fields("SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE " +
	"SIGPOLL SIGPROF SIGPWR SIGQUIT SIGRTMAX SIGRTMAX-1 SIGRTMAX-10 SIGRTMAX-11 SIGRTMAX-12 SIGRTMAX-13 SIGRTMAX-14 SIGRTMAX-2 " +
	"SIGRTMAX-3 SIGRTMAX-4 SIGRTMAX-5 SIGRTMAX-6 SIGRTMAX-7 SIGRTMAX-8 SIGRTMAX-9 SIGRTMIN SIGRTMIN+1 SIGRTMIN+10 SIGRTMIN+11 " +
	"SIGRTMIN+12 SIGRTMIN+13 SIGRTMIN+14 SIGRTMIN+15 SIGRTMIN+2 SIGRTMIN+3 SIGRTMIN+4 SIGRTMIN+5 SIGRTMIN+6 SIGRTMIN+7 SIGRTMIN+8 " +
	"SIGRTMIN+9 SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH " +
	"SIGXCPU SIGXFSZ")

// stopSignal checks the signal that stops a container. Which signals are valid depends on the pod's operating system, which
// must be set (gate ContainerStopSignals).
func (r *Rules) stopSignal(at field.Cursor) {
	switch r.Spec.String("os", "name") {
	case "windows":
		at.OneOf("SIGKILL", "SIGTERM")
	case "linux":
		at.OneOf(signals...)
	default:
		at.ForbidIf(at.Has() && !r.Spec.Has("os"), "may not be set for containers with empty `spec.os.name`")
	}
}

// handlers are the types of probes and lifecycle handlers, in the order in which the server counts them.
var handlers = []struct {
	name  string
	check func(r *Rules, at field.Cursor)
}{
	{"exec", func(_ *Rules, at field.Cursor) { at.Require("command") }},
	{"httpGet", httpGetAction},
	{"tcpSocket", func(_ *Rules, at field.Cursor) { PortOrName(at.Child("port")) }},
	{"grpc", grpcAction},
	{"sleep", sleepAction},
}

// handler checks that exactly one handler is set, and that it is valid.
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
	protocol := at.Child("protocol").OneOf("HTTP1", "HTTP2") // gate H2CContainerProbe
	switch {
	case protocol.String() != "HTTP2":
	case at.String("scheme") != "HTTP":
		protocol.InvalidEnum("is only supported with HTTP (H2C)")
	default:
		at.Child("host").InvalidIf(at.String("host") != "", "must be empty when `protocol` is \"HTTP2\"")
	}
}

func grpcAction(_ *Rules, at field.Cursor) {
	PortOrName(at.Child("port"))
	at.Child("mode").OneOf("Plaintext", "TLS") // gate GRPCContainerProbeTLS
}

func sleepAction(r *Rules, at field.Cursor) {
	grace, ok := r.Spec.Int("terminationGracePeriodSeconds")
	if n := at.Int64("seconds"); ok && (n < 0 || n > grace) {
		at.Invalid(n, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", grace))
	}
}

// PortOrName checks an IntOrString that is the number or the name of a port. A missing one counts as 0.
func PortOrName(at field.Cursor) { at.OrZero().CheckInt(field.PortNumber).Check(field.PortName) }
