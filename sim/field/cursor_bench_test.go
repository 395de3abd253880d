package field_test

import (
	"testing"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// BenchmarkCursor validates a valid object. This is the cost of every write; no path is formatted.
func BenchmarkCursor(b *testing.B) {
	port := map[string]any{"name": "http", "port": int64(80), "protocol": "TCP"}
	spec := map[string]any{"mode": "A", "n": int64(3), "deep": map[string]any{"er": map[string]any{"name": "x"}}, "ports": []any{port, port, port}}
	obj, old := object.Object{"spec": spec}, object.Object{"spec": spec}
	for _, bb := range []struct {
		name string
		old  object.Object
		rule func(at field.Cursor)
	}{
		{"leaf", nil, func(at field.Cursor) { at.Child("mode").OneOf("A", "B") }},
		{"absent", nil, func(at field.Cursor) { at.Child("none").Positive() }},
		{"chain", nil, func(at field.Cursor) { at.Child("n").OrZero().Required().Range(0, 3).NonNegative() }},
		{"deep", nil, func(at field.Cursor) { at.Child("deep", "er", "name").Required().MaxBytes(3) }},
		{"immutable", old, func(at field.Cursor) { at.Child("mode").Immutable() }},
		{"items", nil, func(at field.Cursor) {
			for port := range at.Each("ports") {
				port.Child("name").Required().Check(field.PortName)
				port.Child("port").OrZero().CheckInt(field.PortNumber)
				port.Child("protocol").Required().OneOf("TCP", "UDP")
			}
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				at := field.CursorAt(obj, bb.old)
				bb.rule(at.Child("spec"))
			}
		})
	}
}
