// Package cbor converts between JSON and CBOR (RFC 8949), as kube-apiserver does with the feature gate CBORServingAndStorage
// (KEP-4222). It implements codec.CBORCodec with the library that Kubernetes uses.
//
//	application/cbor ── ToJSON ──▶ JSON ─▶ the decoder of JSON bodies
//	JSON of a response ── FromJSON ──▶ application/cbor, or one item of application/cbor-seq (RFC 8742)
//
// Items begin with the tag of self-described CBOR. Map keys and strings are byte strings, and a []byte field has tag 22, which means
// base64 as text. The kind in the JSON determines which fields these are. The real server writes map keys in a random order; here they
// are sorted, so that the same requests get the same bytes.
//
// Errors about the fields of a body are those of the JSON decoder. Those of the real server give the position of a field in the map
// that contains it.
package cbor

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/schema"
)

// Codec is the codec.CBORCodec of this package.
type Codec struct{}

var _ codec.CBORCodec = Codec{}

// selfDescribed is the head of tag 55799 (RFC 8949, section 3.4.6).
var selfDescribed = []byte{0xd9, 0xd9, 0xf7}

// maxNesting is the maximum depth of a document. It is that of JSON bodies.
const maxNesting = 10000

// encoder and decoder have the options of apimachinery's serializer. They differ from the defaults of the library in that strings are
// encoded as byte strings, and that values without a JSON form are rejected.
var (
	encoder = must(cbor.EncOptions{
		Sort:                 cbor.SortBytewiseLexical,
		ShortestFloat:        cbor.ShortestFloat16,
		NaNConvert:           cbor.NaNConvertReject,
		InfConvert:           cbor.InfConvertReject,
		IndefLength:          cbor.IndefLengthForbidden,
		String:               cbor.StringToByteString,
		ByteSliceLaterFormat: cbor.ByteSliceLaterFormatBase64,
	}.EncMode())
	decoder = must(cbor.DecOptions{
		DupMapKey:                cbor.DupMapKeyEnforcedAPF,
		TimeTag:                  cbor.DecTagOptional,
		MaxNestedLevels:          maxNesting,
		MaxArrayElements:         1<<31 - 1,
		MaxMapPairs:              1 << 21,
		IntDec:                   cbor.IntDecConvertSignedOrFail,
		MapKeyByteString:         cbor.MapKeyByteStringForbidden,
		DefaultMapType:           reflect.TypeFor[map[string]any](),
		DefaultByteStringType:    reflect.TypeFor[string](),
		ByteStringToString:       cbor.ByteStringToStringAllowedWithExpectedLaterEncoding,
		FieldNameByteString:      cbor.FieldNameByteStringAllowed,
		UnrecognizedTagToAny:     cbor.UnrecognizedTagContentToAny,
		TimeTagToAny:             cbor.TimeTagToRFC3339Nano,
		ByteStringExpectedFormat: cbor.ByteStringExpectedBase64,
		NaN:                      cbor.NaNDecodeForbidden,
		Inf:                      cbor.InfDecodeForbidden,
		BignumTag:                cbor.BignumTagForbidden,
		SimpleValues:             simpleValues(),
	}.DecMode())
	diagnoser = must(cbor.DiagOptions{
		ByteStringText:  true,
		MaxNestedLevels: maxNesting,
	}.DiagMode())
)

// simpleValues returns a registry with only false, true and null.
func simpleValues() *cbor.SimpleValueRegistry {
	const first, last = 20, 22
	var rejected []func(*cbor.SimpleValueRegistry) error
	for v := 0; v < 256; v++ {
		if reserved := v >= 24 && v < 32; !reserved && (v < first || v > last) {
			rejected = append(rejected, cbor.WithRejectedSimpleValue(cbor.SimpleValue(v)))
		}
	}
	return must(cbor.NewSimpleValueRegistryFromDefaults(rejected...))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // the options are constants
	}
	return v
}

// ToJSON implements codec.CBORCodec.
func (Codec) ToJSON(data []byte, goType string) ([]byte, error) {
	var v map[string]any
	if err := decoder.Unmarshal(data, &v); err != nil {
		if wrong, ok := errors.AsType[*cbor.UnmarshalTypeError](err); ok {
			wrong.GoType = goType
		}
		return nil, err
	}
	var out bytes.Buffer
	text := json.NewEncoder(&out)
	text.SetEscapeHTML(false)
	if err := text.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Diagnose implements codec.CBORCodec.
func (Codec) Diagnose(data []byte) string {
	text, err := diagnoser.Diagnose(data)
	if err != nil {
		return fmt.Sprintf("%x", data)
	}
	return text
}

// FromJSON implements codec.CBORCodec.
func (Codec) FromJSON(text []byte, set *schema.Set) []byte {
	var v any
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	if err := reader.Decode(&v); err != nil {
		panic(fmt.Sprintf("cbor: the text of a response is not JSON: %v", err))
	}
	out, err := encoder.Marshal(document(v, set))
	if err != nil {
		panic(fmt.Sprintf("cbor: a response cannot be encoded: %v", err))
	}
	return append(selfDescribed[:len(selfDescribed):len(selfDescribed)], out...)
}

// document converts the JSON value of an object, list or watch event to the value to encode.
func document(v any, set *schema.Set) any {
	m, ok := v.(map[string]any)
	if !ok {
		return value(v, nil)
	}
	if obj, isEvent := m["object"].(map[string]any); isEvent && m["kind"] == nil {
		return map[string]any{"type": m["type"], "object": document(obj, set)}
	}
	kind, _ := m["kind"].(string)
	apiVersion, _ := m["apiVersion"].(string)
	return value(m, set.Kind(schema.ParseGVK(apiVersion, kind)))
}

// value converts a JSON value of type t to the value to encode. If t is nil, the type is not known, as for custom resources.
func value(v any, t *schema.Type) any {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v { // order does not matter: each value is replaced
			v[name] = value(field, fieldType(t, name))
		}
	case []any:
		for i := range v {
			v[i] = value(v[i], elem(t, schema.List))
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case string:
		if t != nil && t.Kind == schema.Bytes {
			if data, err := base64.StdEncoding.DecodeString(v); err == nil {
				return data
			}
		}
	}
	return v
}

// fieldType returns the type of a field of a struct or map of type t, or nil if it is not known.
func fieldType(t *schema.Type, name string) *schema.Type {
	if t != nil && t.Kind == schema.Struct {
		if f := t.Field(name); f != nil {
			return f.Type
		}
		return nil
	}
	return elem(t, schema.Map)
}

// elem returns the type of the elements of t, or nil if t is not of the given kind.
func elem(t *schema.Type, kind schema.Kind) *schema.Type {
	if t == nil || t.Kind != kind {
		return nil
	}
	return t.Elem
}
