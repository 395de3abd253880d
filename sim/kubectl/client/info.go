package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Info is an object that a command processes. If Name is empty, it represents all objects of a resource.
type Info struct {
	Mapping   *Mapping
	Namespace string
	Name      string
	Source    string        // the object's file, or "" if the command line names the object
	Object    object.Object // nil until it has been read from a file or the server
	Generated bool          // a generator created the object
	Err       error         // why the object cannot be read
}

// Refer returns the object's name in messages, such as deployment.apps/web.
func (i *Info) Refer() string { return i.Mapping.GroupKind() + "/" + i.Name }

// Path returns the path of the object.
func (i *Info) Path() string { return i.Mapping.Path(i.Namespace, i.Name) }

// Default sets the kind and version of an object from a list, whose items omit them.
func (m *Mapping) Default(obj object.Object) {
	obj.SetDefault(m.Kind, "kind")
	obj.SetDefault(m.GroupVersion(), "apiVersion")
}

// notFound returns the error for an object that no longer exists.
func (i *Info) notFound() error {
	return NotFound(fmt.Sprintf("%s %q not found", i.Mapping.GroupResource(), i.Name))
}

// TypeOf returns the schema of an object of a built-in kind, or nil for other kinds.
func TypeOf(obj object.Object) *schema.Type {
	set, err := schema.Load(schema.Default)
	if err != nil {
		return nil
	}
	return set.Kind(schema.ParseGVK(obj.APIVersion(), obj.Kind()))
}

// LabelSelector returns a label selector in the syntax of the labelSelector query parameter.
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

// IsOwnedBy reports whether obj has an owner reference to owner.
func IsOwnedBy(obj, owner object.Object) bool {
	return slices.ContainsFunc(obj.Objects("metadata", "ownerReferences"), func(ref object.Object) bool { return ref.String("uid") == owner.UID() })
}

// PodSpec returns the pod spec of an object, or nil if it has none.
func PodSpec(obj object.Object) object.Object {
	switch obj.Kind() {
	case "Pod":
		return obj.At("spec")
	case "CronJob":
		return obj.At("spec", "jobTemplate", "spec", "template", "spec")
	}
	return obj.At("spec", "template", "spec")
}

// Containers returns the containers of a pod spec, with the init containers first.
func Containers(spec object.Object) []object.Object {
	return append(spec.Objects("initContainers"), spec.Objects("containers")...)
}
