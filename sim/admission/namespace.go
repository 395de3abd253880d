package admission

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/status"
)

// immortal are the namespaces that can never be deleted. kube-node-lease is not among them.
var immortal = map[string]bool{"default": true, "kube-system": true, "kube-public": true}

// checkNamespace refuses objects in namespaces that do not exist or are being deleted, and the deletion of the namespaces that a
// cluster needs. Updates and deletions in a terminating namespace are allowed, and from 1.37 on updates in a namespace that does
// not exist any more.
func checkNamespace(a *Attributes) *status.Status {
	def := a.Definition
	if def.Storage == namespaces {
		if a.Operation == Delete && immortal[a.Name] {
			return status.Forbidden(def.GroupResource(), a.Name, "this namespace may not be deleted")
		}
		return nil
	}
	if !def.Namespaced || a.Namespace == "" || a.Operation == Delete || def.Resource == "localsubjectaccessreviews" {
		return nil
	}
	if a.Operation == Update && a.Since(37) {
		return nil
	}
	phase, exists := a.Objects.Field(namespaces, "", a.Namespace, "status.phase")
	if !exists {
		return status.NotFound(status.Resource{Resource: namespaces}, a.Namespace)
	}
	if a.Operation != Create || phase != "Terminating" {
		return nil
	}
	s := a.refuse("unable to create new content in namespace %s because it is being terminated", a.Namespace)
	s.Details.Causes = []status.Cause{{Reason: "NamespaceTerminating", Field: "metadata.namespace",
		Message: fmt.Sprintf("namespace %s is being terminated", a.Namespace)}}
	return s
}
