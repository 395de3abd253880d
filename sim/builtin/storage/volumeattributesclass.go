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
				return validateAttributesClass(obj, nil)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				return validateAttributesClass(obj, old)
			},
		},
		Columns: []table.Column{table.Name(), table.Doc("DriverName", table.DocStorage+"VolumeAttributesClass", "driverName"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.String("driverName"), table.AgeCell(now, obj))
		},
	}
}

func validateAttributesClass(obj, old object.Object) field.ErrorList {
	at := field.CursorAt(obj, old)
	driver, parameters := at.Child("driverName"), at.Child("parameters")
	driver.ForbidIf(driver.Changed(), "updates to driverName are forbidden.")
	parameters.ForbidIf(parameters.Changed(), "updates to parameters are forbidden.")
	validateProvisioner(driver)
	validateParameters(parameters, false)
	return at.Errors()
}
