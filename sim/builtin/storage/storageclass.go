package storage

import (
	"maps"
	"slices"
	"strings"
	"time"

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
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ReturnsDeleted: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateStorageClass(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateStorageClass(obj)
				errs = append(errs, kind.Immutable(field.Root("parameters"), obj["parameters"], old["parameters"])...)
				errs = append(errs, kind.ImmutableText(field.Root("provisioner"), obj["provisioner"], old["provisioner"])...)
				for _, name := range []string{"reclaimPolicy", "volumeBindingMode"} {
					errs = append(errs, kind.Immutable(field.Root(name), obj[name], old[name])...)
				}
				return errs
			},
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
		Defaults: kind.EveryVersion(func(obj object.Object) {
			obj.SetDefault("Delete", "reclaimPolicy")
			obj.SetDefault("Immediate", "volumeBindingMode")
		}),
		Columns: []table.Column{table.Name(), table.Doc("Provisioner", class, "provisioner"), table.Doc("ReclaimPolicy", class, "reclaimPolicy"),
			table.Doc("VolumeBindingMode", class, "volumeBindingMode"), table.Doc("AllowVolumeExpansion", class, "allowVolumeExpansion"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			name := table.NameOrDefault(obj, "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
			return table.Row(name, obj.String("provisioner"), table.OrNone(obj.String("reclaimPolicy"), "Delete"),
				table.OrNone(obj.String("volumeBindingMode"), "Immediate"), obj.True("allowVolumeExpansion"), table.AgeCell(now, obj))
		},
	}
}

func validateStorageClass(obj object.Object) field.ErrorList {
	errs := validateProvisioner(field.Root("provisioner"), obj.String("provisioner"))
	errs = append(errs, classParameters(obj, true)...)
	if policy := obj.String("reclaimPolicy"); policy != "" {
		errs = append(errs, field.MustBeOneOf(field.Root("reclaimPolicy"), policy, "Delete", "Retain")...)
	}
	if at := field.Root("volumeBindingMode"); obj.Has("volumeBindingMode") {
		errs = append(errs, field.MustBeOneOf(at, obj.String("volumeBindingMode"), "Immediate", "WaitForFirstConsumer")...)
	} else {
		errs = append(errs, field.Required(at, ""))
	}
	return append(errs, validateTopologies(obj.Objects("allowedTopologies"))...)
}

// validateProvisioner checks the name of a driver, in which capital letters count as small ones.
func validateProvisioner(p field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	return field.Messages(p, strings.ToLower(name), field.QualifiedName(strings.ToLower(name)))
}

func classParameters(obj object.Object, mayBeEmpty bool) field.ErrorList {
	const most, largest = 512, 256 << 10
	p, parameters := field.Root("parameters"), object.StringMap(obj.Map("parameters"))
	if len(parameters) > most {
		return field.ErrorList{field.TooLong(p, most)}
	}
	var errs field.ErrorList
	size := 0
	for _, key := range object.SortedKeys(parameters) {
		if key == "" {
			errs = append(errs, field.Invalid(p, key, "field can not be empty."))
		}
		size += len(key) + len(parameters[key])
	}
	if size > largest {
		errs = append(errs, field.TooLong(p, largest))
	}
	if !mayBeEmpty && len(parameters) == 0 {
		errs = append(errs, field.Required(p, "must contain at least one key/value pair"))
	}
	return errs
}

// validateTopologies checks in which zones and the like volumes may be made.
func validateTopologies(terms []object.Object) field.ErrorList {
	var errs field.ErrorList
	var seen []map[string]string
	for i, term := range terms {
		p := field.Root("allowedTopologies").Index(i).Child("matchLabelExpressions")
		values := map[string]string{}
		for j, e := range term.Objects("matchLabelExpressions") {
			at, key := p.Index(j), e.String("key")
			list := e.Strings("values")
			if len(list) == 0 {
				errs = append(errs, field.Required(at.Child("values"), ""))
			}
			for k, v := range list {
				if slices.Contains(list[:k], v) {
					errs = append(errs, field.Duplicate(at.Child("values").Index(k), v))
				}
			}
			errs = append(errs, field.Check(at.Child("key"), key, field.QualifiedName)...)
			if _, twice := values[key]; twice {
				errs = append(errs, field.Duplicate(at.Child("key"), key))
			}
			values[key] = strings.Join(kind.SortedSet(list), "\n")
		}
		for _, other := range seen {
			if maps.Equal(values, other) {
				errs = append(errs, field.Duplicate(p, ""))
			}
		}
		if len(values) == 0 { // the real server compares with a term that says nothing, too
			for range terms {
				errs = append(errs, field.Duplicate(p, ""))
			}
		}
		seen = append(seen, values)
	}
	return errs
}
