package codec

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// TestDecodePrinted decodes bodies and encodes the result, which must equal the JSON of a Go struct.
func TestDecodePrinted(t *testing.T) {
	for _, c := range []struct{ name, group, kind, in, want string }{
		{"empty", "", "ConfigMap", `{}`, `{"metadata":{}}`},
		{"null is absent", "", "ConfigMap", `{"metadata":{"name":"n","labels":null},"data":null,"immutable":null}`, `{"metadata":{"name":"n"}}`},
		{"pointer to zero stays", "", "ConfigMap", `{"immutable":false}`, `{"metadata":{},"immutable":false}`},
		{"order is the struct's", "", "ConfigMap", `{"data":{"b":"2","a":"1"},"metadata":{"name":"n"},"kind":"ConfigMap"}`,
			`{"kind":"ConfigMap","metadata":{"name":"n"},"data":{"a":"1","b":"2"}}`},
		{"last of two wins", "", "ConfigMap", `{"data":{"k":"1","k":"2"}}`, `{"metadata":{},"data":{"k":"2"}}`},
		{"maps and structs are merged", "", "ConfigMap", `{"metadata":{"name":"a"},"metadata":{"namespace":"b"},"data":{"k":"1"},"data":{"j":"2"}}`,
			`{"metadata":{"name":"a","namespace":"b"},"data":{"j":"2","k":"1"}}`},
		{"lists are decoded over", "", "Pod", `{"spec":{"containers":[{"name":"a","image":"i"},{"name":"b"}],"containers":[{"name":"c"}]}}`,
			`{"metadata":{},"spec":{"containers":[{"name":"c","image":"i","resources":{}}]},"status":{}}`},
		{"null removes what came before", "", "ConfigMap", `{"data":{"k":"1"},"data":null}`, `{"metadata":{}}`},
		{"always present", "apps", "Deployment", `{"spec":{}}`,
			`{"metadata":{},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}`},
		{"empty list becomes null", "rbac.authorization.k8s.io", "Role", `{"rules":[]}`, `{"metadata":{},"rules":null}`},
		{"null elements", "", "Pod", `{"spec":{"containers":[null],"nodeSelector":{"a":null}}}`,
			`{"metadata":{},"spec":{"containers":[{"name":"","resources":{}}],"nodeSelector":{"a":""}},"status":{}}`},
		{"quantities", "", "ResourceQuota", `{"spec":{"hard":{"a":"1000m","b":"1024Mi","c":1.5,"d":null," e":" 2 "}}}`,
			`{"metadata":{},"spec":{"hard":{" e":"2","a":"1","b":"1Gi","c":"1500m","d":"0"}},"status":{}}`},
		{"times", "coordination.k8s.io", "Lease", `{"metadata":{"creationTimestamp":"2026-01-02T03:04:05.9+01:00"},"spec":{"renewTime":"2026-01-02T03:04:05.123456+01:00"}}`,
			`{"metadata":{"creationTimestamp":"2026-01-02T02:04:05Z"},"spec":{"renewTime":"2026-01-02T02:04:05.123456Z"}}`},
		{"the zero time is absent", "", "ConfigMap", `{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"}}`, `{"metadata":{}}`},
		{"times that are always there", "", "Event", `{}`,
			`{"metadata":{},"involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":""}`},
		{"bytes", "", "Secret", `{"data":{"a":"YR==","b":[1,255],"c":null}}`, `{"metadata":{},"data":{"a":"YQ==","b":"Af8=","c":""}}`},
		{"int or string", "", "Service", `{"spec":{"ports":[{"port":80,"targetPort":"http"},{"port":81,"targetPort":8}]}}`,
			`{"metadata":{},"spec":{"ports":[{"port":80,"targetPort":"http"},{"port":81,"targetPort":8}]},"status":{"loadBalancer":{}}}`},
		{"any JSON", "apps", "ControllerRevision", `{"data":{"b":[1,1.5,{"z":null}],"a":"<"},"revision":2}`,
			`{"metadata":{},"data":{"b":[1,1.5,{"z":null}],"a":"\u003c"},"revision":2}`},
		{"strings", "", "ConfigMap", "{\"data\":{\"a\":\"\\u00e9\\ud83d\\ude00\\ud800x\\n\\u003c\xff\"}}", `{"metadata":{},"data":{"a":"é😀` + "\ufffdx" + `\n\u003c` + "\ufffd" + `"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			kind := typeOf(t, c.group, "v1", c.kind)
			obj, _, err := DecodeJSON([]byte(c.in), kind)
			is.NoErr(err)                                    // the body is fine
			is.Equal(string(Append(nil, obj, kind)), c.want) // and printed in the canonical form
			again, strict, err := DecodeJSON([]byte(c.want), kind)
			is.NoErr(err)                                      // which can be read
			is.Equal(len(strict), 0)                           // without complaints
			is.Equal(string(Append(nil, again, kind)), c.want) // and stays as it is
			checkReread(t, obj, kind)
		})
	}
}

// checkReread checks that an object has the same value after it is encoded and decoded, and does not change.
func checkReread(t *testing.T, obj object.Object, kind *schema.Type) {
	t.Helper()
	is := is.New(t)
	back := Reread(obj, kind)
	is.Equal(string(Append(nil, back, kind)), string(Append(nil, obj, kind)))
	is.Equal(Reread(back, kind), back)
}

func TestEmptyListIsKeptWhereItIsNotPrinted(t *testing.T) {
	is := is.New(t)
	obj, _, err := DecodeJSON([]byte(`{"metadata":{"managedFields":[]}}`), typeOf(t, "", "v1", "ConfigMap"))
	is.NoErr(err)
	is.True(obj.List("metadata", "managedFields") != nil) // [] resets managed fields, absent does not
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ group, kind, in, want string }{
		{"apps", "Deployment", `{"spec":{"replicas":"3"}}`, `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`},
		{"apps", "Deployment", `{"spec":{"replicas":99999999999}}`, `json: cannot unmarshal number 99999999999 into Go struct field DeploymentSpec.spec.replicas of type int32`},
		{"apps", "Deployment", `{"spec":{"replicas":1.5}}`, `json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32`},
		{"apps", "Deployment", `{"spec":{"paused":"true"}}`, `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool`},
		{"apps", "Deployment", `{"spec":{"template":{"spec":{"containers":{"name":"c"}}}}}`, `json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container`},
		{"apps", "Deployment", `{"metadata":{"labels":["a"]}}`, `json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string`},
		{"apps", "Deployment", `{"spec":{"template":[]}}`, `json: cannot unmarshal array into Go struct field DeploymentSpec.spec.template of type v1.PodTemplateSpec`},
		{"", "ConfigMap", `{"data":{"k":1}}`, `json: cannot unmarshal number into Go struct field ConfigMap.data of type string`},
		{"", "ConfigMap", `{"data":{"k":true},"metadata":3}`, `json: cannot unmarshal bool into Go struct field ConfigMap.data of type string`},
		{"", "ConfigMap", `[]`, `json: cannot unmarshal array into Go value of type v1.ConfigMap`},
		{"", "ConfigMap", `{"kind":5}`, `json: cannot unmarshal number into Go struct field ConfigMap.TypeMeta.kind of type string`},
		{"", "ConfigMap", `{"metadata":{"creationTimestamp":"yesterday"}}`, `parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`},
		{"", "ConfigMap", `{"metadata":{"creationTimestamp":5}}`, `json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string`},
		{"", "ConfigMap", `{"data":5,"metadata":{"creationTimestamp":{}}}`, `json: cannot unmarshal object into Go struct field ObjectMeta.metadata.creationTimestamp of type string`}, // UnmarshalJSON of its own: its error supersedes the earlier one
		{"", "Pod", `{"spec":{"volumes":[{"hostPath":"x"}]}}`, `json: cannot unmarshal string into Go struct field Volume.spec.volumes.VolumeSource.hostPath of type v1.HostPathVolumeSource`},
		{"", "Service", `{"spec":{"ports":[{"targetPort":1.5}]}}`, `json: cannot unmarshal number 1.5 into Go struct field ServicePort.spec.ports.targetPort of type int32`},
		{"", "Service", `{"spec":{"ports":[{"targetPort":true}]}}`, `json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type int32`},
		{"", "Secret", `{"data":{"k":"!"}}`, `illegal base64 data at input byte 0`},
		{"", "Secret", `{"data":{"k":[256]}}`, `json: cannot unmarshal number 256 into Go struct field Secret.data of type uint8`},
		{"", "ResourceQuota", `{"spec":{"hard":{"pods":"many"}}}`, `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`},
		{"", "ResourceQuota", `{"spec":{"hard":{"pods":"1Q"}}}`, `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`},
		{"", "ResourceQuota", `{"spec":{"hard":{"pods":"1ii"}}}`, `unable to parse quantity's suffix`},
		{"", "ConfigMap", ``, `unexpected end of JSON input`},
		{"", "ConfigMap", `{"data":5}x`, `invalid character 'x' after top-level value`}, // syntax comes first
		{"", "ConfigMap", `{"data":{"k":1}`, `unexpected end of JSON input`},
		{"", "ConfigMap", `{"a":` + strings.Repeat("[", 10001), `invalid character '[' exceeded max depth`},
		{"", "ConfigMap", `{"data":` + strings.Repeat(`{"a":`, 20000) + `1`, `invalid character '{' exceeded max depth`},
	} {
		is := is.New(t)
		_, _, err := DecodeJSON([]byte(c.in), typeOf(t, c.group, "v1", c.kind))
		is.True(err != nil)           // refused
		is.Equal(err.Error(), c.want) // Go's message
	}
}

func TestStrictErrors(t *testing.T) {
	for _, c := range []struct{ kind, in, want string }{
		{"ConfigMap", `{"metadata":{"name":"a","nope":1},"data":{"k":"1","k":"2"},"extra":{"x":1}}`, `unknown field "metadata.nope"|duplicate field "data.k"|unknown field "extra"`},
		{"ConfigMap", `{"metadata":{"Labels":{}},"Data":{}}`, `unknown field "metadata.Labels"|unknown field "Data"`},
		{"Pod", `{"spec":{"containers":[{"name":"a","foo":1},{"name":"a","name":"b"}]}}`, `unknown field "spec.containers[0].foo"|duplicate field "spec.containers[1].name"`},
		{"ConfigMap", `{"a":1,"a":2,"q\"":3}`, `unknown field "a"|unknown field "q\""`},
		{"ConfigMap", `{"metadata":{"managedFields":[{"fieldsV1":{"a":{},"a":{}}}]}}`, ``}, // raw JSON is not checked
	} {
		is := is.New(t)
		_, strict, err := DecodeJSON([]byte(c.in), typeOf(t, "", "v1", c.kind))
		is.NoErr(err)                               // strict errors are not errors
		is.Equal(strings.Join(strict, "|"), c.want) // in order of appearance
	}
	is := is.New(t)
	var b strings.Builder
	for range 150 {
		b.WriteString(`"` + strings.Repeat("x", b.Len()/10+1) + `":1,`)
	}
	_, strict, err := DecodeJSON([]byte(`{`+b.String()+`"z":1}`), typeOf(t, "", "v1", "ConfigMap"))
	is.NoErr(err)
	is.Equal(len(strict), 100) // never more than a hundred
}

func TestDecodeUntyped(t *testing.T) {
	is := is.New(t)
	obj, strict, err := DecodeJSON([]byte(`{"b":1,"a":[1.0,1e3,{"c":1,"c":2}],"b":{}}`), nil)
	is.NoErr(err)
	is.Equal(string(Append(nil, obj, nil)), `{"a":[1,1000,{"c":2}],"b":{}}`)                            // as it is, sorted
	is.Equal(strings.Join(strict, "|"), `duplicate field "a[2].c"|duplicate field "b"`)                 // repeated fields
	_, _, err = DecodeJSON([]byte(`[]`), nil)                                                           //
	is.Equal(err.Error(), "json: cannot unmarshal array into Go value of type map[string]interface {}") // objects only
	_, _, err = DecodeJSON([]byte(`{"a":1e999}`), nil)                                                  //
	is.Equal(err.Error(), "json: cannot unmarshal number 1e999 into Go value of type float64")          // numbers have limits
	obj, _, err = DecodeJSON([]byte(`{"data":1e999}`), typeOf(t, "apps", "v1", "ControllerRevision"))   //
	is.NoErr(err)                                                                                       // but not in raw JSON
	is.Equal(string(object.JSON(map[string]any(obj))), `{"data":1e999}`)                                // which is kept as it is
}

// Raw values are encoded without spaces for clients. The store and protobuf have them as they were written.
func TestRawValues(t *testing.T) {
	is := is.New(t)
	kind := typeOf(t, "apps", "v1", "ControllerRevision")
	const text = `{ "b": 1.0, "a":"<" }`
	obj, _, err := DecodeJSON([]byte(`{"data": `+text+` ,"revision":1}`), kind)
	is.NoErr(err)
	is.Equal(obj["data"], object.Raw(text))
	is.Equal(string(Append(nil, obj, kind)), `{"metadata":{},"data":{"b":1.0,"a":"\u003c"},"revision":1}`)
	is.Equal(string(AppendStored(nil, obj, kind)), `{"metadata":{},"data":`+text+`,"revision":1}`)
	gvk := schema.GVK{Group: "apps", Version: "v1", Kind: "ControllerRevision"}
	back, _, err := DecodeProto(AppendEnvelope(nil, gvk, AppendProto(nil, obj, kind)), func(schema.GVK) *schema.Type { return kind })
	is.NoErr(err)
	is.Equal(back["data"], obj["data"]) // through protobuf
	plain, _, err := DecodeYAML([]byte(`{"data": `+text+`,"revision":1}`), kind)
	is.NoErr(err)
	is.Equal(plain["data"], map[string]any{"a": "<", "b": int64(1)}) // YAML is converted to JSON first
}

// TestSyntax compares the scanner with encoding/json for damaged documents.
func TestSyntax(t *testing.T) {
	const noise = "{}[]:,\"\\0-+.eEtfn \x00\x1f\xff"
	r := rand.New(rand.NewSource(1))
	kind := typeOf(t, "", "v1", "Pod")
	for range 20000 {
		doc := []byte(podJSON)
		if at := r.Intn(len(doc) - 40); r.Intn(2) == 0 {
			doc = append([]byte(`{"spec":{"containers":[{"a":[-1.5e+3,0,true,false,null,"\u00e9\n"]},`), doc[at:at+r.Intn(40)]...)
			doc = append(doc, `]}}`...)
		}
		for range r.Intn(3) {
			doc[r.Intn(len(doc))] = noise[r.Intn(len(noise))]
		}
		_, _, err := DecodeJSON(doc, kind)
		_, isSyntax := err.(*json.SyntaxError)
		if isSyntax == json.Valid(doc) {
			t.Fatalf("%s\nvalid %v, decoder says %v", doc, json.Valid(doc), err)
		}
	}
}
