package storage

import (
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func attributesClassKind() kind.Kind {
	return kind.Kind{
		Storage: "volumeattributesclasses.storage.k8s.io",
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckKind, resource.CheckMeta}},
			ReturnsDeleted: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateAttributesClass(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				var errs field.ErrorList
				for _, name := range []string{"driverName", "parameters"} {
					if !object.SemanticEqual(obj[name], old[name]) {
						errs = append(errs, field.Forbidden(field.Root(name), "updates to "+name+" are forbidden."))
					}
				}
				return append(errs, validateAttributesClass(obj)...)
			},
		},
		Columns: []table.Column{table.Name(), table.Doc("DriverName", table.DocStorage+"VolumeAttributesClass", "driverName"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.String("driverName"), table.AgeCell(now, obj))
		},
	}
}

func validateAttributesClass(obj object.Object) field.ErrorList {
	errs := validateProvisioner(field.Root("driverName"), obj.String("driverName"))
	return append(errs, classParameters(obj, false)...)
}
