package workload

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/object"
)

// HostPort is a port of the node that a container takes.
type HostPort struct {
	IP, Protocol string
	Port         int64
}

const anyIP = "0.0.0.0"

// Conflicts reports whether not both ports can be on one node (framework.HostPortInfo).
func (p HostPort) Conflicts(q HostPort) bool {
	return p.Port == q.Port && p.Protocol == q.Protocol && (p.IP == q.IP || p.IP == anyIP || q.IP == anyIP)
}

// Conflict reports whether a port of one pod and one of another cannot be on one node.
func Conflict(a, b []HostPort) bool {
	return slices.ContainsFunc(a, func(p HostPort) bool { return slices.ContainsFunc(b, p.Conflicts) })
}

// HostPortsOf returns the ports of the node that a pod with a spec takes as long as it runs.
func HostPortsOf(spec object.Object) (ports []HostPort) {
	add := func(c object.Object) {
		for _, x := range c.Objects("ports") {
			if n := x.Int64("hostPort"); n > 0 {
				port := HostPort{x.String("hostIP"), x.String("protocol"), n}
				if port.IP == "" {
					port.IP = anyIP
				}
				ports = append(ports, port)
			}
		}
	}
	for _, c := range spec.Objects("containers") {
		add(c)
	}
	for _, c := range spec.Objects("initContainers") {
		if podspec.IsSidecar(c) {
			add(c)
		}
	}
	return ports
}
