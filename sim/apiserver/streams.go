package apiserver

import (
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// stream answers a request for a stream: with what the API server refuses by itself, then with what a kubelet answers.
//
//	log           a text, or a Session that goes on with it
//	exec, attach, a Session that the connection is given to: fake speaks WebSocket or SPDY
//	portforward
//	proxy         501, as everything where no kubelet runs
func (c *call) stream(stream *resource.Stream) {
	r := c.route
	q := &resource.StreamRequest{Definition: r.def, Namespace: r.namespace, Name: r.name, Query: c.q.Query, Objects: c.s.Registry.Reader()}
	if s := codec.Routed(c.accept(), codec.Options{Text: true}); stream.Text && s != nil {
		c.fail(s)
		return
	}
	if s := stream.Refuse(q); s != nil {
		c.fail(s)
		return
	}
	a, s, ok := c.s.Nodes.Stream(r.sub.Name, q, upgrades(c.q.Header))
	switch {
	case !ok:
		c.fail(c.notSimulated(stream))
	case s != nil:
		c.fail(s)
	case a.Text == nil && a.Session == nil:
		c.answer(wire.StatusNoContent, nil)
	case a.Session == nil:
		c.header.Set("Content-Type", "text/plain")
		c.answer(wire.StatusOK, codec.Text{a.Text})
	default:
		c.converse(a.Session)
	}
}

// converse answers with a session.
func (c *call) converse(s *kubelet.Session) {
	code := wire.StatusOK
	if s.Upgrade {
		code = wire.StatusSwitchingProtocols
	} else {
		c.header.Set("Content-Type", "text/plain")
	}
	c.addWarnings()
	c.reply(&Answer{Code: code, Header: c.header, Session: s})
}

// upgrades reports whether a request wants to change to another protocol.
func upgrades(h wire.Header) bool {
	return strings.Contains(strings.ToLower(strings.Join(h["Connection"], ",")), "upgrade") && h.Get("Upgrade") != ""
}

// notSimulated answers for a stream or a proxy that no kubelet serves.
func (c *call) notSimulated(stream *resource.Stream) *status.Status {
	name := c.route.def.Resource + "/" + c.route.sub.Name
	return &status.Status{Code: wire.StatusNotImplemented, Reason: "NotImplemented",
		Message: "kubesim does not simulate " + name + ": " + stream.Instead,
		Details: &status.Details{Name: c.route.name, Group: c.route.def.Group, Kind: name}}
}
