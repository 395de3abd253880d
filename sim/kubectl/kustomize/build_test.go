package kustomize

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// disk implements Files with the machine's file system.
type disk struct{}

func (disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func (disk) Names(folder string) (out []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	out = []string{}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

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
		got, err := Build(disk{}, "testdata/"+name, io.Discard)
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

func TestBuildErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"resources: [missing.yaml]":                                       "accumulating resources from 'missing.yaml': evalsymlink failure on",
		"resources: [https://example.com/x.yaml]":                         "nothing is fetched from https://example.com/x.yaml",
		"resources: [.]":                                                  "cycle detected: candidate root",
		"components: [.]":                                                 "accumulating components: loader.New \"cycle detected",
		"components: [gone]":                                              "accumulating components: loader.New \"must build at directory: not a valid directory",
		"helmCharts: []":                                                  "the field helmCharts is not simulated",
		"buildMetadata: [originAnnotations]":                              "buildMetadata: originAnnotations is not simulated",
		"apiVersion: v1\nkind: Pod":                                       "kind should be Kustomization or Component\napiVersion",
		"patches: [{patch: '[]'}]":                                        "must specify a target for JSON patch",
		"patches: [{path: gone.yaml}]":                                    "failed to get the patch file from path(gone.yaml): evalsymlink failure",
		"patches: [{patch: 'a: [b'}]":                                     "unable to parse SM or JSON patch from [patch: \"a: [b\"]",
		"patches: [{patch: '{kind: Pod, metadata: {name: a}}'}]":          "no matches for Id Pod.[noVer].[noGrp]/a.[noNs]",
		"configMapGenerator: [{literals: [a=b]}]":                         "a configmap must have a name",
		"configMapGenerator: [{name: a, literals: [b]}]":                  "invalid literal source b, expected key=value",
		"configMapGenerator: [{name: a, behavior: merge}]":                "does not exist; cannot merge or replace",
		"secretGenerator: [{name: a}, {name: a}]":                         "exists; can not use behavior: 'unspecified'",
		"secretGenerator: [{name: a, envs: [none]}]":                      "loading KV pairs: env source files: [none]: evalsymlink failure",
		"replacements: [{source: {kind: Pod}, targets: []}]":              "nothing selected by Pod.[noVer].[noGrp]/[noName].[noNs]",
		"patches: [{target: {labelSelector: '=='}, patch: '[{op: x}]'}]":  "found '=='",
		"sortOptions: {order: odd}":                                       "must be one of [fifo, legacy]",
		"vars: [{name: X, objref: {kind: Pod, name: g, apiVersion: v1}}]": "var '{X Pod.v1.[noGrp] {metadata.name}}' cannot be mapped",
		"configMapGenerator: [{name: a}]\nvars: [{name: X, objref: {kind: ConfigMap, name: a}, fieldref: {fieldpath: data.b}}]": "field specified in var 'X' not found",
		"[]": "not a JSON object",
	} {
		is := is.New(t)
		dir := t.TempDir()
		is.NoErr(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600))
		if _, err := Build(disk{}, dir, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := Build(disk{}, t.TempDir(), io.Discard); err == nil || !strings.Contains(err.Error(), "unable to find one of 'kustomization.yaml'") {
		t.Error(err)
	}
}
