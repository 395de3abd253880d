package apiserver

import (
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// apply merges an applied configuration into the current object (API concepts, "Server-side apply").
func (p *patcher) apply(current object.Object) (object.Object, *status.Status) {
	config, s := p.configuration()
	if s != nil {
		return nil, s
	}
	if p.e.foreign() && len(current.List("metadata", "managedFields")) == 0 {
		return nil, p.unconvertible("failed to create manager for existing fields: failed to convert live object", "", "")
	}
	reg := p.e.s.Registry
	obj, changed, s := reg.Fields.Apply(p.e.definition(), current, config, reg.By(p.q), p.o.force)
	if s != nil {
		return nil, s
	}
	if p.e.foreign() && !sameButFields(current, obj) {
		return nil, p.unconvertible("failed to convert new object", config.Namespace(), config.Name())
	}
	if err := registry.Hold(p.e.definition(), obj); err != nil {
		return nil, status.Plain("failed to convert to unversioned (%s/%s; %s): %v", config.Namespace(), config.Name(), p.e.kindOf(), err)
	}
	if s := p.checkRepeatedKeys(); s != nil {
		return nil, s
	}
	if !changed {
		return obj, nil // not even defaults are filled in
	}
	if form := p.e.definition().StorageCodec; form != nil && p.e.kindOf() == p.e.definition().GVK {
		form.Fill(obj)
	} else {
		p.e.setDefaults(obj)
	}
	return obj, nil
}

// unconvertible returns the error of an apply to the Scale of a custom resource: its merger can convert custom resources only, so
// that an apply of a Scale succeeds only if it changes nothing.
func (p *patcher) unconvertible(failure, namespace, name string) *status.Status {
	kind := p.e.kindOf()
	return status.Plain("%s (%s/%s; %s) to proper version: request to convert CR to an invalid group/version: %s",
		failure, namespace, name, kind, kind.GV())
}

// sameButFields reports whether two objects differ in nothing but their managedFields.
func sameButFields(a, b object.Object) bool {
	a, b = a.Copy(), b.Copy()
	a.Remove("metadata", "managedFields")
	b.Remove("metadata", "managedFields")
	return object.SemanticEqual(map[string]any(a), map[string]any(b))
}

// checkRepeatedKeys returns an error for repeated keys in the configuration, after the merge: conflicts come first.
func (p *patcher) checkRepeatedKeys() *status.Status {
	if p.plain {
		return nil
	}
	_, repeated, _ := codec.DecodeYAML(p.e.Body, nil) // it was read before
	switch {
	case len(repeated) == 0:
	case p.o.level == codec.Strict:
		return status.BadRequest("error strict decoding %s: error converting YAML to JSON: %s", p.bodyWord(), repeated[0])
	case p.o.level == codec.Warn:
		p.e.warnings = append(p.e.warnings, codec.Warnings(repeated)...)
	}
	return nil
}

// configuration reads the applied configuration, which is YAML, or JSON as part of it.
func (p *patcher) configuration() (object.Object, *status.Status) {
	config, plain := codec.PlainJSON(p.e.Body)
	if p.plain = plain; !plain {
		data, err := codec.YAMLToJSON(p.e.Body)
		if err != nil {
			return nil, status.BadRequest("error decoding %s: error converting YAML to JSON: %v", p.bodyWord(), err)
		}
		if _, _, err := codec.DecodeJSON(data, nil); err != nil {
			return nil, status.BadRequest("error decoding %s: error unmarshaling JSON: while decoding JSON: %v", p.bodyWord(), err)
		}
		if config, err = object.Parse(data); err != nil {
			config = object.Object{}
		}
	}
	if have, want := parseGVK(config), p.e.kindOf(); have != want {
		return nil, status.BadRequest("invalid object type: %s", have)
	}
	if list, ok := config.Metadata()["managedFields"].([]any); ok { // malformed entries are left to the schema
		entries := map[string]any{"managedFields": object.Copy(list)}
		if _, _, err := codec.Convert(entries, p.e.s.Decoder.Meta); err == nil {
			return nil, status.BadRequest("metadata.managedFields must be nil")
		}
	}
	return config, nil
}

// bodyWord is the name of an applied configuration in errors: since 1.37 it may be something other than YAML.
func (p *patcher) bodyWord() string {
	if p.e.s.Registry.Server.Since(37) {
		return "patch"
	}
	return "YAML"
}

// parseGVK returns the kind of an object, or none if its apiVersion is malformed.
func parseGVK(obj object.Object) schema.GVK {
	if strings.Count(obj.APIVersion(), "/") > 1 {
		return schema.GVK{}
	}
	return schema.ParseGVK(obj.APIVersion(), obj.Kind())
}
