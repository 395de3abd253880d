package printer

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/jsonpath"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
)

// pathPrinter returns the printer of -o jsonpath={.metadata.name}.
func (f *PrintFlags) pathPrinter(format, argument string) (Printer, error) {
	argument, err := f.template(format, argument)
	if err != nil {
		return nil, err
	}
	path, err := parseTemplate(argument)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer, info *client.Info) error {
		parts, err := path.Find(map[string]any(info.Object))
		if err != nil {
			return fmt.Errorf("error executing jsonpath %q: %w", argument, err)
		}
		for _, values := range parts {
			text := jsonpath.Join(values)
			if format == "jsonpath-as-json" {
				text = JSON(object.JSON(append([]any{}, values...)), 4)
			}
			io.WriteString(w, text)
		}
		return nil
	}, nil
}

// template returns the template of an output format. For a format with the suffix file, it reads the template from the file.
func (f *PrintFlags) template(format, argument string) (string, error) {
	if argument == "" {
		return "", fmt.Errorf("template format specified but no template given")
	}
	if !strings.HasSuffix(format, "file") {
		return argument, nil
	}
	data, err := f.Files.ReadFile(argument)
	if err != nil {
		return "", fmt.Errorf("error reading --template %s, open %s: no such file or directory\n", argument, argument)
	}
	return string(data), nil
}

// SortObjects sorts objects by the value of a field.
func SortObjects(list []*client.Info, order string) {
	path, err := RelaxedJSONPath(order)
	if err != nil {
		return
	}
	slices.SortStableFunc(list, func(a, b *client.Info) int {
		return compare(firstOf(path, a.Object), firstOf(path, b.Object))
	})
}

// SortRows sorts the rows of a table by a field of their objects. It returns nil if no object has the field.
func SortRows(rows []object.Object, order string) []object.Object {
	path, err := RelaxedJSONPath(order)
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

// firstOf returns the first value at a path, or nil if there is none.
func firstOf(path *jsonpath.Template, obj object.Object) any {
	if found := path.Values(map[string]any(obj)); len(found) > 0 {
		return found[0]
	}
	return nil
}

// compare compares numbers by value, and all other values by their printed form.
func compare(a, b any) int {
	x, err := strconv.ParseFloat(jsonpath.Text(a), 64)
	y, err2 := strconv.ParseFloat(jsonpath.Text(b), 64)
	if err == nil && err2 == nil {
		return cmp.Compare(x, y)
	}
	return strings.Compare(jsonpath.Text(a), jsonpath.Text(b))
}

// parseTemplate parses a JSONPath template.
func parseTemplate(text string) (*jsonpath.Template, error) {
	t, err := jsonpath.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("error parsing jsonpath %s, %w", text, err)
	}
	return t, nil
}

// RelaxedJSONPath parses the path of a flag such as --sort-by. The braces and the leading dot are optional: .a, {.a} and a are
// equivalent. RelaxedJSONPath returns kubectl's error for an invalid path.
func RelaxedJSONPath(path string) (*jsonpath.Template, error) {
	inner := strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	if inner == "" {
		return parseTemplate("{}")
	}
	if strings.Contains(inner, "{") || strings.Contains(inner, "}") {
		return nil, fmt.Errorf("unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'")
	}
	return parseTemplate("{." + strings.TrimPrefix(inner, ".") + "}")
}
