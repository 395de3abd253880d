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

// stream answers a request for a stream: with an error of the API server itself, or with the answer of a kubelet.
//
//	log           a text, or a Session that goes on with it; Messages say that it is sent over a WebSocket
//	exec, attach, a Session that the connection is given to: fake speaks WebSocket or SPDY
//	portforward
//	proxy         501, as everything where no kubelet runs
func (e *Exchange) stream(stream *resource.Stream) {
	r := e.route
	q := &resource.StreamRequest{Definition: r.def, Namespace: r.namespace, Name: r.name, Query: e.Query, Objects: e.s.Registry.Reader()}
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
			e.reply(&Answer{Code: wire.StatusSwitchingProtocols, Header: e.head, Body: codec.Text{a.Text}, Messages: true})
			return
		}
		e.answer(wire.StatusOK, codec.Text{a.Text})
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
	if allowed, reason := e.s.Auth.Authorize(at, e.s.Registry.Reader()); !allowed {
		return status.Forbidden(e.route.def.GroupResource(), e.route.name, reason)
	}
	return nil
}

// subpath returns what the path of a request for a proxy has behind the proxy.
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

// converse answers with a session.
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

// asksForWebSocket reports whether a request wants to upgrade to WebSocket.
func asksForWebSocket(h wire.Header) bool {
	return strings.EqualFold(h.Get("Upgrade"), "websocket") && upgrades(h)
}

// upgrades reports whether a request wants to change to another protocol.
func upgrades(h wire.Header) bool {
	return strings.Contains(strings.ToLower(strings.Join(h["Connection"], ",")), "upgrade") && h.Get("Upgrade") != ""
}

// notSimulated answers for a stream or a proxy that no kubelet serves.
func (e *Exchange) notSimulated(stream *resource.Stream) *status.Status {
	name := e.route.def.Resource + "/" + e.route.sub.Name
	return &status.Status{Code: wire.StatusNotImplemented, Reason: "NotImplemented",
		Message: "kubesim does not simulate " + name + ": " + stream.Instead,
		Details: &status.Details{Name: e.route.name, Group: e.route.def.Group, Kind: name}}
}
