package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/wire"
)

// asTable asks for a Table (API concepts, "Receiving resources as Tables").
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"

// tableRows are the rows of one resource, which are printed together.
type tableRows struct {
	m     *mapping
	rows  [][]string
	total int // that were printed of all resources
}

// table prints what the server's tables say, a resource after the other.
func (g *getting) table() error {
	for _, t := range g.targets {
		if t.err != nil {
			g.errs = append(g.errs, t.err)
			continue
		}
		if err := g.tableOf(t); err != nil && !(g.on("ignore-not-found") && isNotFound(err)) {
			g.errs = append(g.errs, err)
		}
	}
	g.flush()
	if g.rows.total == 0 && len(g.errs) == 0 && !g.on("ignore-not-found") {
		g.nothing()
	}
	return together(g.errs)
}

// nothing says that there is nothing.
func (g *getting) nothing() {
	if g.on("all-namespaces") || g.targets[0].m != nil && g.targets[0].namespace == "" {
		g.complain("No resources found")
		return
	}
	g.complain("No resources found in %s namespace.", g.namespace())
}

// tableOf adds the rows of one target.
func (g *getting) tableOf(t *target) error {
	if g.rows.m != nil && g.rows.m.resource != t.m.resource {
		g.flush()
	}
	include, next := "", ""
	if g.given("sort-by") || len(g.list("label-columns")) > 0 || g.on("show-labels") {
		include = "Metadata"
	}
	if g.given("sort-by") {
		include = "Object"
	}
	path := t.path()
	if t.name != "" && g.given("subresource") {
		path += "/" + g.text("subresource")
	}
	var tables []object.Object
	for {
		limit := ""
		if t.name == "" {
			limit = pageSize
			if n := g.number("chunk-size", 500); n > 0 {
				limit = fmt.Sprint(n)
			}
		}
		r := g.request(wire.MethodGet, path, query("limit", limit, "continue", next, "includeObject", include,
			"labelSelector", g.text("selector"), "fieldSelector", g.text("field-selector")), "", nil)
		r.Header["Accept"] = []string{asTable}
		table, err := g.ask(r)
		if err != nil {
			return findError(err, t.m, g.text("selector"), g.text("field-selector"))
		}
		tables = append(tables, table)
		if next = table.String("metadata", "continue"); next == "" {
			break
		}
	}
	g.add(t, tables)
	return nil
}

// findError is the error of a list whose selector the server refuses, with what was looked for in front.
func findError(err error, m *mapping, labels, fields string) error {
	e, ok := err.(*statusError)
	if !ok || e.reason != "BadRequest" || labels == "" && fields == "" {
		return err
	}
	return with(err, "Unable to find %q that match label selector %q, field selector %q", m.group+"/"+m.version+", Resource="+m.resource, labels, fields)
}

// add adds the rows of a target's tables.
func (g *getting) add(t *target, tables []object.Object) {
	columns := g.columnsOf(tables[0])
	var rows []object.Object
	for _, table := range tables {
		rows = append(rows, table.Objects("rows")...)
	}
	if order := g.text("sort-by"); order != "" {
		rows = sortRows(rows, order)
	}
	if len(rows) == 0 {
		return
	}
	if g.rows.m == nil && !g.on("no-headers") {
		g.rows.rows = append(g.rows.rows, g.header(tables[0], columns, t))
	}
	g.rows.m = t.m
	for _, row := range rows {
		g.rows.rows = append(g.rows.rows, g.row(row, columns, t))
		g.rows.total++
	}
}

// sortRows sorts the rows of a table by a field of their objects. Without that field in any there is nothing to print.
func sortRows(rows []object.Object, order string) []object.Object {
	path, err := relaxed(order)
	if err != nil {
		return rows
	}
	some := false
	for _, row := range rows {
		some = some || firstOf(path, row.At("object")) != nil
	}
	if !some {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b object.Object) int {
		return compare(firstOf(path, a.At("object")), firstOf(path, b.At("object")))
	})
	return rows
}

// columnsOf returns which columns are shown: all with -o wide, else those of priority 0.
func (g *getting) columnsOf(table object.Object) (out []int) {
	for i, column := range table.Objects("columnDefinitions") {
		name := strings.ToLower(column.String("name"))
		if g.off("server-print") && name != "name" && name != "age" {
			continue
		}
		if column.Int64("priority") == 0 || g.text("output") == "wide" {
			out = append(out, i)
		}
	}
	return out
}

func (g *getting) header(table object.Object, columns []int, t *target) (out []string) {
	if g.on("all-namespaces") && t.m.namespaced {
		out = append(out, "NAMESPACE")
	}
	all := table.Objects("columnDefinitions")
	for _, i := range columns {
		out = append(out, strings.ToUpper(all[i].String("name")))
	}
	for _, label := range g.list("label-columns") {
		out = append(out, strings.ToUpper(label[strings.LastIndexByte(label, '/')+1:]))
	}
	if g.on("show-labels") {
		out = append(out, "LABELS")
	}
	return out
}

func (g *getting) row(row object.Object, columns []int, t *target) (out []string) {
	meta := row.At("object")
	if g.on("all-namespaces") && t.m.namespaced {
		out = append(out, meta.Namespace())
	}
	cells := row.List("cells")
	for n, i := range columns {
		cell := "<none>"
		if i < len(cells) && cells[i] != nil {
			cell = fmt.Sprint(cells[i])
		}
		cell, _, _ = strings.Cut(cell, "\n")
		if n == 0 && (g.several || g.on("show-kind")) {
			cell = t.m.named() + "/" + cell
		}
		out = append(out, cell)
	}
	for _, label := range g.list("label-columns") {
		out = append(out, meta.Labels()[label])
	}
	if g.on("show-labels") {
		out = append(out, pairs(meta.Labels(), "=", ","))
	}
	return out
}

// flush prints the rows of one resource; a blank line stands between two.
func (g *getting) flush() {
	if len(g.rows.rows) > 0 {
		if g.headed && !g.on("no-headers") {
			g.printf("\n")
		}
		g.call.table(g.rows.rows)
		g.headed = true
	}
	g.rows.m, g.rows.rows = nil, nil
}

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

// matches reports whether a label selector lets labels through.
func matches(text string, labels map[string]string) bool {
	s, err := selector.ParseLabels(text)
	return err == nil && s.Matches(labels)
}
