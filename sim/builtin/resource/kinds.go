// Package resource has the kinds of resource.k8s.io, dynamic resource allocation: claims, their templates, device classes and slices.
package resource

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
)

// docDevices is the definition name in front of the types of resource.k8s.io/v1.
const docDevices = "io.k8s.api.resource.v1."

// Kinds returns the kinds of resource.k8s.io.
func Kinds() []kind.Kind {
	return []kind.Kind{resourceClaimKind(), resourceClaimTemplateKind(), resourceSliceKind(), deviceClassKind(), taintRuleKind()}
}
