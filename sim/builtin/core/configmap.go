package core

import (
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// maxConfigBytes is how much a ConfigMap or a Secret may hold.
const maxConfigBytes = 1 << 20

const immutableWhenSet = "field is immutable when `immutable` is set"

func configMapKind() kind.Kind {
	return kind.Kind{
		Storage: "configmaps",
		Strategy: resource.Strategy{
			Quota:    resource.Quota{Each: []string{"configmaps"}},
			Checks:   resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckFirst, resource.CheckMeta, resource.CheckKind}},
			Validate: validateConfigMap, ValidateUpdate: validateConfigMapUpdate,
			ValidateFirst: immutableConfigMap},
		Columns: []table.Column{table.Name(), table.Doc("Data", table.DocCore+"ConfigMap", "data"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), int64(len(obj.Map("data"))+len(obj.Map("binaryData"))), table.AgeCell(now, obj))
		},
	}
}

func validateConfigMap(_ *resource.Context, obj object.Object) field.ErrorList {
	var errs field.ErrorList
	size := 0
	data, binary := obj.Map("data"), obj.Map("binaryData")
	p := field.Root("data")
	for _, key := range object.SortedKeys(data) {
		errs = append(errs, field.Check(p.Key(key), key, field.ConfigMapKey)...)
		if _, ok := binary[key]; ok {
			errs = append(errs, field.Invalid(p.Key(key), key, "duplicate of key present in binaryData"))
		}
		text, _ := data[key].(string)
		size += len(text)
	}
	p = field.Root("binaryData")
	for _, key := range object.SortedKeys(binary) {
		errs = append(errs, field.Check(p.Key(key), key, field.ConfigMapKey)...)
		size += len(kind.Decoded(binary[key]))
	}
	if size > maxConfigBytes { // the real server names the whole object "[]"
		errs = append(errs, field.TooLong(field.Root("[]"), maxConfigBytes))
	}
	return errs
}

func validateConfigMapUpdate(ctx *resource.Context, obj, _ object.Object) field.ErrorList {
	return validateConfigMap(ctx, obj)
}

// immutableConfigMap lets an empty data pass where there was none: a default makes it so in the real server's memory
// (pkg/apis/core/v1.SetDefaults_ConfigMap).
func immutableConfigMap(_ *resource.Context, obj, old object.Object) field.ErrorList {
	sameData := func(a, b map[string]any) bool { return object.SemanticEqual(a, b) }
	return validateImmutable(obj, old, fieldRule{"data", sameData}, fieldRule{"binaryData", sameMap})
}

// fieldRule is a field that holds a map, and when two of its values are the same.
type fieldRule struct {
	name string
	same func(value, old map[string]any) bool
}

// sameMap compares a map that a client sent with a stored one. A stored map is never empty, it is absent: an empty one
// that was sent is another one.
func sameMap(value, old map[string]any) bool {
	if value != nil && len(value) == 0 {
		return false
	}
	return object.SemanticEqual(value, old)
}

// validateImmutable checks that an object which was declared immutable stays so and keeps the fields.
func validateImmutable(obj, old object.Object, fields ...fieldRule) field.ErrorList {
	if !old.True("immutable") {
		return nil
	}
	var errs field.ErrorList
	if !obj.True("immutable") {
		errs = append(errs, field.Forbidden(field.Root("immutable"), immutableWhenSet))
	}
	for _, f := range fields {
		if !f.same(obj.Map(f.name), old.Map(f.name)) {
			errs = append(errs, field.Forbidden(field.Root(f.name), immutableWhenSet))
		}
	}
	return errs
}
