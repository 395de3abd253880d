package crd

import (
	"errors"
	"fmt"
	"maps"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Converter converts an object to another API version. It may modify and return its argument. Clients can see the text of its
// error.
type Converter func(obj object.Object, apiVersion string) (object.Object, error)

// failure returns the error for a failed conversion, in the wording of the real server.
func failure(kind schema.GVK, format string, args ...any) error {
	return fmt.Errorf("conversion webhook for %v "+format, append([]any{kind}, args...)...)
}

// convert converts an object to another version, with the function registered for the definition or else as spec.conversion
// specifies. It may modify obj.
func (d *definition) convert(by resource.Asker, obj object.Object, apiVersion string) (object.Object, error) {
	return d.convertBy(d.ask(by), obj, apiVersion)
}

// convertBy is like convert, but calls webhook instead of the definition's webhook.
func (d *definition) convertBy(webhook Converter, obj object.Object, apiVersion string) (object.Object, error) {
	from := obj.APIVersion()
	if from == apiVersion {
		return obj, nil
	}
	for _, version := range []struct{ gv, word string }{{apiVersion, "to"}, {from, "from"}} {
		if d.versions[version.gv] == nil {
			return nil, errors.New("request to convert CR " + version.word + " an invalid group/version: " + version.gv)
		}
	}
	converter := d.converter(webhook)
	if _, named := obj["kind"]; converter == nil || named && len(obj) == 2 { // an object with only kind and apiVersion is not sent to a webhook
		obj["apiVersion"] = apiVersion
		return obj, nil
	}
	kind := schema.ParseGVK(from, obj.Kind())
	converted, err := converter(object.Copy(map[string]any(obj)).(map[string]any), apiVersion)
	if err != nil {
		return nil, err
	}
	return checkConverted(kind, obj, converted, apiVersion)
}

// converter returns the function that the Host has registered for the definition or, if there is none, webhook. If it returns nil,
// conversion changes only apiVersion.
func (d *definition) converter(webhook Converter) Converter {
	if host := d.server.Host; host != nil {
		if convert := host.Converter(d.name); convert != nil {
			return func(obj object.Object, apiVersion string) (object.Object, error) {
				kind := schema.ParseGVK(obj.APIVersion(), obj.Kind())
				converted, err := convert(obj, apiVersion)
				if err != nil {
					return nil, failure(kind, "failed: %v", err)
				}
				return converted, nil
			}
		}
	}
	if d.conversion.String("strategy") != "Webhook" {
		return nil
	}
	return webhook
}

// checkConverted checks that a conversion returned the same object, and copies the original metadata to the result. A conversion
// can only change labels and annotations.
func checkConverted(kind schema.GVK, obj, converted object.Object, apiVersion string) (object.Object, error) {
	if got := converted.APIVersion(); got != apiVersion {
		return nil, failure(kind, "returned invalid object at index 0: invalid groupVersion (expected %v, received %v)", apiVersion, got)
	}
	if got := converted.Kind(); got != obj.Kind() {
		return nil, failure(kind, "returned invalid object at index 0: invalid kind (expected %v, received %v)", obj.Kind(), got)
	}
	for _, f := range []struct{ name, was, is string }{
		{"name", obj.Name(), converted.Name()}, {"namespace", obj.Namespace(), converted.Namespace()}, {"UID", obj.UID(), converted.UID()},
	} {
		if f.was != f.is {
			return nil, failure(kind, "returned invalid object: must have the same %s: %v != %v", f.name, f.was, f.is)
		}
	}
	if err := restoreMeta(obj, converted); err != nil {
		return nil, failure(kind, "returned invalid metadata: %v", err)
	}
	return converted, nil
}

func restoreMeta(obj, converted object.Object) error {
	v, found := converted["metadata"]
	changed, ok := v.(map[string]any)
	switch {
	case !found:
		return errors.New("missing metadata in converted object")
	case !ok:
		return fmt.Errorf("invalid metadata of type %T in converted object", v)
	}
	meta := map[string]any{}
	maps.Copy(meta, obj.Metadata())
	for _, name := range []string{"labels", "annotations"} {
		v := changed[name]
		if v == nil {
			delete(meta, name)
			continue
		}
		m, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, v)
		}
		for _, key := range object.SortedKeys(m) {
			if _, ok := m[key].(string); !ok {
				return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, key, m[key])
			}
		}
		if err := checkStrings(name, m, meta[name]); err != nil {
			return err
		}
		meta[name] = m
	}
	converted["metadata"] = meta
	return nil
}

// checkStrings checks the labels or annotations that a conversion returned, if they changed.
func checkStrings(name string, m map[string]any, before any) error {
	if object.Equal(m, before) {
		return nil
	}
	var errs field.ErrorList
	if name == "labels" {
		errs = field.CheckLabels(field.Root("metadata.labels"), m)
	} else {
		errs = metadata.Annotations(m, field.Root("metadata.annotation"))
	}
	if len(errs) > 0 {
		return errors.New(errs.Text())
	}
	return nil
}
