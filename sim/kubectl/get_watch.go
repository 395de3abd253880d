package kubectl

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// watch prints what there is, and then what happens to it.
func (g *getting) watch() error {
	if len(g.targets) > 1 {
		return fmt.Errorf("you may only specify a single resource type")
	}
	t := g.targets[0]
	if t.err != nil {
		return t.err
	}
	fields := g.text("field-selector")
	if t.name != "" {
		fields = "metadata.name=" + t.name
	}
	r := g.request(wire.MethodGet, t.m.path(t.namespace, ""), query("labelSelector", g.text("selector"), "fieldSelector", fields), "", nil)
	r.Header["Accept"] = []string{asTable}
	table, err := g.ask(r)
	if err != nil {
		return err
	}
	columns := g.columnsOf(table)
	var widths [][]string
	show := func(rows [][]string) {
		widths = append(widths, rows...)
		lines := align(widths, 3)
		for _, line := range lines[len(lines)-len(rows):] {
			g.printf("%s\n", line)
		}
		if len(widths) > 1 { // what was widest stays as wide
			widths = widest(widths)
		}
	}
	head := [][]string{}
	if !g.on("watch-only") {
		for _, row := range table.Objects("rows") {
			head = append(head, g.row(row, columns, t))
		}
		if len(head) > 0 && !g.on("no-headers") {
			head = append([][]string{g.header(table, columns, t)}, head...)
		}
		show(head)
	}
	headed := len(head) > 0 || g.on("no-headers")
	r.Query.Set("watch", "true")
	r.Query.Set("resourceVersion", table.ResourceVersion())
	event := func(frame []byte) {
		obj, err := object.Parse(frame)
		if err != nil || obj.At("object").Kind() != "Table" {
			return
		}
		var rows [][]string
		for _, row := range obj.At("object").Objects("rows") {
			rows = append(rows, g.row(row, columns, t))
		}
		if !headed && len(rows) > 0 {
			headed = true
			rows = append([][]string{g.header(table, columns, t)}, rows...)
		}
		show(rows)
	}
	if limit := g.duration("request-timeout", 0); limit > 0 {
		_, err = g.Conn.Watch(r, limit, func(frame []byte) bool { event(frame); return true })
		return err
	}
	a, err := g.Conn.Follow(r, event)
	if err == nil && a != nil {
		_, err = g.checked(a)
	}
	return err
}

// widest returns one row with the widest cell of each column.
func widest(rows [][]string) [][]string {
	var out []string
	for _, row := range rows {
		for i, cell := range row {
			if i == len(out) {
				out = append(out, "")
			}
			if len(cell) > len(out[i]) {
				out[i] = cell
			}
		}
	}
	return [][]string{out}
}
