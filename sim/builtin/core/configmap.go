package core

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// maxConfigBytes is the maximum size of the data of a ConfigMap or a Secret.
const maxConfigBytes = 1 << 20

const immutableWhenSet = "field is immutable when `immutable` is set"

func configMapKind() kind.Kind {
	return kind.Kind{
		Storage: "configmaps",
		Strategy: resource.Strategy{
			Quota:  resource.Quota{Each: []string{"configmaps"}},
			Checks: resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckFirst, resource.CheckMeta, resource.CheckKind}},
		},
		Validate: validateConfigMap, ValidateFirst: immutableConfigMap,
		Columns: []table.Column{table.Name(), table.Doc("Data", table.DocCore+"ConfigMap", "data").Cell(func(obj object.Object) any {
			return int64(len(obj.Map("data")) + len(obj.Map("binaryData")))
		}), table.Age()},
	}
}

func validateConfigMap(_ *resource.Context, at field.Cursor) {
	size := 0
	for key, text := range at.EachKey("data") {
		text.With(key).Check(field.ConfigMapKey).InvalidIf(at.Has("binaryData", key), "duplicate of key present in binaryData")
		size += len(text.String())
	}
	if size += checkKeys(at.Child("binaryData")); size > maxConfigBytes { // in the error, the real server prints the whole object as "[]"
		at.Report(field.ErrorList{field.TooLong(podspec.Whole, maxConfigBytes)})
	}
}

// checkKeys checks the keys of a map of base64-encoded values, and returns the total decoded size of the values.
func checkKeys(at field.Cursor) (size int) {
	for key, value := range at.EachKey() {
		value.With(key).Check(field.ConfigMapKey)
		size += len(kind.Decoded(value.Value()))
	}
	return size
}

// immutableConfigMap checks that an immutable ConfigMap does not change. It accepts an empty data map if there was none,
// because a default creates one in the real server's memory (pkg/apis/core/v1.SetDefaults_ConfigMap).
func immutableConfigMap(_ *resource.Context, at field.Cursor) {
	if stillImmutable(at) {
		data := at.Child("data")
		data.ForbidIf(data.Changed(), immutableWhenSet)
		immutableMap(at.Child("binaryData"))
	}
}

// stillImmutable checks that an immutable object remains immutable, and reports whether it was immutable.
func stillImmutable(at field.Cursor) bool {
	was := at.Old().True("immutable")
	at.Child("immutable").ForbidIf(was && !at.True("immutable"), immutableWhenSet)
	return was
}

// immutableMap checks that a map is unchanged. A stored map is never empty, so an empty map in a request is a change.
func immutableMap(at field.Cursor) {
	at.ForbidIf(at.Has() && at.Len() == 0 || at.Changed(), immutableWhenSet)
}
