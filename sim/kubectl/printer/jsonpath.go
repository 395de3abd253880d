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
			return fmt.Errorf("error executing jsonpath %q: Error executing template: %w. Printing more information for debugging the template:\n"+
				"\ttemplate was:\n\t\t%v\n\tobject given to jsonpath engine was:\n\t\t%#v\n\n\n", argument, err, argument, map[string]any(info.Object))
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

// SortObjects sorts objects by the value of a field. It returns an error if none of them has the field.
func SortObjects(list []*client.Info, order string) error {
	return sortBy(list, order, func(info *client.Info) object.Object { return info.Object })
}

// SortRows sorts the rows of a table by a field of their objects, if there is more than one. It returns nil if no object has the field.
func SortRows(rows []object.Object, order string) []object.Object {
	if len(rows) > 1 && sortBy(rows, order, func(row object.Object) object.Object { return row.At("object") }) != nil {
		return nil
	}
	return rows
}

func sortBy[T any](list []T, order string, of func(T) object.Object) error {
	path, err := RelaxedJSONPath(order)
	if err != nil {
		return err
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(x T) bool { return firstOf(path, of(x)) != nil }) {
		return fmt.Errorf("couldn't find any field with path %q in the list of objects", relaxed(order))
	}
	slices.SortStableFunc(list, func(a, b T) int { return compare(firstOf(path, of(a)), firstOf(path, of(b))) })
	return nil
}

// relaxed returns a path with braces and the leading dot.
func relaxed(path string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	return "{." + strings.TrimPrefix(inner, ".") + "}"
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
	return parseTemplate(relaxed(path))
}
