package codec

import (
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
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

// DeleteOptions reads the body of a DELETE. The kind counts, whatever the group and version: clients of a custom resource
// name its group (apimachinery, meta/internalversion: options are unversioned types). A body without a kind is one, too. Unknown
// and repeated fields are dropped in silence.
func (d *Decoder) DeleteOptions(data []byte, mediaType string) (object.Object, *status.Status) {
	want := schema.GVK{Group: "meta.k8s.io", Version: "v1", Kind: "DeleteOptions"}
	b := &body{data: data, want: want}
	obj, err := d.deleteOptions(b, mediaType)
	if err != nil {
		return nil, status.BadRequest("%v", err)
	}
	obj["kind"], obj["apiVersion"] = b.gvk.Kind, b.gvk.GV()
	return obj, nil
}

func (d *Decoder) deleteOptions(b *body, mediaType string) (object.Object, error) {
	if err := b.open(mediaType); err != nil {
		return nil, err
	}
	kinds := func(gvk schema.GVK) *schema.Type {
		if withDefaults(gvk, b.want).Kind != b.want.Kind {
			return nil
		}
		return d.Kinds(schema.GVK{Version: "v1", Kind: "DeleteOptions"})
	}
	if b.proto {
		obj, gvk, err := DecodeProto(b.data, kinds)
		b.gvk = withDefaults(gvk, b.want)
		if errors.Is(err, ErrNoKind) {
			err = noKind(b.gvk)
		}
		return obj, err
	}
	t := kinds(b.gvk)
	if goType := metaType(b.gvk); t == nil && goType != "" {
		return nil, fmt.Errorf("converting (%s) to (v1.DeleteOptions): unknown conversion", goType)
	} else if t == nil {
		return nil, noKind(b.gvk)
	}
	obj, _, err := decode(b.json, t)
	return obj, err
}

// metaType returns the Go type of another kind that the reader of options knows: the unversioned kinds in every group and version,
// the rest of meta.k8s.io in its own. Otherwise it returns "".
func metaType(gvk schema.GVK) string {
	const meta = "meta.k8s.io"
	switch gvk.Kind {
	case "CreateOptions", "UpdateOptions", "Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList":
		return "v1." + gvk.Kind
	case "WatchEvent", "ListOptions", "GetOptions", "PatchOptions":
		if gvk.Group == meta && gvk.Version == "v1" {
			return "v1." + gvk.Kind
		}
	case "Table", "TableOptions", "PartialObjectMetadata":
		if gvk.Group == meta && (gvk.Version == "v1" || gvk.Version == "v1beta1") {
			return "v1." + gvk.Kind
		}
	case "PartialObjectMetadataList":
		if gvk.Group == meta && (gvk.Version == "v1" || gvk.Version == "v1beta1") {
			return gvk.Version + "." + gvk.Kind
		}
	}
	return ""
}
