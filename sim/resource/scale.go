package resource

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

// ScalePaths holds the JSON paths of the fields that the scale subresource reads and writes, such as ".spec.replicas". Error
// messages contain them unchanged.
type ScalePaths struct {
	Replicas string // path of the desired number of replicas
	Status   string // path of the current number of replicas
	Selector string // path of the selector of the pods, or "" if there is none

	// Query converts the value at Selector to the string in status.selector. If Query is nil, the value is that string.
	Query func(value any) (string, error)

	// Versions maps the apiVersions of the resource's other versions to their Replicas, for managedFields of writes through them.
	// The path is "" for a version without a scale subresource.
	Versions map[string]string
}

// scaleVersion is the apiVersion of Scale.
const scaleVersion = "autoscaling/v1"

// unset is the value of spec.replicas during a patch of a custom resource that does not have the field: the smallest int32.
const unset = int64(-1 << 31)

// LabelSelectorQuery implements ScalePaths.Query for a metav1.LabelSelector.
func LabelSelectorQuery(value any) (string, error) {
	m, _ := value.(map[string]any)
	labels, err := selector.FromLabelSelector(m)
	if err != nil {
		return "", err
	}
	return labels.String(), nil
}

// LabelSetQuery implements ScalePaths.Query for a selector that is a map of labels.
func LabelSetQuery(value any) (string, error) {
	m, _ := value.(map[string]any)
	return selector.FromSet(object.StringMap(m)).String(), nil
}

// Scale returns the Connector of the scale subresource. It derives a Scale from an object and writes the Scale's number of replicas
// to the object (API concepts, "Scale subresource"; for custom resources, the CustomResourceDefinition documentation).
//
//	Deployment                       Scale
//	  spec.replicas        ◀──────▶    spec.replicas
//	  status.replicas      ───────▶    status.replicas
//	  spec.selector        ───────▶    status.selector   "app=a,tier in (x,y)"
func Scale(p ScalePaths) Connector {
	return func(c *Connection) (object.Object, *status.Status) {
		if c.Body == nil {
			return p.read(c)
		}
		return p.write(c)
	}
}

// read handles a GET, or the first of the two calls for a patch.
func (p ScalePaths) read(c *Connection) (object.Object, *status.Status) {
	d := c.Definition
	parent := c.Get(d.Storage, c.Namespace, c.Name)
	if parent == nil {
		return nil, status.NotFound(d.GroupResource(), c.Name)
	}
	parent = d.FromStored(parent)
	scale, found, err := p.of(parent)
	switch {
	case err != nil && c.Verb == "get":
		return nil, status.BadRequest("%s", err.Error())
	case err != nil:
		return nil, status.Plain("%s", err.Error())
	case !found && c.Verb == "get" && d.Custom:
		return nil, status.Internal(fmt.Errorf("the spec replicas field %q does not exist", p.Replicas))
	case c.Verb != "get":
		p.prepare(c, parent, scale, found)
	}
	return scale, nil
}

// prepare completes a Scale to which a client's patch is applied: it sets its managedFields, and spec.replicas to unset if the
// object of a custom resource does not have the field.
func (p ScalePaths) prepare(c *Connection, parent, scale object.Object, found bool) {
	if !found && c.Definition.Custom {
		scale.Set(unset, "spec", "replicas")
	}
	setManaged(scale, c.ToScale(parent.List("metadata", "managedFields"), p.byVersion(c.Definition)))
}

// byVersion returns the path of the replicas in each served version, by apiVersion and without the leading dot.
func (p ScalePaths) byVersion(d *Definition) map[string]string {
	paths := map[string]string{d.GV(): strings.TrimPrefix(p.Replicas, ".")}
	for version, path := range p.Versions { // order does not matter
		paths[version] = strings.TrimPrefix(path, ".")
	}
	return paths
}

func setManaged(obj object.Object, entries []any) {
	if len(entries) == 0 {
		obj.Remove("metadata", "managedFields")
		return
	}
	obj.Set(entries, "metadata", "managedFields")
}

// write sets the replicas of the object to those of the body, and returns the new Scale or an error.
func (p ScalePaths) write(c *Connection) (object.Object, *status.Status) {
	d := c.Definition
	c.ShowAs(p.scaleForAdmission)
	parent, s := c.Update(d.Storage, c.Namespace, c.Name, c.Subresource, func(parent object.Object) *status.Status {
		live, found, err := p.of(parent)
		if err != nil {
			return status.Plain("%s", err.Error())
		}
		p.prepare(c, parent, live, found)
		scale := c.Body
		if c.Verb == "update" {
			if s := c.CheckUID(parent, scale.UID()); s != nil {
				return s
			}
		}
		c.Manage(live, scale)
		if s := c.AdmitUpdate(live, scale); s != nil {
			return s
		}
		if s := p.check(c, parent, scale); s != nil {
			return s
		}
		replicas, _ := scale.Int("spec", "replicas")
		parent.Set(replicas, splitPath(p.Replicas)...)
		if rv := scale.ResourceVersion(); rv != "" || !d.Custom {
			parent.SetMeta("resourceVersion", rv)
		}
		setManaged(parent, c.FromScale(parent.List("metadata", "managedFields"), scale.List("metadata", "managedFields"),
			d.GV(), p.byVersion(d)))
		return nil
	})
	if s != nil {
		return nil, s
	}
	scale, _, err := p.of(parent)
	if err != nil {
		return nil, status.BadRequest("%s", err.Error())
	}
	return scale, nil
}

