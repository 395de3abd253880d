package kustomize

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzBuild checks that no kustomization, and no file that it names, makes the program panic.
func FuzzBuild(f *testing.F) {
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: c, image: i}]}}}\n"
	f.Add([]byte("resources: [a.yaml]\nnamePrefix: p-\nnamespace: n\nlabels: [{pairs: {a: b}, includeSelectors: true}]\nimages: [{name: i, newTag: '2'}]\n"),
		[]byte(deployment))
	f.Add([]byte("configMapGenerator: [{name: c, literals: [a=b], files: [a.yaml], envs: [a.yaml]}]\nsecretGenerator: [{name: s, literals: [x]}]\n"), []byte("a=b\n"))
	f.Add([]byte("resources: [a.yaml]\npatches: [{path: a.yaml}, {target: {kind: Deployment}, patch: '[{op: add, path: /spec/replicas, value: 2}]'}]\n"+
		"replacements: [{source: {kind: Deployment, fieldPath: metadata.name}, targets: [{select: {kind: Deployment}, fieldPaths: ['spec.template.spec.containers.[name=c].image']}]}]\n"),
		[]byte(deployment))
	f.Add([]byte("resources: [.]\ncomponents: [..]\nconfigurations: [a.yaml]\n"), []byte("nameReference: [{kind: X, fieldSpecs: [{path: a/b, kind: Y}]}]\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, kustomization, file []byte) {
		for name, data := range map[string][]byte{Names[0]: kustomization, "a.yaml": file} { // order does not matter
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = Build(dir)
	})
}
