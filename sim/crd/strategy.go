package crd

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Defaults sets the defaults of a definition: derived names, the conversion strategy None, the port of a webhook, and
// status.storedVersions if it is empty.
func Defaults(crd object.Object) {
	kind := crd.String("spec", "names", "kind")
	if crd.Map("spec") == nil {
		return
	}
	if kind != "" || crd.Map("spec", "names") != nil {
		if crd.String("spec", "names", "singular") == "" && kind != "" {
			crd.Set(strings.ToLower(kind), "spec", "names", "singular")
		}
		if crd.String("spec", "names", "listKind") == "" && kind != "" {
			crd.Set(kind+"List", "spec", "names", "listKind")
		}
	}
	if crd.Map("spec", "conversion") == nil {
		crd.Set(map[string]any{"strategy": "None"}, "spec", "conversion")
	}
	if hook := crd.Map("spec", "conversion", "webhook"); hook != nil && hook["clientConfig"] == nil && hook["conversionReviewVersions"] == nil {
		crd.Remove("spec", "conversion", "webhook") // the server's internal form of a definition does not have it
	}
	if config := crd.At("spec", "conversion", "webhook", "clientConfig"); config.Map("service") != nil {
		config.SetDefault(int64(443), "service", "port")
	}
	if len(crd.List("status", "storedVersions")) == 0 {
		if name := specOf(crd).storageVersion(); name != "" {
			crd.Set([]any{name}, "status", "storedVersions")
		}
	}
}

// Strategy returns the strategy for definitions. It uses meta to decode metadata in the defaults of schemas.
func Strategy(meta structural.Meta) *resource.Strategy {
	return &resource.Strategy{
		HasStatus: true, NotDeclarative: true, DenyUnconditionalUpdate: true, AnyFinalizers: true,
		NameRuleOf:  nameRule,
		SpecChanged: specChanged,
		PrepareForCreate: func(_ *resource.Context, obj object.Object) {
			obj["status"] = map[string]any{}
			storeVersion(obj)
		},
		PrepareForUpdate: func(ctx *resource.Context, obj, _ object.Object) {
			if ctx.Subresource == "" {
				storeVersion(obj)
			}
		},
		Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
			return newValidator(ctx, obj, nil, meta).validate()
		},
		ValidateUpdate: func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
			if ctx.Subresource == "status" {
				at := field.CursorAt(obj, nil, "status", "acceptedNames")
				checkNames(at)
				return at.Errors()
			}
			return newValidator(ctx, obj, old, meta).validate()
		},
		Warn: func(ctx *resource.Context, obj, old object.Object) {
			if ctx.Subresource != "" {
				return
			}
			var before []string
			if old != nil {
				before = specOf(old).warnings(ctx.Server.Minor)
			}
			for _, text := range specOf(obj).warnings(ctx.Server.Minor) {
				if !slices.Contains(before, text) {
					ctx.Warn(text)
				}
			}
		},
		FirstDelete: func(ctx *resource.Context, obj object.Object, _ resource.Propagation) {
			SetCondition(obj, ctx.Now, Terminating, "True", "InstanceDeletionPending",
				"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
			if names := obj.Finalizers(); !slices.Contains(names, CleanupFinalizer) {
				obj.SetFinalizers(append(names, CleanupFinalizer))
			}
		},
	}
}

// storeVersion adds the storage version to status.storedVersions, because objects may be stored in that version from now on.
func storeVersion(obj object.Object) {
	s := specOf(obj)
	i := slices.IndexFunc(s.versions, func(v *version) bool { return v.storage })
	if i < 0 {
		return
	}
	name, stored := s.versions[i].name, obj.List("status", "storedVersions")
	if !slices.Contains(object.Strings(stored), name) {
		obj.Set(append(slices.Clip(stored), name), "status", "storedVersions")
	}
}

// specChanged reports whether the specs differ after both are decoded from JSON. In a request, a minimum of 1 is a
// float64, because the API type is number; in a stored definition it is an int64.
func specChanged(obj, old object.Object) bool {
	if sameSpec(obj["spec"], old["spec"]) {
		return false
	}
	sent, err := object.Parse(object.JSON(map[string]any{"spec": obj["spec"]}))
	stored, err2 := object.Parse(object.JSON(map[string]any{"spec": old["spec"]}))
	return err != nil || err2 != nil || !sameSpec(sent["spec"], stored["spec"])
}

// mapFields are the fields of a definition in which {} equals a missing field. In all other fields {} is a value: status:
// {}, default: {}, items: {}.
var mapFields = []string{"properties", "patternProperties", "definitions", "dependencies"}

// sameSpec reports whether two parts of a spec are semantically equal. null and [] equal missing fields (equality.Semantic of the
// server's internal form of a definition).
func sameSpec(a, b any) bool {
	m, isMap := a.(map[string]any)
	n, both := b.(map[string]any)
	if !isMap || !both {
		l, isList := a.([]any)
		k, bothLists := b.([]any)
		if !isList || !bothLists {
			return object.Equal(a, b)
		}
		return slices.EqualFunc(l, k, sameSpec)
	}
	for name, x := range m { // order does not matter
		if y := n[name]; (differsFromAbsent(name, x) || differsFromAbsent(name, y)) && !sameSpec(x, y) {
			return false
		}
	}
	for name, y := range n { // order does not matter
		if _, ok := m[name]; !ok && differsFromAbsent(name, y) {
			return false
		}
	}
	return true
}

// differsFromAbsent reports whether the value of a field differs from a missing field.
func differsFromAbsent(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case []any:
		return len(v) > 0 || name == "default" || name == "example"
	case map[string]any:
		return len(v) > 0 || !slices.Contains(mapFields, name)
	}
	return true
}