// check returns an error if a Scale is invalid. For a custom resource it checks only that spec.replicas is set: the rest is
// validated as part of the object.
func (p ScalePaths) check(c *Connection, parent, scale object.Object) *status.Status {
	replicas, _ := scale.Int("spec", "replicas")
	if c.Definition.Custom {
		if replicas == unset {
			return status.BadRequest("the spec replicas field %q cannot be empty", p.Replicas)
		}
		return nil
	}
	errs := metadata.Rules(c.Server.Minor).ValidateCore(scale.Metadata(), true, field.NameDNSSubdomain, field.Root("metadata"))
	if errs = append(errs, field.NonNegative(replicas, field.Root("spec").Child("replicas"))...); len(errs) > 0 {
		return status.Invalid(status.Resource{Group: "autoscaling", Resource: "Scale"}, parent.Name(), errs)
	}
	if uid := scale.UID(); uid != "" && uid != parent.UID() {
		r := c.Definition.GroupResource()
		r.Resource += "/scale"
		return status.Conflict(r, parent.Name(),
			status.UIDDiffers(uid, parent.UID()))
	}
	return nil
}

// of returns the Scale of an object. If the object has no number of replicas, found is false. It returns an error if a field has
// the wrong type.
func (p ScalePaths) of(parent object.Object) (scale object.Object, found bool, err error) {
	want, found, err := numberAt(parent, p.Replicas)
	if err != nil {
		return nil, false, err
	}
	have, _, err := numberAt(parent, p.Status)
	if err != nil {
		return nil, false, err
	}
	query, err := p.query(parent)
	if err != nil {
		return nil, false, err
	}
	meta := map[string]any{}
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		if v, ok := parent.Get("metadata", name); ok {
			meta[name] = v
		}
	}
	scale = object.Object{"kind": "Scale", "apiVersion": scaleVersion, "metadata": meta,
		"spec":   map[string]any{"replicas": int64(int32(want))},
		"status": map[string]any{"replicas": int64(int32(have)), "selector": query}}
	return scale, found, nil
}

// query returns the selector of an object as the string for status.selector.
func (p ScalePaths) query(parent object.Object) (string, error) {
	if p.Selector == "" {
		return "", nil
	}
	value, found, err := valueAt(parent, p.Selector)
	if err != nil {
		return "", err
	}
	if p.Query != nil {
		return p.Query(value)
	}
	text, ok := value.(string)
	if !ok && found {
		return "", wrongType(p.Selector, value, "string")
	}
	return text, nil
}

// scaleForAdmission returns the Scale of an object for admission, or nil if a field has the wrong type.
func (p ScalePaths) scaleForAdmission(parent object.Object) object.Object {
	scale, _, err := p.of(parent)
	if err != nil {
		return nil
	}
	return scale
}

func splitPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// numberAt returns the integer at a path. If there is none, found is false. It returns an error if the value has another type.
func numberAt(obj object.Object, path string) (n int64, found bool, err error) {
	value, found, err := valueAt(obj, path)
	if err != nil || !found {
		return 0, false, err
	}
	n, ok := value.(int64)
	if !ok {
		return 0, false, wrongType(path, value, "int64")
	}
	return n, true, nil
}

// valueAt returns the value at a path. If there is none, found is false. It returns an error if a value on the path is not an
// object.
func valueAt(obj object.Object, path string) (value any, found bool, err error) {
	value = map[string]any(obj)
	names := splitPath(path)
	for i, name := range names {
		if value == nil {
			return nil, false, nil
		}
		m, ok := value.(map[string]any)
		if !ok {
			return nil, false, wrongType(strings.Join(names[:i+1], "."), value, "map[string]interface{}")
		}
		if value, found = m[name]; !found {
			return nil, false, nil
		}
	}
	return value, true, nil
}

// wrongType returns the error that the real server's accessors for unstructured objects return for a value of the wrong type.
func wrongType(path string, value any, want string) error {
	return fmt.Errorf(".%s accessor error: %v is of the type %T, expected %s", strings.TrimPrefix(path, "."), value, value, want)
}
