package apiserver

import (
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// notSimulated answers for a stream or a proxy.
func (c *call) notSimulated(stream *resource.Stream) *status.Status {
	r := c.route
	if s := stream.Refuse(&resource.StreamRequest{Definition: r.def, Namespace: r.namespace, Name: r.name, Query: c.q.Query,
		Objects: c.s.Registry.Reader()}); s != nil {
		return s
	}
	name := r.def.Resource + "/" + r.sub.Name
	return &status.Status{Code: wire.StatusNotImplemented, Reason: "NotImplemented",
		Message: "kubesim does not simulate " + name + ": " + stream.Instead,
		Details: &status.Details{Name: r.name, Group: r.def.Group, Kind: name}}
}
