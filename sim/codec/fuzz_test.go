package codec

import (
	"encoding/json"
	"testing"

	"github.com/kubesim/kubesim/sim/schema"
)

// FuzzDecode checks that the decoder does not panic, that it accepts the same input as encoding/json, and that an object does not
// change if it is encoded and decoded again.
func FuzzDecode(f *testing.F) {
	pod := typeOf(f, "", "v1", "Pod")
	kinds := []*schema.Type{
		pod, typeOf(f, "apps", "v1", "Deployment"), typeOf(f, "apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
		typeOf(f, "", "v1", "Secret"), typeOf(f, "coordination.k8s.io", "v1", "Lease"), nil,
	}
	for _, seed := range []string{
		podJSON, `{}`, `null`, `{"data":{"a":"YQ=="},"stringData":{"b":"\ud800"}}`, `{"spec":{"renewTime":"2026-01-02T03:04:05.123456Z"}}`,
		`{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"items":[{}],"additionalProperties":true,"default":1e999}}}]}}`,
	} {
		for i := range kinds {
			f.Add([]byte(seed), byte(i))
		}
	}
	d := testDecoder(f)
	f.Fuzz(func(t *testing.T, data []byte, n byte) {
		kind := kinds[int(n)%len(kinds)]
		obj, _, err := DecodeJSON(data, kind)
		if _, bad := err.(*json.SyntaxError); bad == json.Valid(data) {
			t.Fatalf("valid JSON: %v, but %v", json.Valid(data), err)
		}
		d.Object(data, "application/json", configMap, Strict)
		if err != nil {
			return
		}
		printed := Append(nil, obj, kind)
		again, strict, err := DecodeJSON(printed, kind)
		if err != nil || len(strict) > 0 {
			t.Fatalf("%s: %v %v", printed, err, strict)
		}
		if twice := Append(nil, again, kind); string(twice) != string(printed) {
			t.Fatalf("%s becomes %s", printed, twice)
		}
	})
}

// FuzzYAML checks that the decoder does not panic for any YAML body.
func FuzzYAML(f *testing.F) {
	f.Add([]byte("kind: ConfigMap\ndata: {a: b, a: c}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	d := testDecoder(f)
	f.Fuzz(func(_ *testing.T, data []byte) {
		d.Object(data, "application/yaml", configMap, Warn)
	})
}
