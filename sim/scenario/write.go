package scenario

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// writeCommands write objects. An object is read from a file, or described by the arguments.
var writeCommands = []Command{
	{Name: "create", Usage: "-f FILE | RESOURCE NAME", Help: "create an object", Example: "create deployment web --set spec.replicas=3",
		Group: Requests, Flags: append(slices.Clone(writeFlags), "set", "from-literal"), Args: []Arg{Resource, ObjectName},
		check: checkCreate, run: (*World).request, build: (*builder).write},
	{Name: "apply", Usage: "-f FILE | RESOURCE NAME", Help: "apply an object, on the server (server-side apply)", Example: "apply -f cm.yaml --field-manager ci",
		Group: Requests, Flags: append(slices.Clone(writeFlags), "set", "from-literal", "force"), Args: []Arg{Resource, ObjectName},
		check: checkCreate, run: (*World).request, build: (*builder).write},
	{Name: "replace", Usage: "-f FILE | RESOURCE NAME", Help: "replace a stored object", Example: "replace -f cm.yaml --rv last",
		Group: Requests, Flags: append(slices.Clone(writeFlags), "set", "from-literal"), Args: []Arg{Resource, ObjectName},
		check: checkCreate, run: (*World).request, build: (*builder).write},
	{Name: "patch", Usage: "RESOURCE NAME -p PATCH", Help: "change a part of an object", Example: `patch cm a -p '{"data":{"k":"v"}}'`,
		Group: Requests, Flags: append(slices.Clone(writeFlags), "type", "patch", "force"), Args: []Arg{Resource, ObjectName}, needs: 1,
		check: checkPatch, run: (*World).request, build: (*builder).patch},
}

func checkCreate(op *Op, at int) error {
	_, name := op.target(0)
	switch file := op.has("filename"); {
	case !file && name == "":
		return wrong(at+1, "%s needs a file or a name: %s -f FILE, or %s RESOURCE NAME", op.Name, op.Name, op.Name)
	case file && (op.has("set") || op.has("from-literal")):
		return wrong(at+1, "the object comes from -f or from --set, not from both")
	}
	return nil
}

func checkPatch(op *Op, at int) error {
	_, name := op.target(0)
	file := op.has("filename")
	switch {
	case !op.has("patch") && !file:
		return wrong(at+1, "patch needs a patch: -p '{\"data\":{\"k\":\"v\"}}', or -f FILE")
	case name == "":
		return wrong(at+1, "patch needs the name of an object: patch %s NAME -p …", op.arg(0))
	case op.has("patch") && file:
		return wrong(at+1, "the patch comes from -p or from -f, not from both")
	}
	return nil
}

// write adds the requests of create, apply and replace: one for each object.
func (b *builder) write() error {
	q, err := b.query()
	if err != nil {
		return err
	}
	list, d, err := b.objects()
	if err != nil {
		return err
	}
	for _, obj := range list {
		kind := d
		if kind == nil {
			if kind, err = b.w.kindOf(obj, b.replica); err != nil {
				return fmt.Errorf("%s: %w", b.op.value("filename"), err)
			}
		}
		rv, given, err := b.revision("rv", kind, obj.Namespace(), obj.Name(), q)
		if err != nil {
			return err
		}
		if given {
			obj.Set(rv, "metadata", "resourceVersion")
		}
		b.send(kind, obj, q)
	}
	return nil
}

// send adds the request that writes one object.
func (b *builder) send(d *resource.Definition, obj object.Object, q url.Values) {
	name := obj.Name()
	if _, n := b.op.target(0); n != "" {
		name = n
	}
	body := object.JSON(map[string]any(obj))
	switch b.op.Name {
	case "create":
		if !b.op.has("subresource") {
			name = ""
		}
		c := b.add("POST", b.location(d, obj.Namespace(), name), q, "application/json", body)
		c.def, c.made = d, obj.Name()
	case "replace":
		b.add("PUT", b.location(d, obj.Namespace(), name), q, "application/json", body).def = d
	case "apply":
		b.apply(d, obj.Namespace(), name, q, body)
	}
}

func (b *builder) apply(d *resource.Definition, namespace, name string, q url.Values, body []byte) {
	if q.Get("fieldManager") == "" {
		q.Set("fieldManager", b.client.name)
	}
	if b.op.has("force") {
		q.Set("force", "true")
	}
	b.add("PATCH", b.location(d, namespace, name), q, "application/apply-patch+yaml", body).def = d
}

// objects returns the objects to write, and their definition if the operation names it.
func (b *builder) objects() ([]object.Object, *resource.Definition, error) {
	var d *resource.Definition
	text, name := b.op.target(0)
	if text != "" {
		var err error
		if d, err = b.w.resolve(text, b.replica); err != nil {
			return nil, nil, err
		}
	}
	if file := b.op.value("filename"); file != "" {
		list, err := b.w.manifest(file, b.template)
		return list, d, err
	}
	obj, err := literal(b.op, d.GV(), d.Kind, name)
	return []object.Object{obj}, d, err
}

// patchTypes maps the values of --type to media types.
var patchTypes = map[string]string{
	"strategic": "application/strategic-merge-patch+json", "merge": "application/merge-patch+json",
	"json": "application/json-patch+json", "apply": "application/apply-patch+yaml",
}

func (b *builder) patch() error {
	q, err := b.query()
	if err != nil {
		return err
	}
	d, name, err := b.target()
	if err != nil {
		return err
	}
	body := b.op.value("patch")
	if file := b.op.value("filename"); file != "" {
		if body, err = b.w.file(file); err != nil {
			return err
		}
	}
	patch, err := object.ParseValue([]byte(body))
	if err != nil {
		if patch, err = parseYAML(body); err != nil {
			return fmt.Errorf("the patch can be read neither as JSON nor as YAML: %w", err)
		}
	}
	kind := b.op.value("type")
	if kind == "" {
		kind = "strategic"
		if d.Custom {
			kind = "merge"
		}
	}
	rv, given, err := b.revision("rv", d, "", name, q)
	if err == nil && given {
		patch, err = based(patch, rv)
	}
	if err != nil {
		return err
	}
	data := object.JSON(patch)
	if kind == "apply" {
		b.apply(d, "", name, q, data)
		return nil
	}
	b.add("PATCH", b.location(d, "", name), q, patchTypes[kind], data).def = d
	return nil
}

func parseYAML(text string) (any, error) {
	data, err := codec.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	return object.ParseValue(data)
}

// based adds a resourceVersion to a patch, so that the server rejects the patch with a conflict if the object has another one. It
// returns an error for a patch to which it cannot be added.
func based(patch any, rv string) (any, error) {
	switch patch := patch.(type) {
	case []any:
		return append([]any{map[string]any{"op": "test", "path": "/metadata/resourceVersion", "value": rv}}, patch...), nil
	case map[string]any:
		object.Object(patch).Set(rv, "metadata", "resourceVersion")
		return patch, nil
	}
	return nil, fmt.Errorf("--rv requires a patch that is an object or a list of steps")
}
