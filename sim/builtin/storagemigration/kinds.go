// Package storagemigration defines the StorageVersionMigration, which servers since 1.37 serve by default.
package storagemigration

import (
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Kinds returns the kinds of storagemigration.k8s.io.
func Kinds() []kind.Kind {
	name := table.Name()
	name.Format = ""
	return []kind.Kind{{
		Storage: "storageversionmigrations.storagemigration.k8s.io", Gate: "StorageVersionMigrator",
		Strategy: resource.Strategy{
			Checks:    resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind, resource.CheckMetaUpdate}},
			HasStatus: true, StatusKeeps: resource.KeptForStatus, DenyUnconditionalUpdate: true,
		},
		Validate:       validateMigration,
		ValidateStatus: validateMigrationStatus,
		Columns: []table.Column{
			name, table.Text("Resource", "GroupResource to migrate").Cell(cellResource), table.Text("Status", "Status of the migration").Cell(cellStatus),
		},
	}}
}

func cellResource(obj object.Object) any {
	of := obj.At("spec", "resource")
	return strings.TrimSuffix(of.String("resource")+"."+of.String("group"), ".")
}

func cellStatus(obj object.Object) any {
	status := "Unknown"
	for _, c := range obj.Objects("status", "conditions") {
		if t := c.String("type"); c.String("status") == "True" && (t == "Running" || t == "Failed" || t == "Succeeded") {
			status = t
		}
	}
	return status
}

// validateMigration validates a migration (pkg/apis/storagemigration/validation.ValidateStorageVersionMigration).
func validateMigration(_ *resource.Context, at field.Cursor) {
	of := at.Child("spec", "resource")
	of.Child("resource").Required("resource is required to be set").Check(field.Joined(field.DNS1035Label, ","))
	of.Child("group").IfGiven().Check(field.Joined(field.DNS1123Subdomain, ","))
	if spec := at.Child("spec"); spec.Changed() {
		shown := append(object.AppendJSON([]byte(`{"Resource":`), map[string]any{"group": of.String("group"), "resource": of.String("resource")}), '}')
		spec.Invalid(field.Raw(shown), field.TextImmutable)
	}
}

// isRevision reports whether text is a resourceVersion that an object can have: a positive integer of any length, without leading zeros
// (resourceversion.CompareResourceVersion).
func isRevision(text string) bool {
	return text[0] != '0' && strings.Trim(text, "0123456789") == ""
}

func validateMigrationStatus(ctx *resource.Context, at field.Cursor) {
	conditions, revision := at.Child("status", "conditions"), at.Child("status", "resourceVersion")
	if text := revision.String(); text != "" && !isRevision(text) {
		revision.Invalid(text, "resource version is not well formed: "+text)
	}
	kind.CheckConditions(ctx, conditions)
	revision.InvalidIf(at.Old().String("status", "resourceVersion") != "" && revision.OrEmpty().Changed(), field.TextImmutable)
	is := func(obj object.Object, name string) bool { return obj.Condition(name).String("status") == "True" }
	invalid := func(broken bool, text string) {
		if broken {
			conditions.Invalid(field.Raw(conditionsType.JSON(conditions.List())), text)
		}
	}
	invalid(is(at.Object(), "Succeeded") && is(at.Object(), "Failed"), "Both success and failed conditions cannot be true at the same time")
	for _, end := range [][2]string{{"Succeeded", "Success"}, {"Failed", "Failed"}} {
		invalid(is(at.Old(), end[0]) && !is(at.Object(), end[0]), end[1]+" condition cannot be set to false once it is true")
	}
}

// conditionsType is the type of a list of metav1.Condition.
var conditionsType = kind.ValueOf(&schema.Type{Kind: schema.List, Elem: schema.NewStruct("", "", []schema.Field{
	{Name: "type", Type: text}, {Name: "status", Type: text},
	{Name: "observedGeneration", Type: &schema.Type{Kind: schema.Int, Bits: 64}, OmitEmpty: true},
	{Name: "lastTransitionTime", Type: &schema.Type{Kind: schema.Time}}, {Name: "reason", Type: text}, {Name: "message", Type: text},
})})

var text = &schema.Type{Kind: schema.String}
