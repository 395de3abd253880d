package kind

import (
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Value is a Go type whose values are read and printed by themselves, though they need not be objects as those of kinds.
//
//	[{"type":"Pods"}]  ◀─ Read, JSON ─▶  {"value":[{"type":"Pods"}]}  ◀─ codec ─▶  []any
type Value struct{ inside *schema.Type }

// ValueOf returns what reads and prints values of a type.
func ValueOf(t *schema.Type) Value {
	return Value{schema.NewStruct("", "", []schema.Field{{Name: "value", Type: t, Pointer: true}})}
}

// Read reads JSON as it is read into the type: nil for what does not fit, and for null.
func (v Value) Read(text string) any {
	if _, err := object.ParseValue([]byte(text)); err != nil {
		return nil
	}
	obj, _, err := codec.DecodeJSON([]byte(`{"value":`+text+"}"), v.inside)
	if err != nil {
		return nil
	}
	return obj["value"]
}

// JSON prints a value, with fields in the order of the type.
func (v Value) JSON(value any) []byte {
	text := codec.Append(nil, object.Object{"value": value}, v.inside)
	return text[len(`{"value":`) : len(text)-1]
}
