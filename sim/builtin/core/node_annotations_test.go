package core

import (
	"testing"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// FuzzNodeAnnotations checks that no value of a node annotation makes validation panic.
func FuzzNodeAnnotations(f *testing.F) {
	for _, text := range []string{
		`[{"Key":"a","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"},{"timeAdded":null},{}]`,
		`{"preferAvoidPods":[{},{"podSignature":{"podController":{}}},{"podSignature":{"podController":{"controller":true}}}]}`,
		`null`, `[null]`, `{"preferAvoidPods":[null]}`, `[{"timeAdded":5}]`, `{`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		annotations := map[string]any{taintsAnnotation: text, avoidAnnotation: text}
		at := field.CursorAt(object.Object{"metadata": map[string]any{"annotations": annotations}}, nil)
		validateNodeAnnotations(at)
		for _, err := range at.Errors() {
			_ = err.Error()
		}
	})
}
