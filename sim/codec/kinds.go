package codec

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Decoder decodes the bodies of requests.
type Decoder struct {
	// Schema has the built-in kinds. It may be nil for a decoder of custom resources only.
	Schema *schema.Set

	// CBOR decodes CBOR bodies. If it is nil, there are none.
	CBOR CBORCodec

	// Unstructured reports whether a kind that Schema does not have is a custom resource. If it is nil, there are none.
	Unstructured func(schema.GVK) bool

	// Meta is the type of the metadata of custom resources.
	Meta *schema.Type

	// Prune removes fields that are not in the schema of a custom resource, and returns their paths in the order in which they are
	// reported. If it is nil, nothing is removed.
	Prune func(schema.GVK, object.Object) ([]string, error)
}

// body is a request body that is being decoded.
type body struct {
	data   []byte // body as sent
	json   string // data as JSON; empty for protobuf
	yaml   bool
	want   schema.GVK // kind of the endpoint
	gvk    schema.GVK // kind of the body
	proto  bool
	before *resource.Item // the item that the body may be a changed form of, or nil
	cbor   CBORCodec      // for a body in CBOR
}

// Object decodes a body of the media type, which is one that ContentType returns, for an endpoint of kind want. The default for a
// missing kind or apiVersion is that of want, unless want is a custom resource, whose bodies must have both. gvk is the kind of the
// body. Its version can differ from want's only if the endpoint accepts several versions (evictions). warnings are the values of
// Warning headers. If level is Strict and the body has unknown or repeated fields, Object returns the object and the error.
func (d *Decoder) Object(data []byte, mediaType string, want schema.GVK, level Level) (obj object.Object, gvk schema.GVK, warnings []string, s *status.Status) {
	return d.Changed(data, mediaType, want, level, nil)
}

// Changed is like Object, for a body that is probably a changed form of before, an item of kind want. before may be nil. If before
// has been parsed (Read), parts that are equal in both are not decoded again.
func (d *Decoder) Changed(data []byte, mediaType string, want schema.GVK, level Level, before *resource.Item) (
	obj object.Object, gvk schema.GVK, warnings []string, s *status.Status) {
	if mediaType == JSON.String() {
		if obj := d.expected(data, want, before); obj != nil {
			return obj, want, nil, nil
		}
	}
	b := &body{data: data, want: want, before: before, cbor: d.CBOR}
	if err := b.open(mediaType); err != nil {
		return nil, gvk, nil, b.unrecognized(err)
	}
	t, s := d.typeOf(b)
	if s != nil {
		return nil, b.gvk, nil, s
	}
	obj, strict, err := d.decode(b, t)
	if err != nil {
		if b.proto && b.gvk == (schema.GVK{}) {
			return nil, gvk, nil, b.unrecognized(err)
		}
		return nil, b.gvk, nil, b.refused(err)
	}
	if s := d.sameKind(b); s != nil {
		return nil, b.gvk, nil, s
	}
	if len(strict) > 0 && level == Strict {
		if t == nil && !b.proto {
			b.want.Kind = b.gvk.Kind // from here on, a custom resource has the kind of its body
		}
		return obj, b.gvk, nil, b.refused(errors.New(StrictError(strict)))
	}
	if level == Warn {
		warnings = Warnings(strict)
	}
	if b.gvk.GV() != want.GV() && !accepts(want, b.gvk) {
		return nil, b.gvk, warnings, status.BadRequest("the API version in the data (%s) does not match the expected API version (%s)", b.gvk.GV(), want.GV())
	}
	obj["kind"], obj["apiVersion"] = b.gvk.Kind, b.gvk.GV()
	return obj, b.gvk, warnings, nil
}

// expected decodes a body of the most common form: valid JSON of exactly the endpoint's kind, which is built in, without strict
// errors. It returns nil for any other body. It is faster than Object because it decodes the body in one pass, whereas Object
// decodes the kind first.
func (d *Decoder) expected(data []byte, want schema.GVK, before *resource.Item) object.Object {
	t := d.Schema.Kind(want)
	if t == nil {
		return nil
	}
	reader := newDecoder(object.Text(data), before)
	obj, strict, err := reader.document(t)
	if err != nil || len(strict) > 0 { // a kind or apiVersion in another case is an unknown field here
		return nil
	}
	gvk, err := parseGVK(obj.APIVersion(), obj.Kind())
	if err != nil || withDefaults(gvk, want) != want {
		return nil
	}
	obj["kind"], obj["apiVersion"] = want.Kind, want.GV()
	return obj
}

