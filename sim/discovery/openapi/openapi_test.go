package openapi

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// returnDeleted are the built-in kinds whose DELETE returns the object.
var returnDeleted = map[string]bool{
	"PersistentVolume": true, "PersistentVolumeClaim": true, "Pod": true, "PodTemplate": true, "ResourceQuota": true, "Service": true, "ServiceAccount": true,
}

// source returns the parts of a default 1.36 server.
func source(tb testing.TB) (*Source, []Part) {
	tb.Helper()
	set, err := schema.Load(schema.Default)
	if err != nil {
		tb.Fatal(err)
	}
	parts := Roots()
	for _, g := range set.Groups() {
		parts = append(parts, Part{Key: "apis/" + g.Name, Group: g.Name})
	}
	for _, r := range set.Resources() {
		def := &resource.Definition{GVK: r.GVK, Resource: r.Resource, Singular: r.Singular, Namespaced: r.Namespaced, Verbs: r.Verbs,
			Type: func() *schema.Type { return set.Kind(r.GVK) }, Strategy: &resource.Strategy{ReturnDeletedObject: returnDeleted[r.Kind]}}
		def.Hub = def
		for _, sub := range r.Subresources {
			def.Subresources = append(def.Subresources, resource.Subresource{Name: sub.Name, GVK: sub.GVK, Verbs: sub.Verbs})
		}
		key := "apis/" + r.GV()
		if r.Group == "" {
			key = "api/" + r.GV()
		}
		if parts[len(parts)-1].Key != key {
			parts = append(parts, Part{Key: key, Group: r.Group, Version: r.Version})
		}
		p := &parts[len(parts)-1]
		p.Defs = append(p.Defs, def)
	}
	return &Source{Schema: set, Version: "1.36"}, parts
}

// read parses a document.
func read(tb testing.TB, b []byte) object.Object {
	tb.Helper()
	o, err := object.Parse(b)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// published is the structure of the real server's documents.
func published(tb testing.TB) (out struct {
	Schemas    map[string]any
	Operations map[string]map[string]struct {
		Action string
		GVK    map[string]any
	}
}) {
	tb.Helper()
	f, err := os.Open("../../schema/gen/openapi/1.36.json.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&out); err != nil {
		tb.Fatal(err)
	}
	return out
}

// generic converts a value to the types that encoding/json decodes.
func generic(tb testing.TB, v any) any {
	tb.Helper()
	var out any
	if err := json.Unmarshal(object.JSON(v), &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

// undescribed removes descriptions and enums, which the published files do not contain.
func undescribed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["description"].(string); ok {
			delete(v, "description")
		}
		if _, ok := v["enum"].([]any); ok {
			delete(v, "enum")
		}
		for _, x := range v { // order does not matter
			undescribed(x)
		}
	case []any:
		for _, x := range v {
			undescribed(x)
		}
	}
	return v
}

func TestSchemasArePublished(t *testing.T) {
	s, parts := source(t)
	want := published(t).Schemas
	seen := 0
	for _, p := range parts {
		schemas, _ := read(t, s.V3(p)).Get("components", "schemas")
		got, _ := undescribed(generic(t, schemas)).(map[string]any)
		for name, schema := range got { // order does not matter
			seen++
			if everywhere[name] { // the published ones name one group version more, always the last
				continue
			}
			if !reflect.DeepEqual(schema, want[name]) {
				t.Errorf("%s of %s\n got %v\nwant %v", name, p.Key, schema, want[name])
			}
		}
	}
	is := is.New(t)
	is.True(seen > 700) // every document has its schemas
}

func TestOperationsArePublished(t *testing.T) {
	s, parts := source(t)
	want := published(t).Operations
	served := map[string]bool{}
	ids := map[string]string{}
	for _, p := range parts {
		if p.Version == "" {
			continue
		}
		served[strings.Trim(p.Key, "/")] = true
		for _, op := range s.operations(p) {
			if op.action == "" {
				continue
			}
			w, ok := want[op.path][op.method]
			got := kindObject(op.kind)
			if !ok || w.Action != op.action || !reflect.DeepEqual(got, w.GVK) {
				t.Errorf("%s %s: %s %v, want %s %v", op.method, op.path, op.action, got, w.Action, w.GVK)
			}
			if other := ids[op.id]; other != "" {
				t.Errorf("%s: %s and %s", op.id, other, op.path)
			}
			ids[op.id] = op.path
			delete(want[op.path], op.method)
		}
	}
	for path, methods := range want { // order does not matter
		parts := strings.Split(path, "/")
		key := strings.Join(parts[1:min(len(parts), 4)], "/")
		if parts[1] == "api" {
			key = "api/v1"
		}
		if served[key] && len(methods) > 0 {
			t.Errorf("missing: %s %v", path, methods)
		}
	}
}

func TestReferences(t *testing.T) {
	s, parts := source(t)
	for _, p := range parts {
		doc := read(t, s.V3(p))
		eachRef(map[string]any(doc), func(ref string) {
			name := strings.TrimPrefix(ref, refV3)
			if _, ok := doc.Get("components", "schemas", name); !ok {
				t.Errorf("%s: %s is not there", p.Key, ref)
			}
		})
	}
	v2 := object.Object(s.V2(parts))
	eachRef(map[string]any(v2), func(ref string) {
		path := strings.SplitN(strings.TrimPrefix(ref, "#/"), "/", 2)
		if _, ok := v2.Get(path...); !ok {
			t.Errorf("v2: %s is not there", ref)
		}
	})
}

func eachRef(v any, yield func(string)) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			yield(ref)
		}
		for _, x := range v { // order does not matter
			eachRef(x, yield)
		}
	case []any:
		for _, x := range v {
			eachRef(x, yield)
		}
	}
}

func BenchmarkV3(b *testing.B) {
	s, parts := source(b)
	n := 0
	for b.Loop() {
		n = 0
		for _, p := range parts {
			n += len(s.V3(p))
		}
	}
	b.ReportMetric(float64(n), "bytes")
}

func BenchmarkV2(b *testing.B) {
	s, parts := source(b)
	for b.Loop() {
		object.JSON(s.V2(parts))
	}
}
