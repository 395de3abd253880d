package admission

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/status"
)

// The storage names of the resources that plugins are about.
const (
	pods            = "pods"
	nodes           = "nodes"
	namespaces      = "namespaces"
	claims          = "persistentvolumeclaims"
	volumes         = "persistentvolumes"
	ingresses       = "ingresses.networking.k8s.io"
	ingressClasses  = "ingressclasses.networking.k8s.io"
	priorityClasses = "priorityclasses.scheduling.k8s.io"
	runtimeClasses  = "runtimeclasses.node.k8s.io"
	storageClasses  = "storageclasses.storage.k8s.io"
	attributesClass = "volumeattributesclasses.storage.k8s.io"
	signingRequests = "certificatesigningrequests.certificates.k8s.io"
)

// about reports whether the write is one of the operations on a resource itself, not on a subresource.
func (a *Attributes) about(storage string, operations ...Operation) bool {
	return a.Definition.Storage == storage && a.Subresource == "" && slices.Contains(operations, a.Operation)
}

// refuse answers that the write is forbidden. An object whose name is still to be generated is named by its prefix.
func (a *Attributes) refuse(format string, args ...any) *status.Status {
	name := cmp.Or(a.Name, a.Object.Name(), a.Object.GenerateName(), "Unknown")
	return status.Forbidden(a.Definition.GroupResource(), name, fmt.Sprintf(format, args...))
}
