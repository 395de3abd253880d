package apiserver

import (
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// get answers with one object.
func (e *Exchange) get() *status.Status {
	if registry.ParseBool(e.Query, "export") {
		return status.BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	q, version, connects := e.request(writeOptions{}), e.Query.Get("resourceVersion"), e.connects()
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
		case connects: // the object has the requested revision
			e.connect(q, "get", nil)
		default:
			e.object(200, it)
		}
	})
	return nil
}

// list answers with a collection, or with a watch of it.
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

// listOptions reads the query. A name in the path, or one that a field selector names, must be the one selected.
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

// watch answers with a stream.
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
		e.setCompressedHeaders() // WatchListCompression
	}
	e.addWarnings()
	e.reply(&Answer{Code: 200, Header: e.head, Watch: w})
	return nil
}

// negotiateStream decides on the format of a watch.
func (e *Exchange) negotiateStream() (s *status.Status) {
	options := e.negotiation()
	options.Watch = true
	e.format, s = codec.Negotiate(e.accept(), options)
	return s
}

// now is the Cluster's time.
func (e *Exchange) now() time.Time { return e.s.Registry.Backend.Now() }
