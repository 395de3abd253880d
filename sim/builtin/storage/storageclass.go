package storage

import (
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func storageClassKind() kind.Kind {
	const class = table.DocStorage + "StorageClass"
	return kind.Kind{
		Storage: "storageclasses.storage.k8s.io",
		Strategy: resource.Strategy{
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ReturnDeletedObject: true,
			Warn: func(ctx *resource.Context, obj, _ object.Object) {
				for i, term := range obj.Objects("allowedTopologies") {
					for j, e := range term.Objects("matchLabelExpressions") {
						if text, ok := podspec.DeprecatedNodeLabels[e.String("key")]; ok {
							p := field.Root("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j)
							ctx.Warn(p.Child("key").String() + ": " + text)
						}
					}
				}
			},
		},
		Validate: validateStorageClass,
		Defaults: kind.EveryVersion(func(obj object.Object) {
			obj.SetDefault("Delete", "reclaimPolicy")
			obj.SetDefault("Immediate", "volumeBindingMode")
		}),
		Columns: []table.Column{
			table.NameOrDefault("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"),
			table.Doc("Provisioner", class, "provisioner").At("provisioner"),
			table.Doc("ReclaimPolicy", class, "reclaimPolicy").AtOr("Delete", "reclaimPolicy"),
			table.Doc("VolumeBindingMode", class, "volumeBindingMode").AtOr("Immediate", "volumeBindingMode"),
			table.Doc("AllowVolumeExpansion", class, "allowVolumeExpansion").Bool("allowVolumeExpansion").Of("string"), table.Age(),
		},
	}
}

func validateStorageClass(ctx *resource.Context, at field.Cursor) {
	provisioner, parameters := at.Child("provisioner"), at.Child("parameters")
	policy, mode := at.Child("reclaimPolicy"), at.Child("volumeBindingMode")
	validateProvisioner(provisioner.Declared(ctx.Since(37), field.Cursor.Given))
	validateParameters(parameters)
	policy.IfGiven().OneOf("Delete", "Retain")
	mode.RequireIf(!mode.Has(), "").OneOf("Immediate", "WaitForFirstConsumer")
	validateTopologies(at.Child("allowedTopologies"))
	for _, fixed := range []field.Cursor{parameters, provisioner.OrEmpty(), policy, mode} {
		fixed.Declared(ctx.Since(37), field.Cursor.Immutable)
	}
}

// validateProvisioner checks the name of a driver, ignoring case.
func validateProvisioner(at field.Cursor) {
	name := strings.ToLower(at.String())
	if name != "" {
		at.Report(field.Check(at.Path(), name, field.QualifiedName))
	}
}

func validateParameters(at field.Cursor) {
	const most, largest = 512, 256 << 10
	parameters := object.StringMap(at.Object())
	if len(parameters) > most {
		at.TooLong(most)
		return
	}
	size := 0
	for _, key := range object.SortedKeys(parameters) {
		at.With("").InvalidIf(key == "", "field can not be empty.")
		size += len(key) + len(parameters[key])
	}
	if size > largest {
		at.TooLong(largest)
	}
}

// validateTopologies checks the topologies, such as zones, in which volumes may be provisioned.
func validateTopologies(at field.Cursor) {
	var seen []map[string]string
	for term := range at.Each() {
		expressions, values := term.Child("matchLabelExpressions"), map[string]string{}
		for e := range expressions.Each() {
			list, key := field.Seen{}, e.String("key")
			e.Child("values").Required()
			for value := range e.Each("values") {
				value.Unique(list)
			}
			e.Child("key").OrEmpty().Check(field.QualifiedName)
			if _, twice := values[key]; twice {
				e.Child("key").Duplicate(key)
			}
			values[key] = strings.Join(object.SortedKeys(list), "\n")
		}
		for _, other := range seen {
			if maps.Equal(values, other) {
				expressions.Duplicate("")
			}
		}
		if len(values) == 0 { // the real server also compares with an empty term
			for range at.Each() {
				expressions.Duplicate("")
			}
		}
		seen = append(seen, values)
	}
}