// open converts the body to JSON and determines its kind. It does neither for protobuf, which decodeProto handles.
func (b *body) open(mediaType string) (err error) {
	switch mediaType {
	case Protobuf.String():
		b.proto = true
		return nil
	case YAML.String():
		b.yaml = true
		text, err := YAMLToJSON(b.data)
		if err != nil {
			return err
		}
		b.json = string(text)
	case CBOR.String():
		if err := b.openCBOR(); err != nil {
			return err
		}
	default:
		b.json = string(b.data)
	}
	b.gvk, err = typeMeta(b.json)
	if err == nil {
		b.gvk = withDefaults(b.gvk, b.want)
	}
	return err
}

// withDefaults sets the kind and version to those of want if the body omits them.
func withDefaults(gvk, want schema.GVK) schema.GVK {
	if gvk.Kind == "" {
		gvk.Kind = want.Kind
	}
	if gvk.Version == "" && (gvk.Group == "" || gvk.Group == want.Group) {
		gvk.Group, gvk.Version = want.Group, want.Version
	}
	return gvk
}

// typeOf returns the type of the body. It is nil for protobuf, whose kind is not known yet, and for custom resources.
func (d *Decoder) typeOf(b *body) (*schema.Type, *status.Status) {
	switch {
	case b.proto || d.custom(b.want):
		return nil, nil
	case b.gvk.Version == "":
		return nil, b.refused(errors.New("Object 'apiVersion' is missing in '" + string(b.data) + "'"))
	}
	if t := d.known(b.gvk, b.want); t != nil {
		return t, nil
	}
	return nil, b.refused(noKind(b.gvk))
}

// unversionedKinds are the kinds that are accepted in every group and version.
var unversionedKinds = []string{"Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"}

// known returns the type of a kind that the server can decode, even if it does not serve that version. It returns nil if the server
// cannot decode the kind.
func (d *Decoder) known(gvk, want schema.GVK) *schema.Type {
	switch {
	case slices.Contains(unversionedKinds, gvk.Kind):
		return d.Schema.Kind(schema.GVK{Version: "v1", Kind: gvk.Kind})
	case gvk.Group == "meta.k8s.io", gvk.Kind == "ConversionReview":
		return nil
	}
	if t := d.Schema.Kind(gvk); t != nil {
		return t
	}
	if !d.Schema.Release().CanRead(gvk) {
		return nil
	}
	if InternalType(gvk) == InternalType(want) {
		return d.Schema.Kind(want)
	}
	return schema.NewStruct("", gvk.Version+"."+gvk.Kind, nil)
}

func (d *Decoder) custom(gvk schema.GVK) bool {
	return d.Unstructured != nil && d.Schema.Kind(gvk) == nil && d.Unstructured(gvk)
}

func (d *Decoder) decode(b *body, t *schema.Type) (obj object.Object, strict []string, err error) {
	if b.proto {
		obj, err = d.decodeProto(b)
		return obj, nil, err
	}
	obj, strict, err = decode(b.json, t)
	if err == nil && t == nil {
		if b.gvk, err = ownKind(obj, b.data); err != nil {
			return nil, nil, err
		}
		var more []string
		more, err = d.shape(b.want, obj)
		strict = append(strict, more...)
	}
	if err == nil && b.yaml {
		strict = append(repeatedKeys(b.data), strict...)
	}
	return obj, strict, err
}

// Decode decodes JSON as an object of the kind. strict contains an error for each unknown or repeated field. t is the kind's type,
// or nil for a custom resource.
func (d *Decoder) Decode(data []byte, kind schema.GVK, t *schema.Type) (obj object.Object, strict []string, err error) {
	if t == nil {
		if _, err := typeMeta(string(data)); err != nil {
			return nil, nil, err
		}
	}
	obj, strict, err = DecodeJSON(data, t)
	if err != nil || t != nil {
		return obj, strict, err
	}
	if _, err := ownKind(obj, data); err != nil {
		return nil, nil, err
	}
	more, err := d.shape(kind, obj)
	return obj, append(strict, more...), err
}

