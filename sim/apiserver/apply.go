package apiserver

import (
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// apply merges an applied configuration into the current object (API concepts, "Server-side apply").
func (p *patcher) apply(current object.Object) (object.Object, *status.Status) {
	config, s := p.configuration()
	if s != nil {
		return nil, s
	}
	reg := p.c.s.Registry
	obj, s := reg.Fields.Apply(p.c.definition(), current, config, reg.By(p.q), p.o.force)
	if s != nil {
		return nil, s
	}
	if s := p.checkRepeatedKeys(); s != nil {
		return nil, s
	}
	p.c.setDefaults(obj)
	return obj, nil
}

// checkRepeatedKeys complains about keys that the configuration has twice, after the merge: conflicts come first.
func (p *patcher) checkRepeatedKeys() *status.Status {
	if p.plain {
		return nil
	}
	_, repeated, _ := codec.DecodeYAML(p.c.q.Body, nil) // it was read before
	switch {
	case len(repeated) == 0:
	case p.o.level == codec.Strict:
		return status.BadRequest("error strict decoding YAML: error converting YAML to JSON: %s", repeated[0])
	case p.o.level == codec.Warn:
		for _, text := range codec.Warnings(repeated) {
			p.c.warn(text)
		}
	}
	return nil
}

// configuration reads the applied configuration, which is YAML, or JSON as part of it.
func (p *patcher) configuration() (object.Object, *status.Status) {
	config, plain := codec.PlainJSON(p.c.q.Body)
	if p.plain = plain; !plain {
		data, err := codec.YAMLToJSON(p.c.q.Body)
		if err != nil {
			return nil, status.BadRequest("error decoding YAML: error converting YAML to JSON: %v", err)
		}
		if config, err = object.Parse(data); err != nil {
			config = object.Object{}
		}
	}
	if have, want := parseGVK(config), p.c.kindOf(); have != want {
		return nil, status.BadRequest("invalid object type: %s", have)
	}
	if managed, ok := config.Get("metadata", "managedFields"); ok && managed != nil {
		return nil, status.BadRequest("metadata.managedFields must be nil")
	}
	return config, nil
}

func parseGVK(obj object.Object) schema.GVK { return schema.ParseGVK(obj.APIVersion(), obj.Kind()) }
