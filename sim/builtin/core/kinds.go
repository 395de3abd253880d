// Package core defines the kinds of the core group. The names of a kind's files begin with the kind: pod.go defines it,
// pod_validate.go validates it, pod_status.go validates the status that kubelets write, and service_allocate.go allocates
// addresses and ports for Services.
package core

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
)

// Kinds returns the kinds of the core group.
func Kinds() []kind.Kind {
	return []kind.Kind{
		podKind(), podTemplateKind(), replicationControllerKind(), {Storage: "bindings", ConnectSelf: bindPod},
		configMapKind(), secretKind(), serviceAccountKind(),
		serviceKind(), endpointsKind(),
		namespaceKind(), nodeKind(), resourceQuotaKind(), limitRangeKind(), componentStatusKind(),
		persistentVolumeKind(), persistentVolumeClaimKind(),
		eventKind(),
	}
}
