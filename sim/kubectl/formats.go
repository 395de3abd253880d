package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/jsonpath"
	"github.com/kubesim/kubesim/sim/object"
)

// morePrinter returns the printer of a format that picks fields.
func (c *call) morePrinter(format, argument string) (printer, error) {
	if strings.HasPrefix(format, "custom-columns") {
		return c.columnPrinter(format, argument)
	}
	return c.pathPrinter(format, argument)
}

func (c *call) pathPrinter(format, argument string) (printer, error) {
	argument, err := c.templateOf(format, argument)
	if err != nil {
		return nil, err
	}
	path, err := parseTemplate(argument)
	if err != nil {
		return nil, err
	}
	return func(t *target) error {
		parts, err := path.Find(map[string]any(t.obj))
		if err != nil {
			return fmt.Errorf("error executing jsonpath %q: %w", argument, err)
		}
		for _, values := range parts {
			if format == "jsonpath-as-json" {
				c.printf("%s", indented(object.JSON(append([]any{}, values...))))
				continue
			}
			c.printf("%s", jsonpath.Join(values))
		}
		return nil
	}, nil
}

// templateOf returns the template of a format, read from a file if that is what the format says.
func (c *call) templateOf(format, argument string) (string, error) {
	if argument == "" {
		return "", fmt.Errorf("template format specified but no template given")
	}
	if !strings.HasSuffix(format, "-file") {
		return argument, nil
	}
	data, err := c.readFile(argument)
	if err != nil {
		return "", fmt.Errorf("error reading --template %s, open %s: no such file or directory\n", argument, argument)
	}
	return string(data), nil
}

// sortBy sorts objects by the value of a field.
func sortBy(list []*target, order string) {
	path, err := relaxed(order)
	if err != nil {
		return
	}
	slices.SortStableFunc(list, func(a, b *target) int {
		return compare(firstOf(path, a.obj), firstOf(path, b.obj))
	})
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

// firstOf returns the first value of a path, nil without one.
func firstOf(path *jsonpath.Template, obj object.Object) any {
	if found := path.Values(map[string]any(obj)); len(found) > 0 {
		return found[0]
	}
	return nil
}

// compare orders two values: numbers by their size, others by what they are printed as.
func compare(a, b any) int {
	x, err := strconv.ParseFloat(jsonpath.Text(a), 64)
	y, err2 := strconv.ParseFloat(jsonpath.Text(b), 64)
	if err == nil && err2 == nil {
		return cmp.Compare(x, y)
	}
	return strings.Compare(jsonpath.Text(a), jsonpath.Text(b))
}

// parseTemplate reads the argument of -o jsonpath.
func parseTemplate(text string) (*jsonpath.Template, error) {
	t, err := jsonpath.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("error parsing jsonpath %s, %w", text, err)
	}
	return t, nil
}

// relaxed puts the braces and the dot around a path that flags such as --sort-by take: .a, {.a}, a.
func relaxed(path string) (*jsonpath.Template, error) {
	inner := strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	if inner == "" {
		return parseTemplate("{}")
	}
	if strings.Contains(inner, "{") || strings.Contains(inner, "}") {
		return nil, fmt.Errorf("unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'")
	}
	return parseTemplate("{." + strings.TrimPrefix(inner, ".") + "}")
}
