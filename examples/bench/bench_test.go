package bench

import (
	"fmt"
	"slices"
	"testing"

	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
)

// measurement is one operation, measured with each target.
type measurement struct {
	name     string
	existing int      // number of existing pods
	except   []string // targets that do not support it, or do not differ
	run      func(b *testing.B, p pods)
}

// of measures one target.
func (m measurement) of(b *testing.B, t target) {
	b.ReportAllocs()
	m.run(b, t.open(b, m.existing))
}

// each measures all targets.
func (m measurement) each(b *testing.B) {
	for _, t := range targets {
		if !slices.Contains(m.except, t.name) {
			b.Run(t.name, func(b *testing.B) { m.of(b, t) })
		}
	}
}

// measurements are the rows of TestTable.
var measurements = []measurement{create, get, update, list, apply, fanOut, informer}

func BenchmarkCreate(b *testing.B)       { create.each(b) }
func BenchmarkGet(b *testing.B)          { get.each(b) }
func BenchmarkUpdate(b *testing.B)       { update.each(b) }
func BenchmarkList1000(b *testing.B)     { list.each(b) }
func BenchmarkApply(b *testing.B)        { apply.each(b) }
func BenchmarkWatch100(b *testing.B)     { fanOut.each(b) }
func BenchmarkInformer1000(b *testing.B) { informer.each(b) }

var create = measurement{name: "create", run: func(b *testing.B, p pods) {
	for n := 0; b.Loop(); n++ {
		if _, err := p.create(b.Context(), pod(n)); err != nil {
			b.Fatal(err)
		}
	}
}}

var get = measurement{name: "get", existing: 1, except: []string{"floor-answers"}, run: func(b *testing.B, p pods) {
	for b.Loop() {
		if got, err := p.get(b.Context(), "pod-0"); err != nil || len(got.Spec.Containers) != 2 {
			b.Fatal(got, err)
		}
	}
}}

var update = measurement{name: "update", existing: 1, run: func(b *testing.B, p pods) {
	current, err := p.get(b.Context(), "pod-0")
	if err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		current.Labels["version"] = fmt.Sprintf("v%d", n)
		if current, err = p.update(b.Context(), current); err != nil {
			b.Fatal(err)
		}
	}
}}

var list = measurement{name: "list 1,000", existing: 1000, except: []string{"floor-answers"}, run: func(b *testing.B, p pods) {
	for b.Loop() {
		if got, err := p.list(b.Context()); err != nil || len(got.Items) != 1000 {
			b.Fatal(err)
		}
	}
}}

// apply changes a ConfigMap's data in each iteration. NewSimpleClientset does not support apply.
var apply = measurement{
	name: "apply", except: []string{"client-go-simple", "kubesim-protobuf", "floor-protobuf"},
	run: func(b *testing.B, p pods) {
		for n := 0; b.Loop(); n++ {
			a := corev1apply.ConfigMap("applied", "default").WithData(map[string]string{"key": fmt.Sprint(n), "other": "same"})
			if err := p.apply(b.Context(), a); err != nil {
				b.Fatal(err)
			}
		}
	},
}
