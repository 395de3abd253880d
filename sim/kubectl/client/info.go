package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Info is one thing that a command is about: an object by its name or of a file, or, without a name, all objects of a resource.
type Info struct {
	Mapping   *Mapping
	Namespace string
	Name      string
	Source    string        // the file that it comes from, "" if the command line names it
	Object    object.Object // of a file, or as it was read; nil before that
	Generated bool          // a generator made the object
	Err       error         // why it cannot be had
}

// Refer returns how lines speak of the object: deployment.apps/web.
func (i *Info) Refer() string { return i.Mapping.GroupKind() + "/" + i.Name }

// Path returns the path of the object.
func (i *Info) Path() string { return i.Mapping.Path(i.Namespace, i.Name) }

// Default sets the kind and version of an object of a list, which leaves them out.
func (m *Mapping) Default(obj object.Object) {
	obj.SetDefault(m.Kind, "kind")
	obj.SetDefault(m.GroupVersion(), "apiVersion")
}

// notFound returns the error about an object that no longer exists.
func (i *Info) notFound() error {
	return NotFound(fmt.Sprintf("%s %q not found", i.Mapping.GroupResource(), i.Name))
}

// TypeOf returns the type of an object of a built-in kind, nil for others.
func TypeOf(obj object.Object) *schema.Type {
	set, err := schema.Load(schema.Default)
	if err != nil {
		return nil
	}
	return set.Kind(schema.ParseGVK(obj.APIVersion(), obj.Kind()))
}

// LabelSelector returns a label selector as a parameter of a query has it.
func LabelSelector(s map[string]any) string {
	var out []string
	labels := object.Object(s).Map("matchLabels")
	for _, k := range object.SortedKeys(labels) {
		out = append(out, k+"="+fmt.Sprint(labels[k]))
	}
	for _, e := range object.Object(s).Objects("matchExpressions") {
		key, values := e.String("key"), "("+strings.Join(e.Strings("values"), ",")+")"
		out = append(out, map[string]string{"In": key + " in " + values, "NotIn": key + " notin " + values, "Exists": key,
			"DoesNotExist": "!" + key}[e.String("operator")])
	}
	return strings.Join(out, ",")
}

// IsOwnedBy reports whether an object has another one among its owners.
func IsOwnedBy(obj, owner object.Object) bool {
	return slices.ContainsFunc(obj.Objects("metadata", "ownerReferences"), func(ref object.Object) bool { return ref.String("uid") == owner.UID() })
}

// PodSpec returns the spec of the pods of an object, nil if it has none.
func PodSpec(obj object.Object) object.Object {
	switch obj.Kind() {
	case "Pod":
		return obj.At("spec")
	case "CronJob":
		return obj.At("spec", "jobTemplate", "spec", "template", "spec")
	}
	return obj.At("spec", "template", "spec")
}

// Containers returns the containers of a pod spec, the init containers first.
func Containers(spec object.Object) []object.Object {
	return append(spec.Objects("initContainers"), spec.Objects("containers")...)
}
