package scenario

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// deleteCommands delete objects.
var deleteCommands = []Command{
	{Name: "delete", Usage: "RESOURCE NAME | RESOURCE --all | RESOURCE -l SELECTOR | -f FILE",
		Help: "delete objects", Example: "delete pods a --grace 0", Group: Requests,
		Flags: append(slices.Clone(deleteFlags), "all", "selector", "field-selector", "filename", "subresource"),
		Args:  []Arg{Resource, ObjectName}, check: checkDelete, run: (*World).request, build: (*builder).delete},
	{Name: "deletecollection", Usage: "RESOURCE",
		Help: "delete all objects of a resource, or the ones that match selectors", Example: "deletecollection pods -l app=web", Group: Requests,
		Flags: append(slices.Clone(deleteFlags), "selector", "field-selector", "limit", "continue", "rv", "rv-match"),
		Args:  []Arg{Resource}, needs: 1, run: (*World).request, build: (*builder).delete},
}

func checkDelete(op *Op, at int) error {
	_, name := op.target(0)
	several := op.has("all") || op.has("selector") || op.has("field-selector")
	switch {
	case name == "" && !several && !op.has("filename"):
		return wrong(at+1, "delete needs a name; to delete all of them: --all or -l SELECTOR")
	case name != "" && several:
		return wrong(at+1, "delete takes a name or selectors, not both")
	}
	return nil
}

// policies maps the values of --cascade to values of propagationPolicy.
var policies = map[string]string{"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}

func (b *builder) delete() error {
	q, err := b.query()
	if err != nil {
		return err
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
			if err := b.remove(d, obj.Namespace(), obj.Name(), q); err != nil {
				return err
			}
		}
		return nil
	}
	d, name, err := b.target()
	if err != nil {
		return err
	}
	return b.remove(d, "", name, q)
}

// remove adds the request that deletes an object. If name is empty, the request deletes all objects that the query
// selects.
func (b *builder) remove(d *resource.Definition, namespace, name string, q url.Values) error {
	rv, given, err := b.revision("rv", d, namespace, name, q) // for deletecollection
	if given {
		q.Set("resourceVersion", rv)
	}
	precondition := ""
	if err == nil {
		if rv, given, err = b.revision("precondition-rv", d, namespace, name, q); given {
			precondition = rv
		}
	}
	contentType := ""
	body := b.deleteOptions(precondition, q)
	if body != nil {
		contentType = "application/json"
	}
	b.add("DELETE", b.location(d, namespace, name), q, contentType, body).def = d
	return err
}

// deleteOptions returns the body of a DELETE, or nil if no body is needed.
func (b *builder) deleteOptions(rv string, q url.Values) []byte {
	o := object.Object{}
	if v, ok := b.op.Flag("cascade"); ok {
		o.Set(policies[v], "propagationPolicy")
	}
	if v, ok := b.op.Flag("grace"); ok {
		o.Set(condition.Scalar(v), "gracePeriodSeconds")
	}
	if rv != "" {
		o.Set(rv, "preconditions", "resourceVersion")
	}
	if v, ok := b.op.Flag("precondition-uid"); ok {
		o.Set(v, "preconditions", "uid")
	}
	if len(o) == 0 {
		return nil
	}
	if q.Get("dryRun") != "" { // if there is a body, the server ignores the options in the query
		o.Set([]any{"All"}, "dryRun")
	}
	o["apiVersion"], o["kind"] = "v1", "DeleteOptions"
	return object.JSON(map[string]any(o))
}
