package kubectl

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// asTable is the Accept header that requests a Table (API concepts, "Receiving resources as Tables").
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"

// tables prints the server's tables, one resource after another. Names have their kind if objects of several kinds were found.
func (g *getter) tables() error {
	read := map[*client.Info][]object.Object{}
	var last *client.Info
	err := each(g.infos, func(info *client.Info) (err error) {
		if read[info], err = g.readTables(info); g.On("ignore-not-found") && client.IsNotFound(err) {
			return nil
		}
		if err == nil {
			g.options.WithKind = g.options.WithKind || last != nil && last.Mapping.Resource != info.Mapping.Resource
			last = info
		}
		return err
	})
	for _, info := range g.infos {
		if tables := read[info]; len(tables) > 0 {
			g.add(info.Mapping, tables)
		}
	}
	g.flush()
	if g.printed == 0 && err == nil && !g.On("ignore-not-found") {
		g.complainNone(g.infos)
	}
	return err
}

// complainNone prints the message that no resources were found.
func (c *call) complainNone(infos []*client.Info) {
	if c.On("all-namespaces") || infos[0].Mapping != nil && infos[0].Namespace == "" {
		c.Complain("No resources found")
		return
	}
	c.Complain("No resources found in %s namespace.", c.Namespace)
}

// add adds the rows of the tables of a resource or object to the pending ones.
func (g *getter) add(m *client.Mapping, tables []object.Object) {
	if g.pending.mapping != nil && g.pending.mapping.Resource != m.Resource {
		g.flush()
	}
	columns := g.options.Columns(tables[0])
	var rows []object.Object
	for _, table := range tables {
		rows = append(rows, table.Objects("rows")...)
	}
	if order := g.Text("sort-by"); order != "" {
		rows = printer.SortRows(rows, order)
	}
	if len(rows) == 0 {
		return
	}
	if g.pending.mapping == nil && !g.On("no-headers") {
		g.pending.rows = append(g.pending.rows, g.options.Header(tables[0], columns, m))
	}
	g.pending.mapping = m
	for _, row := range rows {
		g.pending.rows = append(g.pending.rows, g.options.Row(row, columns, m))
		g.printed++
	}
}

// readTables reads all pages of a table.
func (g *getter) readTables(info *client.Info) (tables []object.Object, err error) {
	include, limit, next := "", "", ""
	switch {
	case g.Given("sort-by"):
		include = "Object"
	case len(g.options.ColumnLabels) > 0 || g.options.ShowLabels:
		include = "Metadata"
	}
	path := info.Path()
	switch {
	case info.Name == "":
		limit = client.PageSize
		if n := g.Number("chunk-size", 500); n > 0 {
			limit = fmt.Sprint(n)
		}
	case g.Given("subresource"):
		path += "/" + g.Text("subresource")
	}
	labels, fields := g.LabelSelector, g.FieldSelector
	for {
		r := g.Request(wire.MethodGet, path, client.Query("limit", limit, "continue", next, "includeObject", include,
			"labelSelector", labels, "fieldSelector", fields), "", nil)
		r.Header["Accept"] = []string{asTable}
		table, err := g.Ask(r)
		if err != nil && info.Name == "" {
			return nil, g.ListError(err, info.Mapping)
		}
		if err != nil {
			return nil, g.GetError(err, info)
		}
		tables = append(tables, table)
		if next = table.String("metadata", "continue"); next == "" {
			return tables, nil
		}
	}
}

// flush prints the pending rows, after a blank line unless they are the first.
func (g *getter) flush() {
	if len(g.pending.rows) > 0 {
		if g.headed && !g.On("no-headers") {
			g.Printf("\n")
		}
		printer.Table(g.Out, g.pending.rows)
		g.headed = true
	}
	g.pending = resourceRows{}
}

// watch prints the existing objects and then each change.
func (g *getter) watch() error {
	if len(g.infos) > 1 {
		return fmt.Errorf("you may only specify a single resource type")
	}
	info := g.infos[0]
	if info.Err != nil {
		return info.Err
	}
	m, fields := info.Mapping, g.FieldSelector
	if info.Name != "" {
		fields = "metadata.name=" + info.Name
	}
	r := g.Request(wire.MethodGet, m.Path(info.Namespace, ""), client.Query("labelSelector", g.LabelSelector, "fieldSelector", fields), "", nil)
	r.Header["Accept"] = []string{asTable}
	table, err := g.Ask(r)
	if err != nil {
		return err
	}
	columns := g.options.Columns(table)
	var lines printer.Growing
	headed := g.On("no-headers")
	print := func(changed object.Object) {
		var rows [][]string
		for _, row := range changed.Objects("rows") {
			rows = append(rows, g.options.Row(row, columns, m))
		}
		if !headed && len(rows) > 0 {
			headed = true
			rows = append([][]string{g.options.Header(table, columns, m)}, rows...)
		}
		lines.Print(g.Out, rows)
	}
	if !g.On("watch-only") {
		print(table)
	}
	r.Query.Set("watch", "true")
	r.Query.Set("resourceVersion", table.ResourceVersion())
	event := func(frame []byte) {
		obj, err := object.Parse(frame)
		if err == nil && obj.At("object").Kind() == "Table" {
			print(obj.At("object"))
		}
	}
	if limit := g.Duration("request-timeout", 0); limit > 0 {
		_, err = g.Conn.Watch(r, limit, func(frame []byte) bool { event(frame); return true })
		return err
	}
	a, err := g.Conn.Follow(r, event)
	if err == nil && a != nil {
		err = g.Check(a)
	}
	return err
}
