package kubectl

import (
	"fmt"
	"slices"
	"strings"

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
		if format == "jsonpath-as-json" {
			found, err := path.all(map[string]any(t.obj))
			c.printf("%s", indented(object.JSON(found)))
			return err
		}
		text, err := path.print(map[string]any(t.obj))
		if err != nil {
			return fmt.Errorf("error executing jsonpath %q: %w", argument, err)
		}
		c.printf("%s", text)
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
func firstOf(path *template, obj object.Object) any {
	if found, err := path.all(map[string]any(obj)); err == nil && len(found) > 0 {
		return found[0]
	}
	return nil
}
