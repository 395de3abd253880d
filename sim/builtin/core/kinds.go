// Package core has the kinds of the core group. The files of a kind begin with its name: pod.go is what it is, pod_validate.go what
// may be in it, pod_status.go what kubelets write, service_allocate.go the addresses and ports of Services.
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
