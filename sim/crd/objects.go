package crd

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// objects is the strategy for the objects of one version of a custom resource.
type objects struct {
	version *served
	scale   any // subresources.scale, or nil
	server  *Server
}

func (o *objects) strategy(status bool, fields resource.Fields) *resource.Strategy {
	return &resource.Strategy{
		HasStatus: status, CustomStatus: true, NotDeclarative: true, DenyUnconditionalUpdate: true,
		SpecChanged:    changed,
		Validate:       func(ctx *resource.Context, obj object.Object) field.ErrorList { return o.validate(ctx, obj, nil) },
		ValidateUpdate: o.validate,
		Fields:         fields,
	}
}

// changed reports whether anything except metadata changed.
func changed(obj, old object.Object) bool {
	for _, pair := range [][2]object.Object{{obj, old}, {old, obj}} {
		for name, v := range pair[0] { // order does not matter
			w, ok := pair[1][name]
			if name != "metadata" && (!ok || !object.Equal(v, w)) {
				return true
			}
		}
	}
	return false
}

// validate returns the errors in a new or changed object, or in its status. For a new object, old is nil.
func (o *objects) validate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	s := o.version.schema
	var errs field.ErrorList
	if hub := ctx.Definition.Hub; obj.Kind() == hub.Kind && obj.APIVersion() == hub.GV() {
		errs = o.checkSchema(ctx, obj, old)
	}
	if ctx.Subresource != "status" {
		errs = append(errs, s.CheckEmbedded(map[string]any(obj), field.Path{}, o.server.Meta, metadata.Rules(ctx.Server.Minor))...)
	}
	if old == nil || len(s.CheckLists(map[string]any(old), field.Path{})) == 0 {
		errs = append(errs, s.CheckLists(map[string]any(obj), field.Path{})...)
	}
	return append(errs, o.checkRules(ctx, errs, obj, old)...)
}

// checkSchema validates an object against the schema of its version.
func (o *objects) checkSchema(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	s := o.version.schema
	var errs field.ErrorList
	switch {
	case s == nil:
	case old == nil:
		errs = s.Validate(map[string]any(obj), field.Path{})
	case ctx.Subresource == "status":
		if status, ok := obj["status"]; ok && s.Properties["status"] != nil {
			errs = s.Properties["status"].ValidateUpdate(status, old["status"], field.Root("status"))
		}
	default:
		errs = s.ValidateUpdate(map[string]any(obj), map[string]any(old), field.Path{})
	}
	return append(errs, o.checkScale(ctx.Subresource, obj)...)
}

// checkRules applies the CEL rules of the schema. If existing errors, including those in metadata, could make the rules fail, it
// returns an error that says so.
func (o *objects) checkRules(ctx *resource.Context, errs field.ErrorList, obj, old object.Object) field.ErrorList {
	if o.version.rules == nil {
		return nil
	}
	for _, e := range slices.Concat(ctx.Found, errs) {
		switch e.Type {
		case field.TypeNotSupported, field.TypeRequired, field.TypeTooLong, field.TypeTooMany, field.TypeTypeInvalid:
			return field.ErrorList{field.Invalid(field.Path{}, nil, "some validation rules were not checked because the object was invalid; "+
				"correct the existing errors to complete validation")}
		}
	}
	var was *structural.Correlation
	if old != nil {
		was = structural.Correlate(o.version.schema, map[string]any(obj), map[string]any(old))
	}
	budget := int64(expr.RuleBudget)
	found, ratcheted := o.version.rules.Validate(map[string]any(obj), was, field.Path{}, &budget)
	for _, e := range ratcheted {
		ctx.Warn(e.Field.String() + ": " + e.ErrorBody())
	}
	return found
}

// checkScale checks the fields of an object that the scale subresource uses.
func (o *objects) checkScale(subresource string, obj object.Object) field.ErrorList {
	scale := object.As(o.scale)
	if scale == nil {
		return nil
	}
	var errs field.ErrorList
	if subresource != "status" {
		errs = append(errs, checkReplicas(obj, scale.String("specReplicasPath"))...)
	}
	errs = append(errs, checkReplicas(obj, scale.String("statusReplicasPath"))...)
	if path := scale.String("labelSelectorPath"); path != "" {
		v, found, bad := at(obj, path)
		if _, ok := v.(string); found && !ok && bad == "" {
			bad = accessor(path, v, "string")
		}
		if bad != "" {
			errs = append(errs, field.Invalid(field.Root(path), "", bad))
		}
	}
	return errs
}

func checkReplicas(obj object.Object, path string) field.ErrorList {
	v, found, bad := at(obj, path)
	n, ok := v.(int64)
	if found && !ok && bad == "" {
		bad = accessor(path, v, "int64")
	}
	switch p := field.Root(path); {
	case bad != "":
		return field.ErrorList{field.Invalid(p, int64(0), bad)}
	case n < 0:
		return field.ErrorList{field.Invalid(p, n, "should be a non-negative integer")}
	case n > math.MaxInt32:
		return field.ErrorList{field.Invalid(p, n, "should be less than or equal to "+strconv.Itoa(math.MaxInt32))}
	}
	return nil
}

// at returns the value at a path of field names. If a value on the path is not an object, bad is the error text.
func at(obj object.Object, path string) (v any, found bool, bad string) {
	v = map[string]any(obj)
	names := strings.Split(strings.TrimPrefix(path, "."), ".")
	for i, name := range names {
		if v == nil {
			return nil, false, ""
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false, accessor(strings.Join(names[:i+1], "."), v, "map[string]interface{}")
		}
		if v, found = m[name]; !found {
			return nil, false, ""
		}
	}
	return v, true, ""
}

// accessor returns the error text that the real server's accessors for unstructured objects return for a value of the wrong type.
func accessor(path string, v any, want string) string {
	return fmt.Sprintf(".%s accessor error: %v is of the type %T, expected %s", strings.TrimPrefix(path, "."), v, v, want)
}
