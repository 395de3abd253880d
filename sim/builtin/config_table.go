package builtin

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Where descriptions of columns come from: definition names of Go types.
const (
	docMeta       = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	docCore       = "io.k8s.api.core.v1."
	docStorage    = "io.k8s.api.storage.v1."
	docNetworking = "io.k8s.api.networking.v1."
	docDiscovery  = "io.k8s.api.discovery.v1."
	docRBAC       = "io.k8s.api.rbac.v1."
)

// Texts of cells for what is not there.
const (
	cellNone    = "<none>"
	cellUnset   = "<unset>"
	cellUnknown = "<unknown>"
)

// column is a Table column. Its description is that of a field of a Go type, or text when typeName is "".
type column struct {
	name, kind, format string
	priority           int
	typeName, field    string // schema.Set.Doc(typeName, field)
	text               string
	without            string // end of the description that this column lacks: it is from an older version
}

func (c column) define(set *schema.Set) resource.Column {
	out := resource.Column{Name: c.name, Type: c.kind, Format: c.format, Priority: c.priority, Description: c.text}
	if c.typeName != "" {
		out.Describe = func() string { return strings.TrimSuffix(set.Doc(c.typeName, c.field), c.without) }
	}
	return out
}

func colName() column {
	return column{name: "Name", kind: "string", format: "name", typeName: docMeta, field: "name"}
}

func colAge() column {
	return column{name: "Age", kind: "string", typeName: docMeta, field: "creationTimestamp"}
}

// colDoc is a column of strings that is described as a field of a Go type.
func colDoc(name, typeName, field string) column {
	return column{name: name, kind: "string", typeName: typeName, field: field}
}

// colText is a column of strings with a description of its own.
func colText(name, text string) column { return column{name: name, kind: "string", text: text} }

// of returns the column with values of another type.
func (c column) of(kind string) column {
	c.kind = kind
	return c
}

// wide returns the column with priority 1: kubectl shows it with -o wide only.
func (c column) wide() column {
	c.priority = 1
	return c
}

// cells makes a row.
func cells(values ...any) resource.Row { return resource.Row{Cells: values} }

// cellAge is how long ago the object was created.
func cellAge(now time.Time, obj object.Object) string {
	return cellSince(now, obj.String("metadata", "creationTimestamp"))
}

// cellSince is how long ago a timestamp, with or without a fraction of a second, was.
func cellSince(now time.Time, stamp string) string {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return cellUnknown
	}
	return codec.Age(now, at)
}

// orNone returns the text, or what stands for no text.
func orNone(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

// cellLabels prints labels as a selector: a=b,c=d.
func cellLabels(labels map[string]string) string {
	if len(labels) == 0 {
		return cellNone
	}
	var parts []string
	for _, k := range object.SortedKeys(labels) {
		parts = append(parts, k+"="+labels[k])
	}
	return strings.Join(parts, ",")
}
