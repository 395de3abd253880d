package autoscaling

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/schema"
)

// The Go types of what annotations hold, which no kind has: those of autoscaling/v1, and the behavior with the names that it
// has in autoscaling/v2.
var (
	aString   = &schema.Type{Kind: schema.String}
	anInt     = &schema.Type{Kind: schema.Int, Bits: 32}
	aQuantity = &schema.Type{Kind: schema.Quantity}
	aRef      = aStruct(of(aString, "kind", "name", "apiVersion"))
	aSelector = aStruct(of(&schema.Type{Kind: schema.Map, Elem: aString}, "matchLabels"),
		of(aList(aStruct(of(aString, "key", "operator"), of(aList(aString), "values"))), "matchExpressions"))

	aTransition = []schema.Field{{Name: "lastTransitionTime", Type: &schema.Type{Kind: schema.Time}}}
	aCondition  = aStruct(of(aString, "type", "status"), aTransition, of(aString, "reason", "message"))
	aScaling    = aStruct(of(anInt, "stabilizationWindowSeconds"), of(aString, "selectPolicy"), of(aQuantity, "tolerance"),
		of(aList(aStruct(of(aString, "type"), of(anInt, "value", "periodSeconds"))), "policies"))
)

// The contents of each annotation.
var (
	metricsType, currentType = kind.ValueOf(aList(aMetric(false))), kind.ValueOf(aList(aMetric(true)))
	conditionsType           = kind.ValueOf(aList(aCondition))
	behaviorType             = kind.ValueOf(aStruct(of(aScaling, "scaleUp", "scaleDown")))
)

func aList(elem *schema.Type) *schema.Type { return &schema.Type{Kind: schema.List, Elem: elem} }

func aStruct(fields ...[]schema.Field) *schema.Type {
	return schema.NewStruct("", "", slices.Concat(fields...))
}

// of returns fields of a type, which are printed where they are set.
func of(t *schema.Type, names ...string) []schema.Field {
	fields := make([]schema.Field, len(names))
	for i, name := range names {
		fields[i] = schema.Field{Name: name, Type: t, Pointer: true, OmitEmpty: true}
	}
	return fields
}
