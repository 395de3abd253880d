package storage

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
)

func attributesClassKind() kind.Kind {
	return kind.Kind{
		Storage: "volumeattributesclasses.storage.k8s.io",
		Strategy: resource.Strategy{
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckKind, resource.CheckMeta}},
			ReturnDeletedObject: true,
		},
		Validate: validateAttributesClass,
		Columns:  []table.Column{table.Name(), table.Doc("DriverName", table.DocStorage+"VolumeAttributesClass", "driverName").At("driverName"), table.Age()},
	}
}

func validateAttributesClass(_ *resource.Context, at field.Cursor) {
	driver, parameters := at.Child("driverName"), at.Child("parameters")
	driver.ForbidIf(driver.Changed(), "updates to driverName are forbidden.")
	parameters.ForbidIf(parameters.Changed(), "updates to parameters are forbidden.")
	validateProvisioner(driver.Required())
	validateParameters(parameters)
	parameters.RequireIf(parameters.Len() == 0, "must contain at least one key/value pair")
}
