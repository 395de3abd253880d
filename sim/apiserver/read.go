package apiserver

import (
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// get responds with one object. For a subresource with its own kind, it passes the request to the subresource's Connector.
func (e *Exchange) get() *status.Status {
	if registry.ParseBool(e.Query, "export") {
		return status.BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	q, version, connects := e.request(writeOptions{}), e.Query.Get("resourceVersion"), e.hasOwnBodyKind()
	if connects && (version == "" || q.Definition.Strategy.Virtual) {
		e.connect(q, "get", nil)
		return nil
	}
	e.s.Registry.Get(q, version, func(it *resource.Item, s *status.Status) {
		if s == nil {
			s = e.checkTable()
		}
		switch {
		case s != nil:
			e.fail(s)
		case connects: // the cache has the requested revision
			e.connect(q, "get", nil)
		default:
			e.object(200, it)
		}
	})
	return nil
}

// list responds with a collection, or with a watch on it.
func (e *Exchange) list() *status.Status {
	o, s := e.listOptions()
	if s != nil {
		return s
	}
	q := e.request(writeOptions{})
	if o.Watch || e.route.watch {
		if d := e.route.def; !d.Allows("watch") {
			return status.MethodNotSupported(d.GroupResource(), "watch")
		}
		return e.watch(q, o)
	}
	e.s.Registry.List(q, o, e.page)
	return nil
}

// listOptions parses the query. If the request names an object, in its path or in a field selector, only that object is selected. A
// field selector for a different name is an error.
func (e *Exchange) listOptions() (registry.ListOptions, *status.Status) {
	r := e.route
	o, s := registry.ParseListOptions(e.Query, r.def)
	if s != nil {
		return o, s
	}
	name := e.Name
	if name == "" {
		return o, nil
	}
	if o.Fields.Empty() {
		o.SelectName(name)
	} else if selected, ok := o.Fields.RequiresExact("metadata.name"); !ok || selected != name {
		return o, status.BadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return o, nil
}

// watch starts a watch and sends its response: a stream of events, or of WebSocket messages. It returns the error if the watch
// cannot start.
func (e *Exchange) watch(q *registry.Request, o registry.ListOptions) *status.Status {
	if s := e.s.Registry.CheckWatch(q, o); s != nil {
		return s
	}
	if s := e.checkTable(); s != nil {
		return s
	}
	if s := e.negotiateStream(); s != nil {
		return s
	}
	w, s := e.s.Registry.Watch(q, o, e.encoder())
	if s != nil {
		return s
	}
	e.head.Set("Content-Type", e.format.ContentType)
	if asksForWebSocket(e.Header) {
		e.reply(&Answer{Code: wire.StatusSwitchingProtocols, Header: e.head, Watch: w, Messages: true})
		return nil
	}
	if o.ListsFirst() && e.s.Registry.Server.Since(37) && codec.TakesGzip(e.Header.Get("Accept-Encoding")) {
		e.setCompressedHeaders() // the gate WatchListCompression
	}
	e.addWarnings()
	e.reply(&Answer{Code: 200, Header: e.head, Watch: w})
	return nil
}

// negotiateStream determines the format of a watch. It returns an error if the server cannot stream any format that the client
// accepts.
func (e *Exchange) negotiateStream() (s *status.Status) {
	options := e.negotiation()
	options.Watch = true
	e.format, s = codec.Negotiate(e.accept(), options)
	return s
}

// Now returns the Cluster's time.
func (e *Exchange) Now() time.Time { return e.s.Registry.Backend.Now() }
