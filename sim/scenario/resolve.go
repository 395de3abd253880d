package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/spelling"
)

// resolve returns the definition of the resource that a word names on a replica: pods, pod, po, Pod, deployments.apps,
// deployments.v1.apps. If the resource has several versions, it returns the preferred one, which comes first.
func (w *World) resolve(text string, replica int) (*resource.Definition, error) {
	all := w.cluster.Server(replica).Table.All()
	name, group, qualified := strings.Cut(text, ".")
	for _, d := range all {
		if named(d, name) && (!qualified || group == d.Group || group == d.Version+"."+d.Group || d.Group == "" && group == d.Version) {
			return d, nil
		}
	}
	var similar []string
	for _, d := range all {
		if !named(d, name) {
			similar = append(append(similar, d.Resource), d.ShortNames...)
		}
	}
	if best := spelling.Nearest(name, similar); best != "" {
		return nil, fmt.Errorf("replica %d serves no resource %q; did you mean %s?", replica, text, best)
	}
	return nil, fmt.Errorf("replica %d serves no resource %q; name one like pods, po or deployments.apps", replica, text)
}

// Resolve returns the definition of the resource that a word such as pods, po or deployments.apps names on replica 1.
func (w *World) Resolve(text string) (*resource.Definition, error) { return w.resolve(text, 1) }

// findDefinition returns the definition of the resource that a word names on the first replica that serves it. It returns an error
// if none does.
func (w *World) findDefinition(text string) (d *resource.Definition, err error) {
	for n := 1; n <= w.cluster.Replicas(); n++ {
		if d, e := w.resolve(text, n); e == nil {
			return d, nil
		} else if err == nil {
			err = e
		}
	}
	return nil, err
}

// named reports whether text is one of the names of a resource.
func named(d *resource.Definition, text string) bool {
	return text == d.Resource || text == d.Singular || strings.EqualFold(text, d.Kind) || slices.Contains(d.ShortNames, text)
}

// kindOf returns the definition of an object's kind on a replica.
func (w *World) kindOf(obj object.Object, replica int) (*resource.Definition, error) {
	if obj.APIVersion() == "" || obj.Kind() == "" {
		return nil, fmt.Errorf("the object has no apiVersion or no kind")
	}
	d := w.cluster.Server(replica).Table.OfKind(schema.ParseGVK(obj.APIVersion(), obj.Kind()))
	if d == nil {
		return nil, fmt.Errorf("replica %d serves no kind %s of %s", replica, obj.Kind(), obj.APIVersion())
	}
	return d, nil
}

// Objects returns the stored objects at a revision, without a request. If rev is 0, it returns the current objects.
// resource is a name such as pods or deployments.apps. If namespace or name is "", it returns the objects of all
// namespaces or of all names.
func (w *World) Objects(resource, namespace, name string, rev uint64) ([]object.Object, error) {
	d, err := w.findDefinition(resource)
	if err != nil {
		return nil, err
	}
	return w.cluster.ListAt(d, namespace, name, rev)
}

// FirstObjects returns the first objects whose names begin with prefix, at most most of them, and the total number of such objects.
// Otherwise it is like Objects.
func (w *World) FirstObjects(resource, namespace, prefix string, most int, rev uint64) (first []object.Object, all int, err error) {
	d, err := w.findDefinition(resource)
	if err != nil {
		return nil, 0, err
	}
	return w.cluster.ListFirstAt(d, namespace, prefix, most, rev)
}
