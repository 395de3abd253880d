package table

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Column is a column of a Table. Its description is text or, if typeName is not empty, that of a field of a Go type.
type Column struct {
	Name, kind, Format string
	priority           int
	typeName, field    string // schema.Set.Doc(typeName, field)
	text               string
	Without            string // suffix of the description that this column lacks because it is from an older version
	cell               func(now time.Time, obj object.Object) any
}

// Define returns the column's definition for a Table.
func (c Column) Define(set *schema.Set) resource.Column {
	out := resource.Column{Name: c.Name, Type: c.kind, Format: c.Format, Priority: c.priority, Description: c.text}
	if c.typeName != "" {
		out.Describe = func() string { return strings.TrimSuffix(set.Doc(c.typeName, c.field), c.Without) }
	}
	return out
}

// RowOf returns a function that creates a row with the cells of the columns. If there are no columns, it returns nil.
func RowOf(columns []Column) func(now time.Time, obj object.Object) resource.Row {
	if len(columns) == 0 {
		return nil
	}
	return func(now time.Time, obj object.Object) resource.Row {
		cells := make([]any, len(columns))
		for i, c := range columns {
			cells[i] = c.cell(now, obj)
		}
		return resource.Row{Cells: cells}
	}
}

// Cell returns a copy of the column whose cell is the result of the given function for the row's object.
func (c Column) Cell(cell func(obj object.Object) any) Column {
	return c.CellNow(func(_ time.Time, obj object.Object) any { return cell(obj) })
}

// CellNow is like Cell, but for cells that depend on the current time.
func (c Column) CellNow(cell func(now time.Time, obj object.Object) any) Column {
	c.cell = cell
	return c
}

// At returns a copy of the column whose cell is the string at the path.
func (c Column) At(path ...string) Column {
	return c.Cell(func(obj object.Object) any { return obj.String(path...) })
}

// AtOr is like At, but replaces a missing or empty string with none.
func (c Column) AtOr(none string, path ...string) Column {
	return c.Cell(func(obj object.Object) any { return cmp.Or(obj.String(path...), none) })
}

// Given returns a copy of the column whose cell is the value at the path, formatted as a string. If there is no value, the cell is
// none. An empty string is a value.
func (c Column) Given(none string, path ...string) Column {
	return c.Cell(func(obj object.Object) any {
		if v, _ := obj.Get(path...); v != nil {
			return fmt.Sprint(v)
		}
		return none
	})
}

// Join returns a copy of the column whose cell joins the strings at the path with commas. If there are no strings, the cell is
// none.
func (c Column) Join(none string, path ...string) Column {
	return c.Cell(func(obj object.Object) any { return cmp.Or(strings.Join(obj.Strings(path...), ","), none) })
}

// Int returns a copy of the column whose cell is the integer at the path. If the declared type of the column is string, add
// Of("string").
func (c Column) Int(path ...string) Column {
	return c.Of("integer").Cell(func(obj object.Object) any { return obj.Int64(path...) })
}

// Bool returns a copy of the column whose cell is the boolean at the path.
func (c Column) Bool(path ...string) Column {
	return c.Of("boolean").Cell(func(obj object.Object) any { return obj.True(path...) })
}

// Count returns a copy of the column whose cell is the length of the list at the path.
func (c Column) Count(path ...string) Column {
	return c.Of("integer").Cell(func(obj object.Object) any { return int64(len(obj.List(path...))) })
}

// Labels returns a copy of the column whose cell shows the labels at the path in the format of a selector.
func (c Column) Labels(path ...string) Column {
	return c.Cell(func(obj object.Object) any { return LabelsCell(object.StringMap(obj.Map(path...))) })
}

// Of returns a copy of the column with another type.
func (c Column) Of(kind string) Column {
	c.kind = kind
	return c
}

// Wide returns a copy of the column with priority 1, which kubectl shows only with -o wide.
func (c Column) Wide() Column {
	c.priority = 1
	return c
}
