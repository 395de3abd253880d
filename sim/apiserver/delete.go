package apiserver

import (
	"net/url"
	"strconv"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// delete answers a DELETE of one object.
func (c *call) delete() *status.Status {
	o, to, s := c.deleteOptions()
	if s != nil {
		return s
	}
	result, s := c.s.Registry.Delete(c.request(to), o)
	code := wire.StatusOK
	if s == nil && result.Pending && o.OrphanDependents != nil && !*o.OrphanDependents {
		code = wire.StatusAccepted
	}
	c.result(code, result, s)
	return nil
}

// deleteCollection answers a DELETE of a collection.
func (c *call) deleteCollection() *status.Status {
	list, s := c.listOptions()
	if s != nil {
		return s
	}
	o, to, s := c.deleteOptions()
	if s != nil {
		return s
	}
	c.s.Registry.DeleteCollection(c.request(to), list, o, c.page)
	return nil
}

// deleteOptions reads DeleteOptions from the body, or, when there is none, from the query.
func (c *call) deleteOptions() (o registry.DeleteOptions, to writeOptions, s *status.Status) {
	if s := c.checkBody(); s != nil {
		return o, to, s
	}
	var options object.Object
	if len(c.q.Body) > 0 {
		media, s := codec.ContentType(c.q.Header.Get("Content-Type"))
		if s != nil {
			return o, to, s
		}
		if options, s = c.s.Decoder.DeleteOptions(c.q.Body, media.String()); s != nil {
			return o, to, s
		}
	} else if options, s = queryDeleteOptions(c.q.Query); s != nil {
		return o, to, s
	}
	o, to.dryRun, s = c.s.Registry.ReadDeleteOptions(options)
	to.sent = options
	return o, to, s
}

// queryDeleteOptions reads DeleteOptions from the parameters of a DELETE without a body.
func queryDeleteOptions(query url.Values) (object.Object, *status.Status) {
	options := object.Object{}
	if query.Has("gracePeriodSeconds") {
		n, err := strconv.ParseInt(query.Get("gracePeriodSeconds"), 10, 64)
		if err != nil {
			return nil, status.BadRequest("%s", err.Error())
		}
		options["gracePeriodSeconds"] = n
	}
	for _, name := range []string{"orphanDependents", registry.UnsafeOption} {
		if query.Has(name) {
			options[name] = registry.ParseBool(query, name)
		}
	}
	if query.Has("propagationPolicy") {
		options["propagationPolicy"] = query.Get("propagationPolicy")
	}
	if values := query["dryRun"]; len(values) > 0 {
		options["dryRun"] = object.FromStrings(values)
	}
	for _, name := range []string{"uid", "resourceVersion"} {
		if value := query.Get(name); value != "" {
			options.Set(value, "preconditions", name)
		}
	}
	return options, nil
}
