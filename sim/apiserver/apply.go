package apiserver

import (
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// apply returns the current object, or nil, merged with the applied configuration (API concepts, "Server-side apply").
func (p *patcher) apply(current object.Object) (object.Object, *status.Status) {
	config, s := p.configuration()
	if s != nil {
		return nil, s
	}
	if p.e.isCustomScale() && len(current.List("metadata", "managedFields")) == 0 {
		return nil, p.unconvertible("failed to create manager for existing fields: failed to convert live object", "", "")
	}
	reg := p.e.s.Registry
	obj, changed, s := reg.Fields.Apply(p.e.definition(), current, config, reg.By(p.q), p.o.force)
	if s != nil {
		return nil, s
	}
	if p.e.isCustomScale() && !sameButFields(current, obj) {
		return nil, p.unconvertible("failed to convert new object", config.Namespace(), config.Name())
	}
	if err := registry.Hold(p.e.definition(), obj); err != nil {
		return nil, status.Plain("failed to convert to unversioned (%s/%s; %s): %v", config.Namespace(), config.Name(), p.e.kindOf(), err)
	}
	if s := p.checkRepeatedKeys(); s != nil {
		return nil, s
	}
	if !changed {
		return obj, nil // the defaults are not set either
	}
	if form := p.e.definition().StorageCodec; form != nil && p.e.kindOf() == p.e.definition().GVK {
		form.Fill(obj)
	} else {
		p.e.setDefaults(obj)
	}
	return obj, nil
}

// unconvertible returns the error for applying a Scale of a custom resource. The real server's merger converts only custom
// resources, so such an apply succeeds only if it changes nothing.
func (p *patcher) unconvertible(failure, namespace, name string) *status.Status {
	kind := p.e.kindOf()
	return status.Plain("%s (%s/%s; %s) to proper version: request to convert CR to an invalid group/version: %s",
		failure, namespace, name, kind, kind.GV())
}

// sameButFields reports whether two objects are equal except for their managedFields.
func sameButFields(a, b object.Object) bool {
	a, b = a.Copy(), b.Copy()
	a.Remove("metadata", "managedFields")
	b.Remove("metadata", "managedFields")
	return object.SemanticEqual(map[string]any(a), map[string]any(b))
}

// checkRepeatedKeys returns an error for repeated keys in the configuration. It runs after the merge, so conflicts are reported
// first.
func (p *patcher) checkRepeatedKeys() *status.Status {
	if p.plain {
		return nil
	}
	body, _ := p.e.patchText()
	_, repeated, _ := codec.DecodeYAML(body, nil) // cannot fail: the body has already been decoded
	switch {
	case len(repeated) == 0:
	case p.o.level == codec.Strict:
		return status.BadRequest("error strict decoding %s: error converting YAML to JSON: %s", p.bodyWord(), repeated[0])
	case p.o.level == codec.Warn:
		p.e.warnings = append(p.e.warnings, codec.Warnings(repeated)...)
	}
	return nil
}

// patchText returns the JSON or YAML of a patch, which may have been sent as CBOR.
func (e *Exchange) patchText() ([]byte, error) {
	if patch.IsCBOR(e.Header.Get("Content-Type")) {
		return e.s.Decoder.CBOR.ToJSON(e.Body, "map[string]interface {}")
	}
	return e.Body, nil
}

// configuration decodes the applied configuration, which is YAML or JSON.
func (p *patcher) configuration() (object.Object, *status.Status) {
	body, err := p.e.patchText()
	if err != nil {
		return nil, status.BadRequest("error decoding %s: %v", p.bodyWord(), err)
	}
	config, plain := codec.PlainJSON(body)
	if p.plain = plain; !plain {
		data, err := codec.YAMLToJSON(body)
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
	if list, ok := config.Metadata()["managedFields"].([]any); ok { // the schema rejects malformed entries
		entries := map[string]any{"managedFields": object.Copy(list)}
		if _, _, err := codec.Convert(entries, p.e.s.Decoder.Meta); err == nil {
			return nil, status.BadRequest("metadata.managedFields must be nil")
		}
	}
	return config, nil
}

// bodyWord returns the name of an applied configuration in error messages. Since 1.37, it may be in a format other than YAML.
func (p *patcher) bodyWord() string {
	if p.e.s.Registry.Server.Since(37) {
		return "patch"
	}
	return "YAML"
}

// parseGVK returns the kind of an object, or the zero value if its apiVersion is malformed.
func parseGVK(obj object.Object) schema.GVK {
	if strings.Count(obj.APIVersion(), "/") > 1 {
		return schema.GVK{}
	}
	return schema.ParseGVK(obj.APIVersion(), obj.Kind())
}
