package table

import (
	"strings"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Column is a Table column. Its description is that of a field of a Go type, or text when typeName is "".
type Column struct {
	Name, kind, Format string
	priority           int
	typeName, field    string // schema.Set.Doc(typeName, field)
	text               string
	Without            string // end of the description that this column lacks: it is from an older version
}

// Define returns the column as a Table has it.
func (c Column) Define(set *schema.Set) resource.Column {
	out := resource.Column{Name: c.Name, Type: c.kind, Format: c.Format, Priority: c.priority, Description: c.text}
	if c.typeName != "" {
		out.Describe = func() string { return strings.TrimSuffix(set.Doc(c.typeName, c.field), c.Without) }
	}
	return out
}

// Of returns the column with values of another type.
func (c Column) Of(kind string) Column {
	c.kind = kind
	return c
}

// Wide returns the column with priority 1: kubectl shows it with -o wide only.
func (c Column) Wide() Column {
	c.priority = 1
	return c
}
