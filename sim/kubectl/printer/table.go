package printer

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
)

// Align pads all cells except the last of a row to the width of the column's widest cell plus a gap. If the gap is 3, a column is
// at least 6 characters wide, as in kubectl's tables.
func Align(rows [][]string, gap int) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell)+gap, 2*gap*(gap/3))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			if i+1 < len(row) {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
			}
		}
		lines[n] = b.String()
	}
	return lines
}

// Table prints rows as aligned columns.
func Table(w io.Writer, rows [][]string) {
	for _, line := range Align(rows, 3) {
		fmt.Fprintln(w, line)
	}
}

// Growing prints a table whose rows arrive over time. A column is as wide as its widest cell so far.
type Growing struct{ widest []string }

// Print prints rows below the earlier ones.
func (g *Growing) Print(w io.Writer, rows [][]string) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(g.widest) {
				g.widest = append(g.widest, "")
			}
			if len(cell) > len(g.widest[i]) {
				g.widest[i] = cell
			}
		}
	}
	for _, line := range Align(slices.Concat([][]string{g.widest}, rows), 3)[1:] {
		fmt.Fprintln(w, line)
	}
}

// PrintOptions selects the columns of a server's table.
type PrintOptions struct {
	Wide          bool // all columns, not only those of priority 0
	WithNamespace bool
	WithKind      bool
	ShowLabels    bool
	NameAndAge    bool     // only these columns (--server-print=false)
	ColumnLabels  []string // labels that are shown as columns
}

// Columns returns the indexes of the columns to print.
func (o *PrintOptions) Columns(table object.Object) (out []int) {
	for i, column := range table.Objects("columnDefinitions") {
		name := strings.ToLower(column.String("name"))
		if o.NameAndAge && name != "name" && name != "age" {
			continue
		}
		if column.Int64("priority") == 0 || o.Wide {
			out = append(out, i)
		}
	}
	return out
}

// Header returns the header row of a resource's table.
func (o *PrintOptions) Header(table object.Object, columns []int, m *client.Mapping) (out []string) {
	if o.WithNamespace && m.Namespaced {
		out = append(out, "NAMESPACE")
	}
	all := table.Objects("columnDefinitions")
	for _, i := range columns {
		out = append(out, strings.ToUpper(all[i].String("name")))
	}
	for _, label := range o.ColumnLabels {
		out = append(out, strings.ToUpper(label[strings.LastIndexByte(label, '/')+1:]))
	}
	if o.ShowLabels {
		out = append(out, "LABELS")
	}
	return out
}

// Row returns the cells to print for a row of a resource's table.
func (o *PrintOptions) Row(row object.Object, columns []int, m *client.Mapping) (out []string) {
	meta := row.At("object")
	if o.WithNamespace && m.Namespaced {
		out = append(out, meta.Namespace())
	}
	cells := row.List("cells")
	for n, i := range columns {
		cell := "<none>"
		if i < len(cells) && cells[i] != nil {
			cell = fmt.Sprint(cells[i])
		}
		cell, _, _ = strings.Cut(cell, "\n")
		if n == 0 && o.WithKind {
			cell = m.GroupKind() + "/" + cell
		}
		out = append(out, cell)
	}
	for _, label := range o.ColumnLabels {
		out = append(out, meta.Labels()[label])
	}
	if o.ShowLabels {
		out = append(out, Pairs(meta.Labels(), "=", ","))
	}
	return out
}
