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

// stream handles a request for a stream. It responds with an error of the API server itself, or with the response of a kubelet.
//
//	log           text, or a Session that continues it; sent over a WebSocket if Messages is set
//	exec, attach, a Session that takes over the connection; package fake implements WebSocket and SPDY
//	portforward
//	proxy         501, as for all streams if no kubelet runs
func (e *Exchange) stream(stream *resource.Stream) {
	r := e.route
	q := &resource.StreamRequest{Definition: r.def, Namespace: r.namespace, Name: r.name, Query: e.Query, Objects: e.s.Registry.Reader(),
		Server: e.s.Registry.Server}
	if s := codec.CheckAccept(e.accept(), codec.Options{Text: true}); stream.Text && s != nil {
		e.fail(s)
		return
	}
	if stream.Connects {
		if s := e.admitConnect(stream, q); s != nil {
			e.fail(s)
			return
		}
	}
	if s := stream.Refuse(q); s != nil {
		e.fail(s)
		return
	}
	a, s, ok := e.s.Nodes.Stream(r.sub.Name, q, upgrades(e.Header))
	switch {
	case !ok:
		e.fail(e.notSimulated(stream))
	case s != nil:
		e.fail(s)
	case a.Text == nil && a.Session == nil:
		e.answer(wire.StatusNoContent, nil)
	case a.Session == nil:
		e.head.Set("Content-Type", "text/plain")
		if asksForWebSocket(e.Header) {
			e.reply(&Answer{Code: wire.StatusSwitchingProtocols, Header: e.head, Body: codec.TextOf(a.Text), Messages: true})
			return
		}
		e.answer(wire.StatusOK, codec.TextOf(a.Text))
	default:
		e.converse(a.Session)
	}
}

// admitConnect runs admission, and checks whether the user may upgrade the connection, before anything is looked up
// (handlers.ConnectResource). Admission may change the options in the query.
func (e *Exchange) admitConnect(stream *resource.Stream, q *resource.StreamRequest) *status.Status {
	if len(q.Query["dryRun"]) > 0 {
		return status.BadRequest("dryRun is not supported")
	}
	query := q.Query
	if proxies(e.route.sub) {
		query = url.Values{"path": {e.subpath()}}
	}
	options, err := e.route.sub.Body.Options(query)
	if err != nil {
		return status.BadRequest("%s", err.Error())
	}
	if s := e.s.Registry.AdmitConnect(e.request(writeOptions{}), options); s != nil {
		return s
	}
	q.Query = resource.OptionsQuery(options)
	at := e.attributes()
	if !stream.Upgrades || at.Verb == "create" || !e.s.Registry.Server.Gates["AuthorizePodWebsocketUpgradeCreatePermission"] {
		return nil
	}
	at.Verb, at.By = "create", e
	if d := e.s.Auth.Authorize(at, e.s.Registry.Reader()); !d.Allowed {
		return status.Forbidden(e.route.def.GroupResource(), e.route.name, d.Reason)
	}
	return nil
}

// subpath returns the part of the path that follows "/proxy".
func (e *Exchange) subpath() string {
	rest := e.rest
	if e.route.namespace != "" {
		rest = rest[2:]
	}
	path := strings.Join(rest[3:], "/")
	if path != "" && path[0] != '/' {
		path = "/" + path
	}
	if strings.HasSuffix(e.Path, "/") && !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return path
}

// converse responds with a session of a container.
func (e *Exchange) converse(s *kubelet.Session) {
	a := &Answer{Code: wire.StatusOK, Header: e.head, Session: s, Messages: !s.Upgrade && asksForWebSocket(e.Header)}
	if s.Upgrade || a.Messages {
		a.Code = wire.StatusSwitchingProtocols
	}
	if !s.Upgrade {
		e.head.Set("Content-Type", "text/plain")
	}
	e.addWarnings()
	e.reply(a)
}

// asksForWebSocket reports whether a request asks for an upgrade to WebSocket.
func asksForWebSocket(h wire.Header) bool {
	return strings.EqualFold(h.Get("Upgrade"), "websocket") && upgrades(h)
}

// upgrades reports whether a request asks for an upgrade to another protocol.
func upgrades(h wire.Header) bool {
	return strings.Contains(strings.ToLower(strings.Join(h["Connection"], ",")), "upgrade") && h.Get("Upgrade") != ""
}

// notSimulated returns the error for a stream or a proxy that no kubelet serves.
func (e *Exchange) notSimulated(stream *resource.Stream) *status.Status {
	name := e.route.def.Resource + "/" + e.route.sub.Name
	return &status.Status{Code: wire.StatusNotImplemented, Reason: "NotImplemented",
		Message: "kubesim does not simulate " + name + ": " + stream.Instead,
		Details: &status.Details{Name: e.route.name, Group: e.route.def.Group, Kind: name}}
}
