package storage

import (
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
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
			ReturnDeletedObject: true, DenyUnconditionalUpdate: true,
		},
		Since:    map[int]func(k *kind.Kind){37: func(k *kind.Kind) { k.Strategy.HasStatus, k.Strategy.StatusKeeps = true, resource.KeptForStatus }},
		Gates:    []kind.Gate{{Name: "CSIVolumeHealth", Fields: []string{"status.storageHealth"}}},
		Validate: func(_ *resource.Context, at field.Cursor) { validateNodeDrivers(at.Old(), at.Child("spec", "drivers")) },
		Columns: []table.Column{table.Name(),
			table.Text("Drivers", "Drivers indicates the number of CSI drivers registered on the node").Count("spec", "drivers"), table.Age()},
	}
}

// validateNodeDrivers checks the drivers of a node. An existing driver may only change the number of volumes that it can
// attach.
func validateNodeDrivers(old object.Object, at field.Cursor) {
	names := field.Seen{}
	for driver := range at.Each() {
		name, node := driver.Child("name"), driver.Child("nodeID")
		podspec.DriverName(name)
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
	for _, was := range old.Objects("spec", "drivers") {
		for driver := range at.Each() {
			a, b := driver.Object().Copy(), was.Copy()
			delete(a, "allocatable")
			delete(b, "allocatable")
			if a.String("name") == b.String("name") && !object.SemanticEqual(map[string]any(a), map[string]any(b)) {
				at.Invalid(gotext.Value(gotext.CSINodeDriver, a), field.TextImmutable)
			}
		}
	}
}
