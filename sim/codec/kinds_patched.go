package codec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Patched decodes the result of patching an object of the kind want. t is the kind's type, or nil for a custom resource. before is
// the item that was patched, or nil (see Changed).
//
// If a patch removes the kind, the kind of the path is used. If it removes the apiVersion, the real server decodes into its
// internal struct, whose only JSON fields are those of the metadata, at the top level.
func (d *Decoder) Patched(data []byte, want schema.GVK, t *schema.Type, before *resource.Item) (
	obj object.Object, strict []string, err error) {
	if t == nil {
		return d.Decode(data, want, t)
	}
	reader := newDecoder(object.Text(data), before)
	obj, strict, err = reader.document(t)
	if err != nil || len(strict) > 0 || schema.ParseGVK(obj.APIVersion(), obj.Kind()) != want {
		obj, strict, err = d.patchedKind(data, want)
	}
	if err != nil {
		return nil, nil, err
	}
	obj["apiVersion"], obj["kind"] = want.GV(), want.Kind
	return obj, strict, nil
}

// patchedKind is Patched without the check that the result has kind want.
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
		if gvk.Group == "events.k8s.io" {
			gvk.Group = "" // the internal Event is in the core group
		}
	}
	if gvk.Version == unversioned {
		return d.unversioned(data, gvk, want)
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

// Mutated decodes an object of the kind want after a mutating webhook has changed it. t is the kind's type, or nil for a custom
// resource, whose metadata is not decoded. The kind may be missing, and is then not added. layout is the type of obj. If obj has
// another kind, the error is an OtherKindError and obj is valid.
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

// OtherKindError is the error for an object whose kind a mutating webhook has changed.
type OtherKindError string

// Error implements error.
func (e OtherKindError) Error() string { return string(e) }

// MutatedStrictly decodes an object of the kind want after the patch of a mutating policy. t is the kind's type, or nil for a
// custom resource. Unlike Patched, it uses the version of want if the object has no apiVersion, and unknown fields are errors.
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

// unversioned decodes data into the internal struct of the kind gvk. It returns an error if that is not the internal struct of
// want.
func (d *Decoder) unversioned(data []byte, gvk, want schema.GVK) (obj object.Object, strict []string, err error) {
	t := d.internal(gvk)
	if t == nil {
		return nil, nil, noKind(gvk)
	}
	meta, strict, err := DecodeJSON(data, t)
	if err != nil {
		return nil, nil, err
	}
	if to := InternalType(want); t.GoType != to {
		return nil, nil, fmt.Errorf("converting (%s) to (%s): unknown conversion", t.GoType, to)
	}
	delete(meta, "kind")
	delete(meta, "apiVersion")
	return object.Object{"metadata": map[string]any(meta)}, strict, nil
}

// internal returns the internal struct of a kind, or nil if the kind is not registered. The result has only the fields with JSON
// names: those of TypeMeta and of the metadata, which are embedded. The real server also decodes the others, by their Go names
// ("Data").
func (d *Decoder) internal(gvk schema.GVK) *schema.Type {
	versions := d.Schema.Versions(gvk.Group, gvk.Kind)
	goType := InternalType(gvk)
	switch {
	case slices.Contains(unversionedKinds, gvk.Kind):
		versions, goType = nil, "v1."+gvk.Kind
	case gvk.Kind == "WatchEvent":
		versions, goType = nil, "v1.InternalEvent"
	case len(versions) == 0, isOptions(gvk.Kind):
		return nil
	}
	fields := []schema.Field{
		{Name: "kind", Type: stringType, OmitEmpty: true},
		{Name: "apiVersion", Type: stringType, OmitEmpty: true},
	}
	for _, v := range versions {
		if t := d.Schema.Kind(schema.GVK{Group: gvk.Group, Version: v, Kind: gvk.Kind}); t != nil {
			if meta := t.Field("metadata"); meta != nil {
				fields = append(fields, meta.Type.Fields...)
			}
			break
		}
	}
	return schema.NewStruct(unversioned, goType, fields)
}

// metaName returns the Go name of the metadata struct that is embedded in an internal struct.
func metaName(internal *schema.Type) string {
	if strings.HasSuffix(internal.GoType, "List") {
		return "ListMeta"
	}
	return "ObjectMeta"
}

// isOptions reports whether a kind is one of the options that metav1.AddToGroupVersion registers in every version of a group, but
// not in the internal version.
func isOptions(kind string) bool {
	return slices.Contains([]string{"CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions"}, kind)
}

// ownKind returns the kind of a custom resource. It returns an error if the kind is missing, but not if the apiVersion is.
func ownKind(obj object.Object, data []byte) (schema.GVK, error) {
	gvk, err := parseGVK(obj.APIVersion(), obj.Kind())
	if err == nil && gvk.Kind == "" {
		return schema.GVK{}, errors.New("Object 'Kind' is missing in '" + string(data) + "'")
	}
	return gvk, err
}

// DeleteOptions decodes the body of a DELETE. Its kind must be DeleteOptions or missing, in any group and version, because clients
// of a custom resource use its group (apimachinery, meta/internalversion: options are unversioned types). Unknown and repeated
// fields are dropped without a warning.
func (d *Decoder) DeleteOptions(data []byte, mediaType string) (object.Object, *status.Status) {
	want := schema.GVK{Group: "meta.k8s.io", Version: "v1", Kind: "DeleteOptions"}
	b := &body{data: data, want: want, cbor: d.CBOR}
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
		return d.Schema.Kind(schema.GVK{Version: "v1", Kind: "DeleteOptions"})
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

// metaType returns the Go type of another kind that the server can decode as options: unversioned kinds in every group and version,
// and other kinds of meta.k8s.io in that group. It returns "" for all other kinds.
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
