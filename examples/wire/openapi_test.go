package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"github.com/matryer/is"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/fake"
)

// widgets is a definition whose schema uses features that built-in kinds do not use.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, properties: {count: {type: integer}}}
          spec:
            type: object
            description: What it should be.
            required: [count]
            properties:
              count: {type: number, minimum: 0, maximum: 9.5, exclusiveMaximum: true, multipleOf: 0.5}
              d: {type: integer, default: 3}
              s: {type: string, enum: [a, b], default: a, minLength: 1, maxLength: 9, pattern: "^[ab]$", title: S, nullable: true}
              b: {type: boolean, default: false, example: true}
              l: {type: array, minItems: 1, maxItems: 3, items: {type: object, default: {}, properties: {x: {type: number}}}}
              m: {type: object, minProperties: 1, maxProperties: 2, additionalProperties: {type: string}}
              i: {x-kubernetes-int-or-string: true}
              z: {type: string, default: ""}
              o: {oneOf: [{required: [a]}, {required: [b]}], not: {required: [c]}, type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}}
              p: {type: object, x-kubernetes-preserve-unknown-fields: true}
              e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
`

// get requests a path in a media type, and fails the test unless the response has that type.
func get(t *testing.T, url, accept string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != accept {
		t.Fatalf("GET %s as %s: %d %s", url, accept, res.StatusCode, got)
	}
	return body
}

// listen serves on a socket until the test ends.
func listen(t *testing.T, options fake.ListenOptions, server ...fake.Options) (*fake.Server, *fake.Listener) {
	t.Helper()
	srv := fake.RunT(t, server...)
	l, err := srv.Listen(options)
	if err != nil {
		t.Fatal(err)
	}
	return srv, l
}

// The documents in protobuf are equivalent to those in JSON: gnostic, which the real server uses for the conversion, converts the
// JSON to the same documents. Values without a field are YAML, whose text may differ.
func TestOpenAPIInProtobuf(t *testing.T) {
	is := is.New(t)
	srv, l := listen(t, fake.ListenOptions{})
	is.NoErr(srv.LoadData([]byte(widgets)))

	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	is.NoErr(json.Unmarshal(get(t, l.URL()+"/openapi/v3", "text/plain; charset=utf-8"), &index))
	is.True(index.Paths["apis/example.com/v1"].ServerRelativeURL != "")
	for _, at := range index.Paths { // order does not matter
		want, err := openapi_v3.ParseDocument(get(t, l.URL()+at.ServerRelativeURL, "application/json"))
		is.NoErr(err)
		got := &openapi_v3.Document{}
		is.NoErr(proto.Unmarshal(get(t, l.URL()+at.ServerRelativeURL, "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"), got))
		same(t, at.ServerRelativeURL, got, want)
	}

	want, err := openapi_v2.ParseDocument(get(t, l.URL()+"/openapi/v2", "application/json"))
	is.NoErr(err)
	got := &openapi_v2.Document{}
	is.NoErr(proto.Unmarshal(get(t, l.URL()+"/openapi/v2", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"), got))
	same(t, "/openapi/v2", got, want)
}

// same fails the test unless two messages are equal except for the text of YAML.
func same(t *testing.T, name string, got, want proto.Message) {
	t.Helper()
	plain(t, got.ProtoReflect())
	plain(t, want.ProtoReflect())
	if where := difference("", got.ProtoReflect(), want.ProtoReflect()); where != "" {
		t.Errorf("%s differs at %s", name, where)
	}
}

// plain converts all YAML in a message to JSON.
func plain(t *testing.T, m protoreflect.Message) {
	each(m, func(f protoreflect.FieldDescriptor, inner protoreflect.Message) { plain(t, inner) })
	if f := m.Descriptor().Fields().ByName("yaml"); f != nil {
		text, err := yaml.YAMLToJSON([]byte(m.Get(f).String()))
		if err != nil {
			t.Fatal(err)
		}
		m.Set(f, protoreflect.ValueOfString(string(text)))
	}
}

// each calls f with each message in the fields of a message.
func each(m protoreflect.Message, f func(protoreflect.FieldDescriptor, protoreflect.Message)) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if field.Message() == nil {
			return true
		}
		if !field.IsList() {
			f(field, v.Message())
			return true
		}
		for i := range v.List().Len() {
			f(field, v.List().Get(i).Message())
		}
		return true
	})
}

// difference returns the path of the first and deepest difference between two messages, or "" if they are equal.
func difference(path string, a, b protoreflect.Message) string {
	if proto.Equal(a.Interface(), b.Interface()) {
		return ""
	}
	var left, right []protoreflect.Message
	each(a, func(_ protoreflect.FieldDescriptor, m protoreflect.Message) { left = append(left, m) })
	each(b, func(_ protoreflect.FieldDescriptor, m protoreflect.Message) { right = append(right, m) })
	if len(left) == len(right) {
		for i := range left {
			if left[i].Descriptor() != right[i].Descriptor() {
				break
			}
			step := path + "/" + string(left[i].Descriptor().Name())
			if name := left[i].Descriptor().Fields().ByName("name"); name != nil {
				step += "(" + left[i].Get(name).String() + ")"
			}
			if where := difference(step, left[i], right[i]); where != "" {
				return where
			}
		}
	}
	text := func(m protoreflect.Message) string {
		return strings.Join(strings.Fields(m.Interface().(interface{ String() string }).String()), " ")
	}
	return path + ":\n\tgot  " + text(a)[:min(len(text(a)), 600)] + "\n\twant " + text(b)[:min(len(text(b)), 600)]
}
