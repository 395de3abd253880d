package codec

import (
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Patched reads JSON that a patch made of an object of the kind want. t is the kind's type, nil for custom resources. before
// is the item that was patched, or nil (Changed).
//
// A patch may take away the kind, which is then that of the path, but not the apiVersion: without one the real server
// reads into its internal struct, which knows nothing but the fields of metadata, and those at the top.
func (d *Decoder) Patched(data []byte, want schema.GVK, t *schema.Type, before *resource.Item) (
	obj object.Object, strict []string, err error) {
	if t == nil {
		return d.Decode(data, want, t)
	}
	obj, strict, err = newDecoder(object.Text(data), before).document(t)
	if err != nil || len(strict) > 0 || schema.ParseGVK(obj.APIVersion(), obj.Kind()) != want {
		obj, strict, err = d.patchedKind(data, want)
	}
	if err != nil {
		return nil, nil, err
	}
	obj["apiVersion"], obj["kind"] = want.GV(), want.Kind
	return obj, strict, nil
}

// patchedKind is Patched for an object that need not be of the kind want.
func (d *Decoder) patchedKind(data []byte, want schema.GVK) (obj object.Object, strict []string, err error) {
	gvk, err := typeMeta(string(data))
	if err != nil {
		return nil, nil, err
	}
	if gvk.Kind == "" {
		gvk.Kind = want.Kind
	}
	if gvk.Version == "" && (gvk.Group == "" || gvk.Group == want.Group) {
		gvk.Group, gvk.Version = want.Group, unversioned
	}
	if gvk == (schema.GVK{Group: want.Group, Version: unversioned, Kind: want.Kind}) {
		return d.unversioned(data)
	}
	if gvk.Version == "" {
		return nil, nil, errors.New("Object 'apiVersion' is missing in '" + string(data) + "'")
	}
	t := d.known(gvk, want)
	if t == nil {
		return nil, nil, noKind(gvk)
	}
	if obj, strict, err = DecodeJSON(data, t); err != nil {
		return nil, nil, err
	}
	if to := InternalType(want); InternalType(gvk) != to {
		return nil, nil, fmt.Errorf("converting (%s) to (%s): unknown conversion", t.GoType, to)
	}
	return obj, strict, nil
}

// Mutated reads JSON that a mutating webhook made of an object of the kind want. t is the kind's type, nil for custom resources,
// whose metadata stays as it is. The kind may be missing, and stays so. layout is the type of obj. If obj is of another kind, the
// error is an OtherKindError and obj is valid.
func (d *Decoder) Mutated(data []byte, want schema.GVK, t *schema.Type) (obj object.Object, layout *schema.Type, err error) {
	if t == nil {
		if obj, _, err = DecodeJSON(data, nil); err == nil {
			_, err = ownKind(obj, data)
		}
		return obj, nil, err
	}
	gvk, err := typeMeta(string(data))
	if err != nil {
		return nil, nil, err
	}
	gvk = withDefaults(gvk, want)
	if gvk.Version == "" {
		return nil, nil, errors.New("Object 'apiVersion' is missing in '" + string(data) + "'")
	}
	if t = d.known(gvk, want); t == nil {
		return nil, nil, noKind(gvk)
	}
	if obj, _, err = DecodeJSON(data, t); err != nil {
		return nil, nil, err
	}
	if to := InternalType(want); InternalType(gvk) != to {
		err = OtherKindError(fmt.Sprintf("converting (%s) to (%s): unknown conversion", t.GoType, to))
	}
	return obj, t, err
}

// OtherKindError is the error of an object that a mutating webhook has made one of another kind.
type OtherKindError string

// Error implements error.
func (e OtherKindError) Error() string { return string(e) }

// MutatedStrictly reads JSON that the patch of a mutating policy made of an object of the kind want. t is the kind's type, nil for custom
// resources. Unlike Patched it takes an object without apiVersion for one of the version of want, and unknown fields are errors.
func (d *Decoder) MutatedStrictly(data []byte, want schema.GVK, t *schema.Type) (object.Object, error) {
	if t == nil {
		obj, _, err := d.Decode(data, want, t)
		return obj, err
	}
	gvk, err := typeMeta(string(data))
	if err != nil {
		return nil, err
	}
	if gvk.Kind == "" {
		gvk.Kind = want.Kind
	}
	if gvk.Version == "" && (gvk.Group == "" || gvk.Group == want.Group) {
		gvk.Group, gvk.Version = want.Group, want.Version
	}
	if gvk != want {
		if t = d.known(gvk, want); t == nil {
			return nil, noKind(gvk)
		}
	}
	obj, strict, err := DecodeJSON(data, t)
	switch {
	case err != nil:
		return nil, err
	case len(strict) > 0:
		return nil, errors.New(StrictError(strict))
	case gvk != want:
		return nil, fmt.Errorf("failed to convert object: converting (%s) to (%s): unknown conversion", t.GoType, InternalType(want))
	}
	obj["apiVersion"], obj["kind"] = want.GV(), want.Kind
	return obj, nil
}

// unversioned reads into the internal struct of a kind.
func (d *Decoder) unversioned(data []byte) (obj object.Object, strict []string, err error) {
	kind := schema.Field{Name: "kind", Type: stringType, OmitEmpty: true}
	apiVersion := schema.Field{Name: "apiVersion", Type: stringType, OmitEmpty: true}
	fields := append([]schema.Field{kind, apiVersion}, d.Meta.Fields...)
	meta, strict, err := DecodeJSON(data, schema.NewStruct("", "", fields))
	delete(meta, "kind")
	delete(meta, "apiVersion")
	return object.Object{"metadata": map[string]any(meta)}, strict, err
}

// ownKind returns the kind in a custom resource. The kind is required; the apiVersion may be missing.
func ownKind(obj object.Object, data []byte) (schema.GVK, error) {
	gvk, err := parseGVK(obj.APIVersion(), obj.Kind())
	if err == nil && gvk.Kind == "" {
		return schema.GVK{}, errors.New("Object 'Kind' is missing in '" + string(data) + "'")
	}
	return gvk, err
}
