package client

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
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

// notFound returns the error about an object that is no longer there.
func (i *Info) notFound() error {
	return NotFound(fmt.Sprintf("%s %q not found", i.Mapping.GroupResource(), i.Name))
}
