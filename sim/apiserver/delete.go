package apiserver

import (
	"net/url"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// delete handles a DELETE of one object.
func (e *Exchange) delete() *status.Status {
	o, to, s := e.deleteOptions()
	if s != nil {
		return s
	}
	result, s := e.s.Registry.Delete(e.request(to), o)
	code := wire.StatusOK
	if s == nil && result.Pending && o.OrphanDependents != nil && !*o.OrphanDependents {
		code = wire.StatusAccepted
	}
	e.result(code, result, s)
	return nil
}

// deleteCollection handles a DELETE of a collection.
func (e *Exchange) deleteCollection() *status.Status {
	list, s := e.listOptions()
	if s != nil {
		return s
	}
	o, to, s := e.deleteOptions()
	if s != nil {
		return s
	}
	e.s.Registry.DeleteCollection(e.request(to), list, o, e.page)
	return nil
}

// deleteOptions parses DeleteOptions from the body, or from the query if there is no body.
func (e *Exchange) deleteOptions() (o registry.DeleteOptions, to writeOptions, s *status.Status) {
	if s := e.checkBody(); s != nil {
		return o, to, s
	}
	var options object.Object
	if len(e.Body) > 0 {
		media, s := e.contentType()
		if s != nil {
			return o, to, s
		}
		if options, s = e.s.Decoder.DeleteOptions(e.Body, media.String()); s != nil {
			return o, to, s
		}
		e.auditDeleteOptions(options)
	} else if options, s = queryDeleteOptions(e.Query); s != nil {
		return o, to, s
	}
	o, to.dryRun, s = e.s.Registry.ReadDeleteOptions(options)
	to.sent = options
	return o, to, s
}

// queryDeleteOptions parses DeleteOptions from the query of a DELETE without a body.
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
