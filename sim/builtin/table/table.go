// Package table has columns and cells of the Tables that kubectl prints.
package table

import (
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// The definition names of the Go types from which descriptions of columns are taken.
const (
	DocMeta       = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	DocCore       = "io.k8s.api.core.v1."
	DocStorage    = "io.k8s.api.storage.v1."
	DocNetworking = "io.k8s.api.networking.v1."
	DocDiscovery  = "io.k8s.api.discovery.v1."
	DocRBAC       = "io.k8s.api.rbac.v1."
)

// Texts of cells for missing values.
const (
	None    = "<none>"
	Unset   = "<unset>"
	Unknown = "<unknown>"
)

// Name is the column of names.
func Name() Column {
	return Column{Name: "Name", kind: "string", Format: "name", typeName: DocMeta, field: "name"}.At("metadata", "name")
}

// Age is the column of ages.
func Age() Column {
	return Doc("Age", DocMeta, "creationTimestamp").CellNow(func(now time.Time, obj object.Object) any { return AgeCell(now, obj) })
}

// Doc is a column of strings that is described as a field of a Go type.
func Doc(name, typeName, field string) Column {
	return Column{Name: name, kind: "string", typeName: typeName, field: field}
}

// Text is a column of strings with a description of its own.
func Text(name, text string) Column { return Column{Name: name, kind: "string", text: text} }

// Row makes a row.
func Row(values ...any) resource.Row { return resource.Row{Cells: values} }

// AgeCell is how long ago the object was created.
func AgeCell(now time.Time, obj object.Object) string {
	return SinceCell(now, obj.String("metadata", "creationTimestamp"))
}

// SinceCell is how long ago a timestamp, with or without a fraction of a second, was.
func SinceCell(now time.Time, stamp string) string {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return Unknown
	}
	return codec.Age(now, at)
}

// FirstCell joins the first texts of a list and says how many more there are.
func FirstCell(list []string, most int, separator string) string {
	if len(list) <= most {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:most], separator) + " + " + strconv.Itoa(len(list)-most) + " more..."
}

// LabelsCell prints labels as a selector: a=b,c=d.
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

// NameOrDefault is the column of the names of classes; the default one, which has an annotation, is marked.
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

// ScaleColumns are the columns of the scale of any workload.
func ScaleColumns() []Column {
	name := Name()
	name.Format = ""
	return []Column{name, Doc("Desired", docScale+"Spec", "replicas").Int("spec", "replicas"),
		Doc("Available", docScale+"Status", "replicas").Int("status", "replicas"), Age()}
}
