package storage

import (
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func csiNodeKind() kind.Kind {
	return kind.Kind{
		Storage: "csinodes.storage.k8s.io",
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
			ReturnsDeleted: true, NeedsResourceVersion: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateNodeDrivers(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				return append(validateNodeDrivers(obj), sameNodeDrivers(obj, old)...)
			},
		},
		Columns: []table.Column{table.Name(), table.Text("Drivers", "Drivers indicates the number of CSI drivers registered on the node").Of("integer"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), int64(len(obj.List("spec", "drivers"))), table.AgeCell(now, obj))
		},
	}
}

func validateNodeDrivers(obj object.Object) field.ErrorList {
	at := field.CursorAt(obj, nil, "spec")
	names := field.Seen{}
	for driver := range at.Each("drivers") {
		name, node := driver.Child("name"), driver.Child("nodeID")
		driver.Report(podspec.DriverName(name.Path(), name.String()))
		node.Required().InvalidIf(len(node.String()) > 256, "must be 256 characters or less")
		driver.Child("allocatable", "count").NonNegative()
		name.Unique(names)
		keys := field.Seen{}
		for key := range driver.Each("topologyKeys") {
			key = key.ReportAt(driver)
			key.Required()
			key.Unique(keys).Check(field.QualifiedName)
		}
	}
	return at.Errors()
}

// sameNodeDrivers checks that a driver of a node keeps everything but how many volumes it can attach.
func sameNodeDrivers(obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	for _, was := range old.Objects("spec", "drivers") {
		for _, driver := range obj.Objects("spec", "drivers") {
			if driver.String("name") != was.String("name") {
				continue
			}
			a, b := driver.Copy(), was.Copy()
			delete(a, "allocatable")
			delete(b, "allocatable")
			if !object.SemanticEqual(map[string]any(a), map[string]any(b)) {
				errs = append(errs, field.Invalid(field.Root("spec.drivers"), gotext.Value("CSINodeDriver", a), field.TextImmutable))
			}
		}
	}
	return errs
}
