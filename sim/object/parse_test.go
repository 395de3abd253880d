package object

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"
)

// FuzzParseValue compares the parser with encoding/json: the same texts are JSON, and mean the same.
func FuzzParseValue(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5,1e3,"x\u00e9\n",null,true,false,{}]}`, `[]`, `01`, `-`, `1.`, `.5`, `1e999`, `"\ud800"`, "\"\x80\"",
		`{"a":1,"a":2}`, `{"a":1,}`, `[1 2]`, ` 1 `, `-0`, `99999999999999999999`, `"a`, `{"a"}`, `nul`, `"` + "\t" + `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ParseValue(data)
		want, wantErr := reference(data)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%q: error %v, encoding/json says %v", data, err, wantErr)
		}
		if err == nil && !Equal(got, want) {
			t.Fatalf("%q: %#v, encoding/json gives %#v", data, got, want)
		}
	})
}

// reference reads data with encoding/json.
func reference(data []byte) (any, error) {
	if !json.Valid(data) {
		return nil, json.Unmarshal(data, new(any))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return exact(v)
}

func exact(v any) (_ any, err error) {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n, nil
		}
		return strconv.ParseFloat(string(v), 64)
	case map[string]any:
		for k := range v { // order does not matter
			if v[k], err = exact(v[k]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = exact(v[i]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

var pod = []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":"0b1fbf21-0000-4000-8000-000000000000","resourceVersion":"4321","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"nginx:1","ports":[{"containerPort":80,"protocol":"TCP"}],"resources":{"limits":{"cpu":"1"}},"terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst"},"status":{"phase":"Pending"}}`)

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(pod); err != nil {
			b.Fatal(err)
		}
	}
}
