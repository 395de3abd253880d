package kustomize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// Build returns the same objects as "kubectl kustomize" v1.36.3, in any order. testdata/NAME.yaml is its output for testdata/NAME.
func TestBuild(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"base", "overlay", "configured"} {
		is := is.New(t)
		data, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
		is.NoErr(err)
		want := map[string]object.Object{}
		list, err := codec.Manifest(data)
		is.NoErr(err)
		for _, obj := range list {
			want[id(obj)] = obj
		}
		got, err := Build(filepath.Join("testdata", name))
		is.NoErr(err)
		for _, obj := range got {
			w, ok := want[id(obj)]
			if !ok {
				t.Errorf("%s: %s is too much", name, id(obj))
				continue
			}
			delete(want, id(obj))
			for _, c := range object.Diff(w, obj) {
				t.Errorf("%s: %s: %s", name, id(obj), c)
			}
		}
		for n := range want {
			t.Errorf("%s: %s is missing", name, n)
		}
	}
}

func id(obj object.Object) string { return obj.Kind() + " " + obj.Namespace() + "/" + obj.Name() }

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"resources: [missing.yaml]":                                      "missing.yaml: it is not a local file or folder",
		"resources: [https://example.com/x.yaml]":                        "it is not a local file or folder",
		"resources: [.]":                                                 "it is made of itself",
		"helmCharts: []":                                                 "the field helmCharts is not simulated",
		"patches: [{patch: '[]'}]":                                       "a JSON patch has no target",
		"patches: [{patch: '{kind: Pod, metadata: {name: a}}'}]":         "no resource is Pod a",
		"replicas: [{name: web, count: 1}]":                              `nothing with replicas is called "web"`,
		"configMapGenerator: [{name: a, behavior: merge}]":               "configMapGenerator: a: behavior merge: the object does not exist",
		"secretGenerator: [{name: a}, {name: a}]":                        "the object already exists",
		"configMapGenerator: [{name: a, files: [none]}]":                 "none: no such file",
		"replacements: [{source: {kind: Pod}, targets: []}]":             "0 fields are the source Pod",
		"patches: [{target: {labelSelector: '=='}, patch: '[{op: x}]'}]": "found '=='",
		"[]": "not a JSON object",
	} {
		is := is.New(t)
		dir := t.TempDir()
		is.NoErr(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600))
		if _, err := Build(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := Build(t.TempDir()); err == nil || !strings.Contains(err.Error(), "there is no kustomization.yaml") {
		t.Error(err)
	}
}
