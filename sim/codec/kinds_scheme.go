package codec

import (
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
)

// InternalType returns the Go type into which the server converts every version of a kind ("apps.Deployment"). Kinds that
// moved from one group to another are one type.
func InternalType(gvk schema.GVK) string {
	pkg, _, _ := strings.Cut(gvk.Group, ".")
	kind := strings.TrimSuffix(gvk.Kind, "List")
	switch gvk.Group {
	case "", "events.k8s.io":
		pkg = "core"
	case "internal.apiserver.k8s.io":
		pkg = "apiserverinternal"
	case "extensions":
		pkg = "apps"
		if kind == "Ingress" || kind == "NetworkPolicy" {
			pkg = "networking"
		}
	}
	if kind == "Scale" {
		pkg = "autoscaling"
	}
	return pkg + "." + gvk.Kind
}

// accepts reports whether an endpoint takes a body of another version as it is: evictions are read in either version of
// policy.
func accepts(want, gvk schema.GVK) bool {
	return want.Group == "policy" && want.Kind == "Eviction" && gvk.Group == "policy"
}
