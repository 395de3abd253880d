package kustomize

import (
	"io"
	"io/fs"
	"strings"
	"testing"
)

// memory implements Files with the contents of files.
type memory map[string][]byte

func (m memory) ReadFile(name string) ([]byte, error) {
	data, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return data, nil
}

func (m memory) Names(folder string) (out []string) {
	for name := range m { // order does not matter: only the existence is used
		if strings.HasPrefix(name, folder+"/") {
			out = append(out, name)
		}
	}
	return out
}

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
	f.Fuzz(func(_ *testing.T, kustomization, file []byte) {
		_, _ = Build(memory{"d/" + Names[0]: kustomization, "d/a.yaml": file}, "d", io.Discard)
	})
}
