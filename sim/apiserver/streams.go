package apiserver

import (
	"net/url"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// stream answers a request for a stream: with what the API server refuses by itself, then with what a kubelet answers.
//
//	log           a text, or a Session that goes on with it; Messages say that it is sent over a WebSocket
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
	if stream.Connects {
		if s := c.admitConnect(stream, q); s != nil {
			c.fail(s)
			return
		}
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
		if asksForWebSocket(c.q.Header) {
			c.reply(&Answer{Code: wire.StatusSwitchingProtocols, Header: c.header, Body: codec.Text{a.Text}, Messages: true})
			return
		}
		c.answer(wire.StatusOK, codec.Text{a.Text})
	default:
		c.converse(a.Session)
	}
}

// admitConnect asks admission, and whether the user may upgrade the connection, before anything is looked up
// (handlers.ConnectResource). Admission may change what the query asks for.
func (c *call) admitConnect(stream *resource.Stream, q *resource.StreamRequest) *status.Status {
	if len(q.Query["dryRun"]) > 0 {
		return status.BadRequest("dryRun is not supported")
	}
	query := q.Query
	if proxies(c.route.sub) {
		query = url.Values{"path": {c.subpath()}}
	}
	options, err := c.route.sub.Body.Options(query)
	if err != nil {
		return status.BadRequest("%s", err.Error())
	}
	if s := c.s.Registry.AdmitConnect(c.request(writeOptions{}), options); s != nil {
		return s
	}
	q.Query = resource.OptionsQuery(options)
	at := c.attributes()
	if !stream.Upgrades || at.Verb == "create" || !c.s.Registry.Server.Gates["AuthorizePodWebsocketUpgradeCreatePermission"] {
		return nil
	}
	at.Verb = "create"
	if allowed, reason := c.s.Auth.Authorize(at, c.s.Registry.Reader()); !allowed {
		return status.Forbidden(c.route.def.Resourced(), c.route.name, reason)
	}
	return nil
}

// subpath returns what the path of a request for a proxy has behind the proxy.
func (c *call) subpath() string {
	rest := c.info.rest
	if c.route.namespace != "" {
		rest = rest[2:]
	}
	path := strings.Join(rest[3:], "/")
	if path != "" && path[0] != '/' {
		path = "/" + path
	}
	if strings.HasSuffix(c.q.Path, "/") && !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return path
}

// converse answers with a session.
func (c *call) converse(s *kubelet.Session) {
	a := &Answer{Code: wire.StatusOK, Header: c.header, Session: s, Messages: !s.Upgrade && asksForWebSocket(c.q.Header)}
	if s.Upgrade || a.Messages {
		a.Code = wire.StatusSwitchingProtocols
	}
	if !s.Upgrade {
		c.header.Set("Content-Type", "text/plain")
	}
	c.addWarnings()
	c.reply(a)
}

// asksForWebSocket reports whether a request wants to change to WebSocket.
func asksForWebSocket(h wire.Header) bool {
	return strings.EqualFold(h.Get("Upgrade"), "websocket") && upgrades(h)
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
