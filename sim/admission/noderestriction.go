//go:build !page

package admission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/certificates"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// nodeWrite is a write by a node's kubelet.
type nodeWrite struct {
	*Attributes
	node string
	host Host
}

// may reports whether the kubelet has an additional right.
func (r *nodeWrite) may(access expr.Access) bool {
	return r.host.May(r.By, r.User, access, r.Objects).Allowed
}

// restrictNodes returns the step that limits the writes of kubelets to objects of their own node (Kubernetes documentation,
// "NodeRestriction").
func restrictNodes(h *Server) Step {
	return func(a *Attributes) *status.Status {
		node, ok := strings.CutPrefix(a.User.Name, "system:node:")
		if !ok || !slices.Contains(a.User.Groups, "system:nodes") {
			return nil
		}
		if node == "" {
			return a.refuse("could not determine node from user %q", a.User.Name)
		}
		if check := nodeRestrictions[a.Definition.Storage]; check != nil {
			return check(&nodeWrite{a, node, h})
		}
		return nil
	}
}

// nodeRestrictions are the checks by storage name.
var nodeRestrictions = map[string]func(*nodeWrite) *status.Status{
	pods:                             (*nodeWrite).pod,
	nodes:                            (*nodeWrite).own,
	claims:                           (*nodeWrite).claim,
	serviceAccounts:                  (*nodeWrite).token,
	"leases.coordination.k8s.io":     (*nodeWrite).lease,
	"csinodes.storage.k8s.io":        (*nodeWrite).driverInfo,
	"resourceslices.resource.k8s.io": (*nodeWrite).slice,
	signingRequests:                  (*nodeWrite).request,
	"podcertificaterequests.certificates.k8s.io": (*nodeWrite).podCertificate,
}

// named returns the name of the written object.
func (r *nodeWrite) named() string { return cmp.Or(r.Name, r.Object.Name()) }

// missing returns the 404 of the real server's plugin for an object that it reads from an informer's cache. Unlike other errors, it
// names the resource in the singular.
func missing(group, kind, name string) *status.Status {
	return status.NotFound(status.Resource{Group: group, Resource: kind}, name)
}

// own checks that a kubelet writes only its own Node, and only the fields that it may change.
func (r *nodeWrite) own() *status.Status {
	if name := r.named(); name != r.node {
		return r.refuse("node %q is not allowed to modify node %q", r.node, name)
	}
	config := r.Object.Map("spec", "configSource")
	switch r.Operation {
	case Create:
		if config != nil {
			return r.refuse("node %q is not allowed to create pods with a non-nil configSource", r.node)
		}
		if labels := forbiddenLabels(r.Object.Labels(), nil); len(labels) > 0 {
			return r.refuse("node %q is not allowed to set the following labels: %s", r.node, strings.Join(labels, ", "))
		}
	case Update:
		if config != nil && !object.SemanticEqual(config, r.Old.Map("spec", "configSource")) {
			return r.refuse("node %q is not allowed to update configSource to a new non-nil configSource", r.node)
		}
		if !object.SemanticEqual(r.Object.List("spec", "taints"), r.Old.List("spec", "taints")) {
			return r.refuse("node %q is not allowed to modify taints", r.node)
		}
		if !object.SemanticEqual(r.Object.List("metadata", "ownerReferences"), r.Old.List("metadata", "ownerReferences")) {
			return r.refuse("node %q is not allowed to modify ownerReferences", r.node)
		}
		if labels := forbiddenLabels(r.Object.Labels(), r.Old.Labels()); len(labels) > 0 {
			return r.refuse("is not allowed to modify labels: %s", strings.Join(labels, ", "))
		}
	}
	return nil
}

// kubeletLabels are the labels of Kubernetes' own domains that kubelets may set on their Nodes, apart from those of the domains
// kubelet.kubernetes.io and node.kubernetes.io (k8s.io/kubelet/pkg/apis).
var kubeletLabels = []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
	"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region", "beta.kubernetes.io/instance-type",
	"node.kubernetes.io/instance-type", "kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch"}

// forbiddenLabels returns the changed labels that a kubelet may not change, sorted.
func forbiddenLabels(now, before map[string]string) (all []string) {
	changed := map[string]bool{}
	for _, pair := range [][2]map[string]string{{now, before}, {before, now}} {
		for key, value := range pair[0] { // order does not matter
			if other, ok := pair[1][key]; !ok || other != value {
				changed[key] = true
			}
		}
	}
	for _, key := range object.SortedKeys(changed) {
		domain, _, ok := strings.Cut(key, "/")
		in := func(suffix string) bool { return ok && (domain == suffix || strings.HasSuffix(domain, "."+suffix)) }
		allowed := slices.Contains(kubeletLabels, key) || in("kubelet.kubernetes.io") || in("node.kubernetes.io")
		if in("node-restriction.kubernetes.io") || (in("kubernetes.io") || in("k8s.io")) && !allowed {
			all = append(all, key)
		}
	}
	return all
}

func (r *nodeWrite) lease() *status.Status {
	switch {
	case r.Namespace != "kube-node-lease":
		return r.refuse("can only access leases in the %q system namespace", "kube-node-lease")
	case r.named() != r.node:
		return r.refuse("can only access node lease with the same name as the requesting node")
	}
	return nil
}

// driverInfo rejects a write to the CSINode of another node.
func (r *nodeWrite) driverInfo() *status.Status {
	switch {
	case r.Subresource == "status" && r.Server.Since(37):
		return r.refuse("CSIVolumeHealth feature gate is disabled")
	case r.named() != r.node:
		return r.refuse("can only access CSINode with the same name as the requesting node")
	}
	return nil
}

func (r *nodeWrite) slice() *status.Status {
	switch {
	case r.Operation == Create && r.Object.String("spec", "nodeName") != r.node:
		return r.refuse("can only create ResourceSlice with the same NodeName as the requesting node")
	case r.Operation == Delete && r.Old.String("spec", "nodeName") != r.node:
		return r.refuse("can only delete ResourceSlice with the same NodeName as the requesting node")
	}
	return nil
}

// request rejects a kubelet's request for a certificate whose common name is not that of its node.
func (r *nodeWrite) request() *status.Status {
	signer := r.Object.String("spec", "signerName")
	if r.Operation != Create || signer != "kubernetes.io/kubelet-serving" && signer != "kubernetes.io/kube-apiserver-client-kubelet" {
		return nil
	}
	name, err := certificates.CommonName(r.Object.String("spec", "request"))
	switch {
	case err != nil:
		return r.refuse("unable to parse csr: %s", err)
	case name != "system:node:"+r.node:
		return r.refuse("can only create a node CSR with CN=system:node:%s", r.node)
	}
	return nil
}
