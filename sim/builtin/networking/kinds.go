// Package networking defines Ingress, IngressClass, NetworkPolicy, ServiceCIDR and IPAddress.
package networking

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
)

// Kinds returns the kinds of networking.k8s.io.
func Kinds() []kind.Kind {
	return []kind.Kind{ingressKind(), ingressClassKind(), networkPolicyKind(), serviceCIDRKind(), ipAddressKind()}
}
