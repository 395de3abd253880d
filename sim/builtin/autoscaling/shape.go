package autoscaling

import (
	"math"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// shape is the Go type that JSON in an annotation is read into. What does not fit is refused as a whole, fields it does
// not know are dropped, quantities and times come out as they are printed.
type shape struct {
	kind   byte // s, i, q, t: string, int32, quantity, time; '{': a struct; 'm': a map of strings; '[': a list of elem
	fields map[string]shape
	elem   *shape
}

var (
	aString   = shape{kind: 's'}
	anInt     = shape{kind: 'i'}
	aQuantity = shape{kind: 'q'}
	aRef      = aStruct(map[string]shape{"kind": aString, "name": aString, "apiVersion": aString})
	aSelector = aStruct(map[string]shape{
		"matchLabels":      {kind: 'm'},
		"matchExpressions": aList(aStruct(map[string]shape{"key": aString, "operator": aString, "values": aList(aString)})),
	})
)

func aStruct(fields map[string]shape) shape { return shape{kind: '{', fields: fields} }

func aList(elem shape) shape { return shape{kind: '[', elem: &elem} }

// conditionShapes are the conditions of autoscaling/v1, behaviorShape the behavior.
var (
	conditionShapes = aList(aStruct(map[string]shape{"type": aString, "status": aString, "lastTransitionTime": {kind: 't'},
		"reason": aString, "message": aString}))

	scalingShape = aStruct(map[string]shape{"stabilizationWindowSeconds": anInt, "selectPolicy": aString, "tolerance": aQuantity,
		"policies": aList(aStruct(map[string]shape{"type": aString, "value": anInt, "periodSeconds": anInt}))})
	behaviorShape = aStruct(map[string]shape{"scaleUp": scalingShape, "scaleDown": scalingShape})
)

// read returns v in the form of s, and whether it fits. null fits everything.
func (s shape) read(v any) (any, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case map[string]any:
		return s.readMap(v)
	case []any:
		return s.readList(v)
	case string:
		return s.readString(v)
	case int64:
		if s.kind == 'q' {
			return quantity.New(v, quantity.DecimalSI).String(), true
		}
		return v, s.kind == 'i' && math.MinInt32 <= v && v <= math.MaxInt32
	case float64:
		if s.kind == 'q' {
			return s.readString(string(object.AppendFloat(nil, v)))
		}
	}
	return nil, false
}

func (s shape) readString(text string) (any, bool) {
	switch s.kind {
	case 's':
		return text, true
	case 'q':
		canonical, err := quantity.Canonical(text)
		return canonical, err == nil
	case 't':
		at, err := time.Parse(time.RFC3339, text)
		return object.Time(at), err == nil
	}
	return nil, false
}

func (s shape) readMap(m map[string]any) (any, bool) {
	out := map[string]any{}
	for name, v := range m { // order does not matter
		field, known := s.fields[name]
		if s.kind == 'm' {
			field, known = aString, true
		}
		if !known {
			continue
		}
		x, ok := field.read(v)
		if !ok {
			return nil, false
		}
		if x != nil {
			out[name] = x
		}
	}
	return out, s.kind == '{' || s.kind == 'm'
}

func (s shape) readList(list []any) (any, bool) {
	if s.kind != '[' {
		return nil, false
	}
	out := make([]any, 0, len(list))
	for _, v := range list {
		x, ok := s.elem.read(v)
		if !ok {
			return nil, false
		}
		if x == nil { // a zero struct or an empty string
			x = map[byte]any{'{': map[string]any{}, 's': ""}[s.elem.kind]
		}
		out = append(out, x)
	}
	return out, true
}
