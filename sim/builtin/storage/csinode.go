package storage

import (
	"slices"
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
				return validateNodeDrivers(obj.Objects("spec", "drivers"))
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateNodeDrivers(obj.Objects("spec", "drivers"))
				return append(errs, sameNodeDrivers(obj, old)...)
			},
		},
		Columns: []table.Column{table.Name(), table.Text("Drivers", "Drivers indicates the number of CSI drivers registered on the node").Of("integer"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), int64(len(obj.List("spec", "drivers"))), table.AgeCell(now, obj))
		},
	}
}

func validateNodeDrivers(drivers []object.Object) field.ErrorList {
	const longest = 256
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, driver := range drivers {
		p, name, node := field.Root("spec.drivers").Index(i), driver.String("name"), driver.String("nodeID")
		errs = append(errs, podspec.DriverName(p.Child("name"), name)...)
		errs = append(errs, field.MustBeSet(p.Child("nodeID"), node)...)
		if len(node) > longest {
			errs = append(errs, field.Invalid(p.Child("nodeID"), node, "must be 256 characters or less"))
		}
		if count, ok := driver.Int("allocatable", "count"); ok {
			errs = append(errs, field.NonNegative(count, p.Child("allocatable", "count"))...)
		}
		if seen[name] {
			errs = append(errs, field.Duplicate(p.Child("name"), name))
		}
		seen[name] = true
		keys := driver.Strings("topologyKeys")
		for j, key := range keys {
			errs = append(errs, field.MustBeSet(p, key)...)
			if slices.Contains(keys[:j], key) {
				errs = append(errs, field.Duplicate(p, key))
			}
			errs = append(errs, field.Check(p, key, field.QualifiedName)...)
		}
	}
	return errs
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
