package scenario

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// file returns the content of a file of the scenario, with variables replaced. It returns an error if there is no such file.
func (w *World) file(name string) (string, error) {
	text, ok := w.files[name]
	if ok {
		return w.fill(text), nil
	}
	return "", unknown("file", name, object.SortedKeys(w.files), "; a scenario has files after lines such as -- "+name+" --")
}

// manifest parses the objects in a file, YAML or JSON. If template is not nil, it replaces placeholders in the file
// first.
func (w *World) manifest(name string, template func(string) (string, error)) ([]object.Object, error) {
	text, err := w.file(name)
	if err == nil && template != nil {
		text, err = template(text)
	}
	if err != nil {
		return nil, err
	}
	list, err := codec.Manifest([]byte(text))
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("there is no object in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

// literal returns the object that the arguments of a create without a file describe.
func literal(op *Op, apiVersion, kind, name string) (object.Object, error) {
	obj := object.Object{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
	for _, v := range op.all("from-literal") {
		key, value, ok := strings.Cut(v, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--from-literal is KEY=VALUE, not %q", v)
		}
		obj.Set(value, "data", key)
	}
	for _, v := range op.all("set") {
		path, value, ok := strings.Cut(v, "=")
		if !ok || path == "" {
			return nil, fmt.Errorf("--set is PATH=VALUE, such as spec.replicas=3, not %q", v)
		}
		obj.Set(condition.Scalar(value), object.Path(strings.TrimPrefix(path, "."))...)
	}
	return obj, nil
}
