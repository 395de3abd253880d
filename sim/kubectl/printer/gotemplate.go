//go:build !nocel

package printer

import (
	"fmt"
	"io"

	"github.com/kubesim/kubesim/sim/gotemplate"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
)

// goPrinter returns the printer of -o go-template={{.metadata.name}} (GoTemplatePrinter).
func (f *PrintFlags) goPrinter(format, argument string) (Printer, error) {
	argument, err := f.template(format, argument)
	if err != nil {
		return nil, err
	}
	t, err := gotemplate.Parse("output", argument)
	if err != nil {
		return nil, fmt.Errorf("error parsing template %s, %w", argument, err)
	}
	whole := *f
	whole.ShowManagedFields = true
	return func(w io.Writer, info *client.Info) error {
		raw := whole.bytes(info)
		value, err := object.ParseValue(raw)
		if err != nil {
			return err
		}
		value = inFloats(value)
		if err := t.Execute(w, "output", value); err != nil {
			fmt.Fprintf(w, "Error executing template: %v. Printing more information for debugging the template:\n\ttemplate was:\n\t\t%s\n"+
				"\traw data was:\n\t\t%s\n\tobject given to template engine was:\n\t\t%+v\n\n", err, argument, raw, value)
			return fmt.Errorf("error executing template %q: %w", argument, err)
		}
		return nil
	}, nil
}

// inFloats returns a value in which all numbers are float64, as encoding/json decodes them.
func inFloats(value any) any {
	switch v := value.(type) {
	case int64:
		return float64(v)
	case []any:
		for i, x := range v {
			v[i] = inFloats(x)
		}
	case map[string]any:
		for k, x := range v {
			v[k] = inFloats(x)
		}
	}
	return value
}
