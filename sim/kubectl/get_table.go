package kubectl

import (
	"fmt"
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

// matches reports whether a label selector lets labels through.
func matches(text string, labels map[string]string) bool {
	s, err := selector.ParseLabels(text)
	return err == nil && s.Matches(labels)
}
