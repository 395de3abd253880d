package printer

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubesim/kubesim/sim/jsonpath"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
)

// column is a column of -o custom-columns.
type column struct {
	header string
	path   *jsonpath.Template
}

// columnPrinter returns the printer of -o custom-columns=NAME:.metadata.name,….
func (f *PrintFlags) columnPrinter(format, argument string) (Printer, error) {
	if argument == "" {
		return nil, fmt.Errorf("custom-columns format specified but no custom columns given")
	}
	var columns []column
	if format == "custom-columns-file" {
		text, err := f.template(format, argument)
		if err != nil {
			return nil, err
		}
		argument = fileColumns(text)
	}
	for _, spec := range strings.Split(argument, ",") {
		header, path, ok := strings.Cut(spec, ":")
		if !ok || header == "" || path == "" {
			return nil, fmt.Errorf("unexpected custom-columns spec: %s, expected <header>:<json-path-expr>", spec)
		}
		parsed, err := RelaxedJSONPath(path)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column{header, parsed})
	}
	return func(w io.Writer, info *client.Info) error {
		var rows [][]string
		if !f.NoHeaders {
			row := make([]string, len(columns))
			for i := range columns {
				row[i] = columns[i].header
			}
			rows = append(rows, row)
		}
		for _, obj := range items(info.Object) {
			row := make([]string, len(columns))
			for i := range columns {
				row[i] = columns[i].cell(obj)
			}
			rows = append(rows, row)
		}
		Table(w, rows)
		return nil
	}, nil
}

// fileColumns converts the content of a custom-columns file to the syntax of the flag. The first line of the file has the
// headers, the second the paths.
func fileColumns(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) < 2 {
		return text
	}
	headers, paths := strings.Fields(lines[0]), strings.Fields(lines[1])
	out := make([]string, 0, len(headers))
	for i := range min(len(headers), len(paths)) {
		out = append(out, headers[i]+":"+paths[i])
	}
	return strings.Join(out, ",")
}

func (c *column) cell(obj map[string]any) string {
	found := c.path.Values(obj)
	if len(found) == 0 {
		return "<none>"
	}
	texts := make([]string, len(found))
	for i, v := range found {
		texts[i] = fmt.Sprint(v)
		if v == nil {
			texts[i] = "<none>"
		}
	}
	return strings.Join(texts, ",")
}

// items returns the objects in a list, or the object itself if it is not a list.
func items(obj object.Object) []map[string]any {
	if !strings.HasSuffix(obj.Kind(), "List") || obj["items"] == nil {
		return []map[string]any{obj}
	}
	var out []map[string]any
	for _, item := range obj.Objects("items") {
		out = append(out, item)
	}
	return out
}
