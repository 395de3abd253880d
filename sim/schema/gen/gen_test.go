package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/schema"
)

// minor is the minor of the k8s.io modules with which the test was built: go test -modfile go-1.35.mod tests 1.35.
var minor = func() string {
	minor, err := builtFor()
	if err != nil {
		panic(err)
	}
	return minor
}()

// TestDataIsUpToDate checks that generating the files again gives the same bytes as in ../data.
func TestDataIsUpToDate(t *testing.T) {
	is := is.New(t)
	for range 2 {
		dir := t.TempDir()
		is.NoErr(generate("openapi", dir))
		for _, name := range []string{minor + ".bin", "docs-" + minor + ".bin", "prose-" + minor + ".bin", "all-" + minor + ".bin", "docs-all-" + minor + ".bin", "prose-all-" + minor + ".bin"} {
			got, err := os.ReadFile(filepath.Join(dir, name))
			is.NoErr(err)
			want, err := os.ReadFile(filepath.Join("../data", name))
			is.NoErr(err)
			is.True(bytes.Equal(got, want)) // run "make generate" and review the changes
		}
	}
}

// TestEveryGoField looks up each field of each Go type, as flattened by package reflect, in the data.
func TestEveryGoField(t *testing.T) {
	set, err := schema.LoadAll(minor)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := kindTypes(slices.Concat(registrations, offRegistrations))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{}
	for gvk, g := range kinds {
		s := set.Kind(gvk)
		if s == nil {
			t.Errorf("no kind %v", gvk)
			continue
		}
		compare(t, g, s, seen)
	}
	if len(seen) < 580 {
		t.Errorf("only %d structs were compared", len(seen))
	}
}

// compare checks the Go type g, and all types that it contains, against s.
func compare(t *testing.T, g reflect.Type, s *schema.Type, seen map[reflect.Type]bool) {
	t.Helper()
	if g.String() != s.GoType {
		t.Errorf("%s is called %s", g, s.GoType)
	}
	switch s.Kind {
	case schema.List, schema.Map:
		e, pointer := deref(g.Elem())
		if pointer != s.ElemPointer {
			t.Errorf("%s: pointers to elements: %v", g, s.ElemPointer)
		}
		compare(t, e, s.Elem, seen)
	case schema.Struct:
		if !seen[g] {
			seen[g] = true
			compareFields(t, g, s, seen)
		}
	}
}

func compareFields(t *testing.T, g reflect.Type, s *schema.Type, seen map[reflect.Type]bool) {
	t.Helper()
	n := 0
	for _, f := range reflect.VisibleFields(g) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || name == "" || !inlined(g, f.Index) {
			continue
		}
		n++
		have := s.Field(name)
		if have == nil {
			t.Errorf("%s has no %s", g, name)
			continue
		}
		e, pointer := deref(f.Type)
		omitEmpty, omitZero := strings.Contains(options, "omitempty"), strings.Contains(options, "omitzero")
		if have.Pointer != pointer || have.OmitEmpty != omitEmpty || have.OmitZero != omitZero {
			t.Errorf("%s.%s is %+v", g, name, *have)
		}
		compare(t, e, have.Type, seen)
	}
	if n != len(s.Fields) {
		t.Errorf("%s has %d fields, not %d", g, len(s.Fields), n)
	}
}

// inlined reports whether all embedded structs on the path to a field of g are inlined in JSON.
func inlined(g reflect.Type, index []int) bool {
	for i := 1; i < len(index); i++ {
		if name, _, _ := strings.Cut(g.FieldByIndex(index[:i]).Tag.Get("json"), ","); name != "" {
			return false
		}
	}
	return true
}
