package codec

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/schema"
)

func testDecoder(tb testing.TB) *Decoder {
	tb.Helper()
	set, err := schema.Load(schema.Default)
	if err != nil {
		tb.Fatal(err)
	}
	return &Decoder{
		Schema:       set,
		Unstructured: func(gvk schema.GVK) bool { return gvk.Group == "example.com" },
		Meta:         set.Kind(schema.GVK{Version: "v1", Kind: "Pod"}).Field("metadata").Type,
	}
}

var configMap = schema.GVK{Version: "v1", Kind: "ConfigMap"}

// TestRefusedBodies contains messages that were recorded from a v1.36 server.
func TestRefusedBodies(t *testing.T) {
	const unrecognized = `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: `
	const target = `json: cannot unmarshal %s into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (%s)`
	into := func(what, hex string) string {
		return unrecognized + strings.Replace(strings.Replace(target, "%s", what, 1), "%s", hex, 1)
	}
	for _, c := range []struct{ in, want string }{
		{``, unrecognized + `unexpected end of JSON input (<empty>)`},
		{`{"metadata":`, unrecognized + `unexpected end of JSON input ({"metadata":)`},
		{`hello`, unrecognized + `invalid character 'h' looking for beginning of value (68656c6c6f)`},
		{`[]`, into("array", "5b5d")},
		{`42`, into("number", "3432")},
		{`"x"`, into("string", "227822")},
		{`{"metadata":{"name":"a"}}{"metadata":{"name":"b"}}`, unrecognized + `invalid character '{' after top-level value ({"metadata":{"name":"a"}}{"met ...)`},
		{`{"metadata":{"name":"a"},}`, unrecognized + `invalid character '}' looking for beginning of object key string ({"metadata":{"name":"a"},})`},
		{`{"kind":5,"apiVersion":"v1","metadata":{"name":"a"}}`, unrecognized + `json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5,"apiVersion":"v1","m ...)`},
		{`{"kind":"ConfigMap","apiVersion":"a/b/c","metadata":{"name":"a"}}`, `the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: a/b/c ({"kind":"ConfigMap","apiVersio ...)`},
		{`{"metadata":{"name":5}}`, `ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string`},
		{`{"kind":"Secret","apiVersion":"v1"}`, `Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion`},
		{`{"kind":"Deployment","apiVersion":"apps/v1"}`, `Deployment in version "v1" cannot be handled as a ConfigMap: converting (v1.Deployment) to (core.ConfigMap): unknown conversion`},
		{`{"kind":"ConfigMapList","apiVersion":"v1","items":[]}`, `ConfigMapList in version "v1" cannot be handled as a ConfigMap: converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion`},
		{`{"kind":"Frog","apiVersion":"v1"}`, `Frog in version "v1" cannot be handled as a ConfigMap: no kind "Frog" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`},
		{`{"kind":"ConfigMap","apiVersion":"x.example.com/v1"}`, `ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "x.example.com/v1" in scheme "pkg/runtime/scheme.go:111"`},
		{`{"metadata":{"nope":1},"data":{"k":"1","k":"2"},"extra":1}`, `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.nope", duplicate field "data.k", unknown field "extra"`},
	} {
		is := is.New(t)
		_, _, _, s := testDecoder(t).Object([]byte(c.in), "application/json", configMap, Strict)
		is.True(s != nil)           // refused
		is.Equal(s.Message, c.want) // the server's message
		is.Equal(s.Code, 400)       // as a bad request
	}
}

func TestOtherVersions(t *testing.T) {
	is := is.New(t)
	d := testDecoder(t)
	read := func(body string, want schema.GVK) string {
		_, gvk, _, s := d.Object([]byte(body), "application/json", want, Warn)
		if s != nil {
			return s.Message
		}
		return gvk.GV()
	}
	deployment := schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
	scaler := schema.GVK{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}
	eviction := schema.GVK{Group: "policy", Version: "v1", Kind: "Eviction"}
	is.Equal(read(`{"kind":"Deployment","apiVersion":"extensions/v1beta1"}`, deployment),
		"the API version in the data (extensions/v1beta1) does not match the expected API version (apps/v1)") // known, not served
	is.Equal(read(`{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2"}`, scaler),
		"the API version in the data (autoscaling/v2) does not match the expected API version (autoscaling/v1)") // served elsewhere
	is.Equal(read(`{"kind":"Eviction","apiVersion":"policy/v1beta1"}`, eviction), "policy/v1beta1") // evictions may differ
	is.Equal(read(`{"kind":"Eviction"}`, eviction), "policy/v1")                                    // apiVersion of the endpoint
	is.Equal(read(`null`, deployment), "apps/v1")                                                   // null is an empty object
	is.Equal(read(`{"Kind":"Deployment","APIVERSION":"apps/v1"}`, deployment), "apps/v1")           // these two names are case-insensitive
}

