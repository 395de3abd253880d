package admission

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/status"
)

// immortal contains the namespaces that cannot be deleted. kube-node-lease is not one of them.
var immortal = map[string]bool{"default": true, "kube-system": true, "kube-public": true}

// checkNamespace rejects objects in namespaces that do not exist or are terminating, and the deletion of the namespaces
// that a cluster needs. It allows updates and deletions in a terminating namespace, and since 1.37 also updates in a
// namespace that no longer exists.
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
