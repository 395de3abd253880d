// Package table provides columns and cells for the Tables that kubectl prints.
package table

import (
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// The definition names of the Go types that provide descriptions of columns.
const (
	DocMeta       = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	DocCore       = "io.k8s.api.core.v1."
	DocStorage    = "io.k8s.api.storage.v1."
	DocNetworking = "io.k8s.api.networking.v1."
	DocDiscovery  = "io.k8s.api.discovery.v1."
	DocRBAC       = "io.k8s.api.rbac.v1."
)

// The text of a cell whose value is missing.
const (
	None    = "<none>"
	Unset   = "<unset>"
	Unknown = "<unknown>"
)

// Name returns the Name column.
func Name() Column {
	return Column{Name: "Name", kind: "string", Format: "name", typeName: DocMeta, field: "name"}.At("metadata", "name")
}

// Age returns the Age column.
func Age() Column {
	return Doc("Age", DocMeta, "creationTimestamp").CellNow(func(now time.Time, obj object.Object) any { return AgeCell(now, obj) })
}

// Doc returns a string column with the description of a field of a Go type.
func Doc(name, typeName, field string) Column {
	return Column{Name: name, kind: "string", typeName: typeName, field: field}
}

// Text returns a string column with the given description.
func Text(name, text string) Column { return Column{Name: name, kind: "string", text: text} }

// Row returns a row with the values as its cells.
func Row(values ...any) resource.Row { return resource.Row{Cells: values} }

// AgeCell returns the time since the object was created.
func AgeCell(now time.Time, obj object.Object) string {
	return SinceCell(now, obj.String("metadata", "creationTimestamp"))
}

// SinceCell returns the time since a timestamp, which may contain a fraction of a second.
func SinceCell(now time.Time, stamp string) string {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return Unknown
	}
	return codec.Age(now, at)
}

// FirstCell joins the first strings of a list and adds the number of the remaining ones. most is the maximum number of strings that
// it joins.
func FirstCell(list []string, most int, separator string) string {
	if len(list) <= most {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:most], separator) + " + " + strconv.Itoa(len(list)-most) + " more..."
}

// LabelsCell formats labels as a selector: a=b,c=d.
func LabelsCell(labels map[string]string) string {
	if len(labels) == 0 {
		return None
	}
	var parts []string
	for _, k := range object.SortedKeys(labels) {
		parts = append(parts, k+"="+labels[k])
	}
	return strings.Join(parts, ",")
}

// NameOrDefault returns the Name column for a kind of classes. Its cell marks the default class, which has one of the given
// annotations.
func NameOrDefault(annotations ...string) Column {
	return Name().Cell(func(obj object.Object) any {
		for _, key := range annotations {
			if obj.Annotations()[key] == "true" {
				return obj.Name() + " (default)"
			}
		}
		return obj.Name()
	})
}

const docScale = "io.k8s.api.autoscaling.v1.Scale"

// ScaleColumns returns the columns of a Scale.
func ScaleColumns() []Column {
	name := Name()
	name.Format = ""
	return []Column{name, Doc("Desired", docScale+"Spec", "replicas").Int("spec", "replicas"),
		Doc("Available", docScale+"Status", "replicas").Int("status", "replicas"), Age()}
}