func TestLevels(t *testing.T) {
	const in = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: \"1\"\n  k: \"2\"\nextra: 1\n"
	is := is.New(t)
	d := testDecoder(t)
	obj, _, warnings, s := d.Object([]byte(in), "application/yaml", configMap, Warn)
	is.True(s == nil)
	is.Equal(strings.Join(warnings, "|"), `line 7: key "k" already set in map|unknown field "extra"`) // a warning for each line
	is.Equal(obj.String("data", "k"), "2")                                                            // the last one wins
	_, _, warnings, s = d.Object([]byte(in), "application/yaml", configMap, Ignore)
	is.True(s == nil && len(warnings) == 0) // dropped without a warning
	_, _, _, s = d.Object([]byte(in), "application/yaml", configMap, Strict)
	is.Equal(s.Message, "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 7: key \"k\" already set in map, unknown field \"extra\"") // refused
	for text, want := range map[string]Level{"": Warn, "Warn": Warn, "Strict": Strict, "Ignore": Ignore} {
		level, ok := ParseLevel(text)
		is.True(ok && level == want) // the values of fieldValidation
	}
	_, ok := ParseLevel("strict")
	is.True(!ok) // case matters
}

func TestYAML(t *testing.T) {
	is := is.New(t)
	kind := typeOf(t, "", "v1", "ConfigMap")
	obj, strict, err := DecodeYAML([]byte("data: {a: \"1\"}\n---\ndata: {b: x}\n"), kind)
	is.NoErr(err)
	is.Equal(len(strict), 0)
	is.Equal(string(Append(nil, obj, kind)), `{"metadata":{},"data":{"a":"1"}}`) // only the first document
	_, _, err = DecodeYAML([]byte("data: {a: 1}\n"), kind)
	is.Equal(err.Error(), "json: cannot unmarshal number into Go struct field ConfigMap.data of type string") // types are as in JSON
	_, _, _, s := testDecoder(t).Object([]byte("a: b: c"), "application/yaml", configMap, Warn)
	is.Equal(s.Message, "the object provided is unrecognized (must be of type ConfigMap): yaml: mapping values are not allowed in this context (613a20623a2063)") // no kind without YAML
}

func TestProtobufBody(t *testing.T) {
	is := is.New(t)
	d := testDecoder(t)
	_, _, _, s := d.Object([]byte(`{}`), "application/vnd.kubernetes.protobuf", configMap, Strict)
	is.Equal(s.Message, "the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})") // no envelope
	body := AppendEnvelope(nil, schema.GVK{Version: "v1", Kind: "Secret"}, nil)
	_, _, _, s = d.Object(body, "application/vnd.kubernetes.protobuf", configMap, Strict)
	is.Equal(s.Message, `Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion`) // another kind
	obj, gvk, _, s := d.Object(AppendEnvelope(nil, schema.GVK{}, nil), "application/vnd.kubernetes.protobuf", configMap, Strict)
	is.True(s == nil && gvk == configMap)      // the kind of the endpoint
	is.Equal(obj.Kind(), "ConfigMap")          // is that of the object
	is.Equal(obj.APIVersion(), configMap.GV()) // and so is the version
}

func TestCustomResource(t *testing.T) {
	is := is.New(t)
	d := testDecoder(t)
	widget := schema.GVK{Group: "example.com", Version: "v1", Kind: "Widget"}
	obj, _, warnings, s := d.Object([]byte(`{"apiVersion":"example.com/v1","kind":"Widget","spec":{"b":1,"b":2},"metadata":{"name":"w","labels":{},"x":1}}`), "application/json", widget, Warn)
	is.True(s == nil)
	is.Equal(string(Append(nil, obj, nil)), `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"b":2}}`) // nothing empty is left of its metadata
	is.Equal(strings.Join(warnings, "|"), `duplicate field "spec.b"|unknown field "metadata.x"`)                                      // metadata has a type
	_, _, _, s = d.Object([]byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":5}}`), "application/json", widget, Warn)
	is.Equal(s.Message, `Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string`) // of Go
}

func TestDeleteOptions(t *testing.T) {
	d := testDecoder(t)
	for _, c := range []struct{ in, want, err string }{
		{`{}`, `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1"}`, ""},
		{`{"propagationPolicy":"Background","extra":1}`, `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","propagationPolicy":"Background"}`, ""},
		{`{"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":0}`, `{"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":0}`, ""},
		{`{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","preconditions":{"uid":"u"}}`, `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","preconditions":{"uid":"u"}}`, ""},
		{`{"kind":"ConfigMap","apiVersion":"v1"}`, "", `no kind "ConfigMap" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`},
		{`{"kind":"DeleteOptions","apiVersion":"frogs/v1"}`, `{"kind":"DeleteOptions","apiVersion":"frogs/v1"}`, ""}, // a custom resource's group
		{`{"kind":"Frog","apiVersion":"frogs/v1"}`, "", `no kind "Frog" is registered for version "frogs/v1" in scheme "pkg/runtime/scheme.go:111"`},
		{`nonsense`, "", `couldn't get version/kind; json parse error: invalid character 'o' in literal null (expecting 'u')`},
		{`{"gracePeriodSeconds":"soon"}`, "", `json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64`},
	} {
		is := is.New(t)
		obj, s := d.DeleteOptions([]byte(c.in), "application/json")
		if c.err != "" {
			is.True(s != nil)          // refused
			is.Equal(s.Message, c.err) // the decoder's message without a prefix
			continue
		}
		is.True(s == nil)
		is.Equal(string(Append(nil, obj, d.Schema.Kind(schema.GVK{Version: "v1", Kind: "DeleteOptions"}))), c.want) // of any group
	}
}
