package actor

import (
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Key names an object within its kind.
func Key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// keyOf returns the key of an object.
func keyOf(obj object.Object) string { return Key(obj.Namespace(), obj.Name()) }

// Ref names an object for people and for frames: "configmaps default/a", "deployments.apps default/web".
func Ref(d *resource.Definition, namespace, name string) string {
	text := d.GroupResource().String()
	if namespace != "" && name != "" {
		return text + " " + namespace + "/" + name
	}
	return strings.TrimRight(text+" "+namespace+name, " ")
}

// ShortRef turns "configmaps default/a" into configmaps/a; other namespaces stay.
func ShortRef(ref string) string {
	resource, key, _ := strings.Cut(ref, " ")
	return resource + "/" + strings.TrimPrefix(key, "default/")
}

// Terminating returns the end of a line about an object that is being deleted, and otherwise "".
func Terminating(obj object.Object) string {
	if obj.DeletionTimestamp() != "" {
		return ", terminating"
	}
	return ""
}
