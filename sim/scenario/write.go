package scenario

import (
	"fmt"
	"net/url"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// write makes the requests of create, apply and replace: one for each object.
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
		rv, given, err := b.revision()
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

// send makes the request that writes one object.
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
		b.add("POST", b.location(d, obj.Namespace(), name), q, "application/json", body).def = d
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

// objects returns what is to be written, and its definition where the operation names it.
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

// patchTypes are the media types of each --type.
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
	data, err := codec.YAMLToJSON([]byte(body))
	if err != nil {
		return fmt.Errorf("the patch can be read neither as JSON nor as YAML: %w", err)
	}
	kind := b.op.value("type")
	if kind == "" {
		kind = "strategic"
		if d.Custom {
			kind = "merge"
		}
	}
	if rv, given, err := b.revision(); err != nil {
		return err
	} else if given && kind != "json" {
		patch, err := object.Parse(data)
		if err != nil {
			return fmt.Errorf("--rv goes into a patch that is an object: %w", err)
		}
		patch.Set(rv, "metadata", "resourceVersion")
		data = object.JSON(map[string]any(patch))
	}
	if kind == "apply" {
		b.apply(d, "", name, q, data)
		return nil
	}
	b.add("PATCH", b.location(d, "", name), q, patchTypes[kind], data).def = d
	return nil
}

// policies are the names of --cascade.
var policies = map[string]string{"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}

func (b *builder) delete() error {
	q, err := b.query()
	if err != nil {
		return err
	}
	if rv, given, err := b.revision(); err != nil {
		return err
	} else if given {
		q.Set("resourceVersion", rv)
	}
	body := b.deleteOptions(q)
	contentType := ""
	if body != nil {
		contentType = "application/json"
	}
	if file := b.op.value("filename"); file != "" {
		list, err := b.w.manifest(file, b.template)
		if err != nil {
			return err
		}
		for _, obj := range list {
			d, err := b.w.kindOf(obj, b.replica)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			b.add("DELETE", b.location(d, obj.Namespace(), obj.Name()), q, contentType, body).def = d
		}
		return nil
	}
	d, name, err := b.target()
	if err != nil {
		return err
	}
	b.add("DELETE", b.location(d, "", name), q, contentType, body).def = d
	return nil
}

// deleteOptions returns the body of a DELETE, nil if it needs none.
func (b *builder) deleteOptions(q url.Values) []byte {
	o := object.Object{}
	if v, ok := b.op.Flag("cascade"); ok {
		o.Set(policies[v], "propagationPolicy")
	}
	if v, ok := b.op.Flag("grace"); ok {
		o.Set(scalar(v), "gracePeriodSeconds")
	}
	if v, ok := b.op.Flag("precondition-rv"); ok {
		o.Set(v, "preconditions", "resourceVersion")
	}
	if v, ok := b.op.Flag("precondition-uid"); ok {
		o.Set(v, "preconditions", "uid")
	}
	if len(o) == 0 {
		return nil
	}
	if q.Get("dryRun") != "" { // the options of the query are not read when there is a body
		o.Set([]any{"All"}, "dryRun")
	}
	o["apiVersion"], o["kind"] = "v1", "DeleteOptions"
	return object.JSON(map[string]any(o))
}