// shape decodes the metadata of a custom resource and removes fields that are not in the schema of the object's version. If the
// kind or group of the object differs from that of want, it removes no fields. strict contains an error for each unknown or
// repeated field.
func (d *Decoder) shape(want schema.GVK, obj object.Object) (strict []string, err error) {
	if v, ok := obj["apiVersion"]; ok && v == nil {
		return nil, errors.New(".apiVersion accessor error: <nil> is of the type <nil>, expected string")
	}
	strict, err = d.decodeMeta(obj)
	if err != nil || d.Prune == nil {
		return strict, err
	}
	kind, err := parseGVK(obj.APIVersion(), obj.Kind())
	if err != nil || kind.Kind != want.Kind || kind.Group != want.Group {
		return strict, err
	}
	unknown, err := d.Prune(kind, obj)
	for _, path := range unknown {
		strict = append(strict, "unknown field "+strconv.Quote(path))
	}
	return strict, err
}

// ReadMeta decodes the metadata of an embedded resource from any JSON value. unknown contains the paths of unknown fields.
func (d *Decoder) ReadMeta(v any) (meta map[string]any, unknown []string, err error) {
	return d.readMeta(v)
}

// readMeta decodes metadata from any JSON value. It encodes and decodes the result again, which drops empty values, including
// managedFields []. Because v has been decoded already, it has no duplicate fields.
func (d *Decoder) readMeta(v any) (meta object.Object, unknown []string, err error) {
	reader := newDecoder(string(object.AppendJSON(nil, v)), nil)
	if meta, _, err = reader.document(d.Meta); err == nil {
		meta = Reread(meta, d.Meta)
	}
	return meta, reader.unknown, err
}

// decodeMeta decodes the metadata of a custom resource as ObjectMeta.
func (d *Decoder) decodeMeta(obj object.Object) (strict []string, err error) {
	v, ok := obj["metadata"]
	if !ok || d.Meta == nil {
		return nil, nil
	}
	meta, unknown, err := d.readMeta(v)
	if err != nil {
		return nil, err
	}
	for _, path := range unknown {
		strict = append(strict, "unknown field "+strconv.Quote("metadata."+path))
	}
	delete(obj, "metadata")
	if v != nil {
		obj["metadata"] = map[string]any(meta)
	}
	return strict, nil
}

// sameKind returns an error unless the body's kind is that of the endpoint, in any version.
func (d *Decoder) sameKind(b *body) *status.Status {
	from, to := InternalType(b.gvk), InternalType(b.want)
	if from == to || d.custom(b.want) {
		return nil
	}
	source := b.gvk.Version + "." + b.gvk.Kind
	if t := d.Schema.Kind(b.gvk); t != nil {
		source = t.GoType
	}
	return b.refused(fmt.Errorf("converting (%s) to (%s): unknown conversion", source, to))
}

// refused returns the 400 response for an invalid body.
func (b *body) refused(err error) *status.Status {
	if b.gvk.Kind == "" {
		return b.unrecognized(err)
	}
	return status.BadRequest("%s in version %q cannot be handled as a %s: %v", b.gvk.Kind, b.gvk.Version, b.want.Kind, err)
}

// unrecognized returns the 400 response for a body whose kind cannot be determined.
func (b *body) unrecognized(err error) *status.Status {
	return status.BadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", b.want.Kind, err, summary(b.data))
}

// summary returns the beginning of a body for an error message.
func summary(data []byte) string {
	const limit = 30
	if len(data) == 0 {
		return "<empty>"
	}
	more := ""
	head := data
	if len(data) > limit {
		head, more = data[:limit], " ..."
	}
	if head[0] == '{' {
		return string(head) + more
	}
	return hex.EncodeToString(head) + more
}

// unversioned is the version of the internal structs, to which the server converts every version of a kind.
const unversioned = "__internal"

func noKind(gvk schema.GVK) error {
	if gvk.Version == unversioned {
		return fmt.Errorf("no kind %q is registered for the internal version of group %q in scheme %q", gvk.Kind, gvk.Group, "pkg/runtime/scheme.go:111")
	}
	return fmt.Errorf("no kind %q is registered for version %q in scheme %q", gvk.Kind, gvk.GV(), "pkg/runtime/scheme.go:111")
}
