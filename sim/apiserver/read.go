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
func (c *call) get() *status.Status {
	if registry.ParseBool(c.q.Query, "export") {
		return status.BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	q, version, connects := c.request(writeOptions{}), c.q.Query.Get("resourceVersion"), c.connects()
	if connects && (version == "" || q.Definition.Strategy.Virtual) {
		c.connect(q, "get", nil)
		return nil
	}
	c.s.Registry.Get(q, version, func(it *resource.Item, s *status.Status) {
		if s == nil {
			s = c.checkTable()
		}
		switch {
		case s != nil:
			c.fail(s)
		case connects: // the object is as new as is asked for
			c.connect(q, "get", nil)
		default:
			c.object(200, it)
		}
	})
	return nil
}

// list answers with a collection, or with a watch of it.
func (c *call) list() *status.Status {
	o, s := c.listOptions()
	if s != nil {
		return s
	}
	q := c.request(writeOptions{})
	if o.Watch || c.route.watch {
		if d := c.route.def; !d.Allows("watch") {
			return status.MethodNotSupported(d.Resourced(), "watch")
		}
		return c.watch(q, o)
	}
	c.s.Registry.List(q, o, c.page)
	return nil
}

// listOptions reads the query. A name in the path, or one that a field selector names, must be the one selected.
func (c *call) listOptions() (registry.ListOptions, *status.Status) {
	r := c.route
	o, s := registry.ParseListOptions(c.q.Query, r.def)
	if s != nil {
		return o, s
	}
	name := c.info.name
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
func (c *call) watch(q *registry.Request, o registry.ListOptions) *status.Status {
	if s := c.s.Registry.CheckWatch(q, o); s != nil {
		return s
	}
	if s := c.checkTable(); s != nil {
		return s
	}
	if s := c.negotiateStream(); s != nil {
		return s
	}
	c.watching(q)
	w, s := c.s.Registry.Watch(q, o, c.encoder())
	if s != nil {
		return s
	}
	c.header.Set("Content-Type", c.format.ContentType)
	if asksForWebSocket(c.q.Header) {
		c.reply(&Answer{Code: wire.StatusSwitchingProtocols, Header: c.header, Watch: w, Messages: true})
		return nil
	}
	if o.ListsFirst() && c.s.Registry.Server.Since(37) && codec.TakesGzip(c.q.Header.Get("Accept-Encoding")) {
		c.compressed() // WatchListCompression
	}
	c.addWarnings()
	c.reply(&Answer{Code: 200, Header: c.header, Watch: w})
	return nil
}

// negotiateStream decides on the format of a watch.
func (c *call) negotiateStream() (s *status.Status) {
	options := c.negotiation()
	options.Watch = true
	c.format, s = codec.Negotiate(c.accept(), options)
	return s
}

// now is the Cluster's time.
func (c *call) now() time.Time { return c.s.Registry.Backend.Now() }
