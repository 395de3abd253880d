// Package apiextensions defines the kind CustomResourceDefinition: its storage, strategy and table columns. Package crd validates
// its objects and sets their conditions.
package apiextensions

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Kinds returns the kinds of apiextensions.k8s.io.
func Kinds() []kind.Kind { return []kind.Kind{customResourceDefinitionKind()} }

// customResourceDefinitionKind returns the kind CustomResourceDefinition. Package crd validates definitions and sets their
// conditions.
func customResourceDefinitionKind() kind.Kind {
	return kind.Kind{
		Storage:     "customresourcedefinitions.apiextensions.k8s.io",
		KeyPrefix:   "apiextensions.k8s.io/customresourcedefinitions",
		PlainStatus: true,
		Changed:     kind.Semantically.Of("spec"),
		Strategy:    resource.Strategy{HasStatus: true, DenyUnconditionalUpdate: true},
		Since: map[int]func(k *kind.Kind){37: func(k *kind.Kind) {
			created := table.Doc("Created At", table.DocMeta, "creationTimestamp").Of("date").At("metadata", "creationTimestamp")
			k.NullRows, k.Columns = true, []table.Column{
				table.Name(), table.Text("Scope", "Cluster/Namespaced").At("spec", "scope"), table.Text("Versions", "Served versions").Cell(cellVersions),
				created, table.Text("Group", "API group").At("spec", "group").Wide(),
				table.Text("Kind", "CustomResource kind").At("spec", "names", "kind").Wide(),
				table.Text("ShortNames", "Short names").Cell(func(obj object.Object) any {
					return strings.Join(obj.Strings("spec", "names", "shortNames"), ",")
				}).Wide(),
				table.Text("Established", "Established status").Of("boolean").Cell(func(obj object.Object) any { return obj.Condition("Established").String("status") == "True" }).Wide(),
			}
		}},
	}
}

// cellVersions returns a cell that lists the served versions: v1(storage),v1beta1.
func cellVersions(obj object.Object) any {
	var names []string
	for _, v := range obj.Objects("spec", "versions") {
		switch {
		case !v.True("served"):
		case v.True("storage"):
			names = append(names, v.String("name")+"(storage)")
		default:
			names = append(names, v.String("name"))
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
