package codec

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var (
	podA    = []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"k":"}\"{"},"managedFields":[{"manager":"m","fieldsV1":{"f:x":{}}}]},"spec":{"n":1}}`)
	podB    = []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}`)
	widgetA = []byte(`{"apiVersion":"example.com/v1","data":{"metadata":{}},"kind":"Widget","metadata":{"creationTimestamp":"2000-01-01T00:00:00Z","generation":1,"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"manager":"m","operation":"Update"},{"manager":"n"}],"name":"a","namespace":"x","ownerReferences":[{"apiVersion":"v1","blockOwnerDeletion":true,"kind":"Pod","name":"p","uid":"u"}]},"spec":{}}`)
)

func TestList(t *testing.T) {
	is := is.New(t)
	n := int64(3)
	is.Equal(string(List("PodList", "v1", ListMeta{ResourceVersion: "12"}, slices.Values(Text{})).Bytes()),
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12"},"items":[]}`) // an empty list has items
	is.Equal(string(List("PodList", "v1", ListMeta{ResourceVersion: "12", Continue: "tok", Remaining: &n, Shards: "s"}, slices.Values(TextOf(podB, podB))).Bytes()),
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"tok","remainingItemCount":3,"shardInfo":{"selector":"s"}},"items":[{"metadata":{"name":"b"}},{"metadata":{"name":"b"}}]}`) // items have no kind
	is.Equal(string(CustomList("WidgetList", "g/v1", ListMeta{ResourceVersion: "12", Remaining: &n}, slices.Values(TextOf(podB))).Bytes()),
		`{"apiVersion":"g/v1","items":[`+string(podB)+`],"kind":"WidgetList","metadata":{"continue":"","remainingItemCount":3,"resourceVersion":"12"}}`) // sorted keys, whole items
}

func TestStripTypeMeta(t *testing.T) {
	for in, want := range map[string]string{
		`{"kind":"A","apiVersion":"v1","metadata":{}}`: `"metadata":{}}`,
		`{"kind":"A","apiVersion":"v1"}`:               `}`,
		`{"metadata":{}}`:                              `"metadata":{}}`,
		`{"kind":"A","metadata":{}}`:                   `"kind":"A","metadata":{}}`,
		`{"kind":"A`:                                   `"kind":"A`,
		`{}`:                                           `}`,
		``:                                             ``,
	} {
		is := is.New(t)
		is.Equal(string(StripTypeMeta([]byte(in))), want) // cut behind apiVersion
	}
}

func TestPartial(t *testing.T) {
	is := is.New(t)
	is.Equal(string(AppendPartial(nil, podA, "v1")),
		`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","labels":{"k":"}\"{"},"managedFields":[{"manager":"m","fieldsV1":{"f:x":{}}}]}}`) // metadata is cut out
	is.Equal(string(AppendPartial(nil, widgetA, "v1beta1")),
		`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":{"name":"a","namespace":"x","generation":1,"creationTimestamp":"2000-01-01T00:00:00Z","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","blockOwnerDeletion":true}],"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}},{"manager":"n"}]}}`) // metadata in the order of the struct
	is.Equal(string(PartialList("v1", ListMeta{ResourceVersion: "1"}, slices.Values([][]byte{podB})).Bytes()),
		`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"b"}}]}`)
	is.Equal(string(PartialList("v1", ListMeta{}, slices.Values([][]byte{})).Bytes()),
		`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":null}`) // a nil slice
	obj := Partial(map[string]any{"spec": "x", "metadata": map[string]any{"name": "a"}}, "v1")
	is.Equal(len(obj), 3)     // kind, apiVersion, metadata
	is.Equal(obj.Name(), "a") // metadata is kept
	is.Equal(obj.APIVersion(), "meta.k8s.io/v1")
}

func FuzzPartial(f *testing.F) {
	f.Add(podA)
	f.Add(widgetA)
	f.Add([]byte(`{"a":[1,"\`))
	f.Fuzz(func(t *testing.T, b []byte) {
		AppendPartial(nil, b, "v1")
		StripTypeMeta(b)
	})
}

func TestFrames(t *testing.T) {
	is := is.New(t)
	is.Equal(string(Frame("ADDED", PieceOf(podB)).Bytes()), `{"type":"ADDED","object":`+string(podB)+"}\n")
	is.Equal(ProtoFrame("ADDED", TextOf([]byte("k8s\x00"))).Bytes(),
		[]byte("\x00\x00\x00\x0f\x0a\x05ADDED\x12\x06\x0a\x04k8s\x00")) // length, type, object.raw
}

func TestBody(t *testing.T) {
	is := is.New(t)
	b := []byte(`{"kind":"X","b":{},"a":[1,{"c":"<\u003c"}],"e":[]}`)
	is.Equal(string(Body(b, Format{})), string(b)+"\n")
	is.Equal(string(Body(b, Format{Pretty: true})),
		"{\n  \"kind\": \"X\",\n  \"b\": {},\n  \"a\": [\n    1,\n    {\n      \"c\": \"<\\u003c\"\n    }\n  ],\n  \"e\": []\n}") // order is kept, no newline
	is.Equal(string(Body(b, Format{Media: YAML})), "a:\n- 1\n- c: <<\nb: {}\ne: []\nkind: X\n") // sorted keys
	is.Equal(string(Body([]byte("{\"a\":\"\x7f\"}"), Format{Media: YAML})),
		"apiVersion: v1\ncode: 500\nkind: Status\nmessage: 'yaml: control characters are not allowed'\nmetadata: {}\nstatus: Failure\n") // the reason instead
}

func TestCompress(t *testing.T) {
	big, small := []byte(strings.Repeat("x", compressMin+1)), []byte(strings.Repeat("x", compressMin))
	for _, tt := range []struct {
		body   []byte
		accept string
		want   bool
	}{
		{big, "gzip", true}, {big, "deflate, gzip", true}, {small, "gzip", false}, {big, "", false},
		{big, "deflate", false}, {big, "gzip;q=1", false}, {big, "GZIP", false}, {big, "*", false},
	} {
		is := is.New(t)
		out, ok := Compress(TextOf(tt.body[:9], tt.body[9:]), tt.accept)
		is.Equal(ok, tt.want)                       // compressed or not
		is.Equal(out.Len() < len(tt.body), tt.want) // and smaller then
	}
}
