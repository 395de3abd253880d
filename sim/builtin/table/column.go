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

// Column is a Table column. Its description is that of a field of a Go type, or text when typeName is "".
type Column struct {
	Name, kind, Format string
	priority           int
	typeName, field    string // schema.Set.Doc(typeName, field)
	text               string
	Without            string // end of the description that this column lacks: it is from an older version
	cell               func(now time.Time, obj object.Object) any
}

// Define returns the column as a Table has it.
func (c Column) Define(set *schema.Set) resource.Column {
	out := resource.Column{Name: c.Name, Type: c.kind, Format: c.Format, Priority: c.priority, Description: c.text}
	if c.typeName != "" {
		out.Describe = func() string { return strings.TrimSuffix(set.Doc(c.typeName, c.field), c.Without) }
	}
	return out
}

// RowOf returns what prints the cells of the columns; nil without columns.
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

// Cell returns the column with what it shows of an object.
func (c Column) Cell(cell func(obj object.Object) any) Column {
	return c.CellNow(func(_ time.Time, obj object.Object) any { return cell(obj) })
}

// CellNow is Cell for what depends on the time.
func (c Column) CellNow(cell func(now time.Time, obj object.Object) any) Column {
	c.cell = cell
	return c
}

// At returns the column with the string at the path as its cell.
func (c Column) At(path ...string) Column {
	return c.Cell(func(obj object.Object) any { return obj.String(path...) })
}

// AtOr is At with another text for one that is empty or not there.
func (c Column) AtOr(none string, path ...string) Column {
	return c.Cell(func(obj object.Object) any { return cmp.Or(obj.String(path...), none) })
}

// Given returns the column with the value at the path, as a text, as its cell, or another text if there is none. "" is a value.
func (c Column) Given(none string, path ...string) Column {
	return c.Cell(func(obj object.Object) any {
		if v, _ := obj.Get(path...); v != nil {
			return fmt.Sprint(v)
		}
		return none
	})
}

// Join returns the column with the strings at the path, joined by commas, as its cell, or another text if there are none.
func (c Column) Join(none string, path ...string) Column {
	return c.Cell(func(obj object.Object) any { return cmp.Or(strings.Join(obj.Strings(path...), ","), none) })
}

// Int returns the column with the integer at the path as its cell. Some such columns have the type string all the same: Of("string").
func (c Column) Int(path ...string) Column {
	return c.Of("integer").Cell(func(obj object.Object) any { return obj.Int64(path...) })
}

// Bool returns the column with the boolean at the path as its cell.
func (c Column) Bool(path ...string) Column {
	return c.Of("boolean").Cell(func(obj object.Object) any { return obj.True(path...) })
}

// Count returns the column with the length of the list at the path as its cell.
func (c Column) Count(path ...string) Column {
	return c.Of("integer").Cell(func(obj object.Object) any { return int64(len(obj.List(path...))) })
}

// Labels returns the column with the labels at the path as its cell, as a selector.
func (c Column) Labels(path ...string) Column {
	return c.Cell(func(obj object.Object) any { return LabelsCell(object.StringMap(obj.Map(path...))) })
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
