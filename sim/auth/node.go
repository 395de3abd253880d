//go:build !page

package auth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// nodeLeases is the namespace of the leases of nodes.
const nodeLeases = "kube-node-lease"

// nodeRules are the rights of every node to resources that the authorizer does not restrict further (rbac/bootstrappolicy,
// NodeRules).
var nodeRules = []Rule{
	{Verbs: []string{"create"}, APIGroups: []string{authenticationGroup}, Resources: []string{"tokenreviews"}},
	{Verbs: []string{"create"}, APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews", "localsubjectaccessreviews"}},
	{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{""}, Resources: []string{"services"}},
	{Verbs: []string{"create", "update", "patch"}, APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}},
	{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"endpoints"}},
	{Verbs: []string{"create", "get", "list", "watch"}, APIGroups: []string{"certificates.k8s.io"}, Resources: []string{"certificatesigningrequests"}},
	{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{"storage.k8s.io"}, Resources: []string{"csidrivers"}},
	{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{"node.k8s.io"}, Resources: []string{"runtimeclasses"}},
}

// nodeRequest is a request that a node's kubelet sends.
//
//	secret, config map, claim, account ◀─ references ─ pod ─ spec.nodeName ─▶ node
//	secret ◀─ volume ─ claimRef ─▶ claim ◀─ references ─ pod ─ …
//
// The pods of the node come from the index of the watch cache, and the references of a pod are computed once for each of its
// versions.
type nodeRequest struct {
	Attributes
	node    string
	objects resource.Reader
	auth    *Auth
}

// byNode implements Authorize for the mode Node (k8s.io/kubernetes/plugin/pkg/auth/authorizer/node).
func (a *Auth) byNode(at Attributes, objects resource.Reader) (allowed bool, reason string) {
	if !isNode(at.User) {
		return false, ""
	}
	r := &nodeRequest{at, strings.TrimPrefix(at.User.Name, nodePrefix), objects, a}
	if r.node == "" {
		return false, fmt.Sprintf("unknown node for user %q", at.User.Name)
	}
	if at.IsResource {
		if decide := nodeDecisions[at.Group+"/"+at.Resource]; decide != nil {
			return decide(r)
		}
	}
	return slices.ContainsFunc(nodeRules, func(rule Rule) bool { return rule.Allows(at) }), ""
}

// nodeDecisions decide about the resources whose objects belong to nodes, by group and resource.
var nodeDecisions = map[string]func(*nodeRequest) (allowed bool, reason string){
	"/secrets":                       func(r *nodeRequest) (bool, string) { return r.read(secretsKey) },
	"/configmaps":                    func(r *nodeRequest) (bool, string) { return r.read(configsKey) },
	"/persistentvolumeclaims":        (*nodeRequest).claim,
	"/persistentvolumes":             func(r *nodeRequest) (bool, string) { return r.get(volumesKey) },
	"resource.k8s.io/resourceclaims": func(r *nodeRequest) (bool, string) { return r.get(devicesKey) },
	"storage.k8s.io/volumeattachments": func(r *nodeRequest) (bool, string) {
		return r.get("volumeattachments.storage.k8s.io")
	},
	"/serviceaccounts":                           (*nodeRequest).account,
	"coordination.k8s.io/leases":                 (*nodeRequest).lease,
	"storage.k8s.io/csinodes":                    (*nodeRequest).driverInfo,
	"resource.k8s.io/resourceslices":             (*nodeRequest).slice,
	"certificates.k8s.io/podcertificaterequests": (*nodeRequest).podCertificate,
	"/nodes": (*nodeRequest).own,
	"/pods":  (*nodeRequest).pod,
}

func (r *nodeRequest) is(verbs ...string) bool { return slices.Contains(verbs, r.Verb) }

// get allows reading single objects that are related to the node.
func (r *nodeRequest) get(storage string) (bool, string) {
	switch {
	case !r.is("get"):
		return false, "can only get individual resources of this type"
	case r.Subresource != "":
		return false, "cannot get subresource"
	}
	return r.related(storage)
}

// read allows reading and watching single objects that are related to the node.
func (r *nodeRequest) read(storage string) (bool, string) {
	switch {
	case !r.is("get", "list", "watch"):
		return false, "can only read resources of this type"
	case r.Subresource != "":
		return false, "cannot read subresource"
	case r.Namespace == "":
		return false, "can only read namespaced object of this type"
	}
	return r.related(storage)
}

func (r *nodeRequest) claim() (bool, string) {
	switch {
	case r.Subresource != "status":
		return r.get(claimsKey)
	case !r.is("update", "patch"):
		return false, "can only get/update/patch this type"
	}
	return r.related(claimsKey)
}

func (r *nodeRequest) account() (bool, string) {
	switch {
	case r.is("get") && r.Subresource == "":
		return r.read(accountsKey)
	case !r.is("create") || r.Name == "":
		return false, "can only create tokens for individual service accounts"
	case r.Subresource != "token":
		return false, "can only create token subresource of serviceaccount"
	}
	return r.related(accountsKey)
}

func (r *nodeRequest) lease() (bool, string) {
	switch {
	case !r.is("get", "create", "update", "patch", "delete"):
		return false, "can only get, create, update, patch, or delete a node lease"
	case r.Namespace != nodeLeases:
		return false, fmt.Sprintf("can only access leases in the %q system namespace", nodeLeases)
	case !r.is("create") && r.Name != r.node: // NodeRestriction checks the name in a create
		return false, "can only access node lease with the same name as the requesting node"
	}
	return true, ""
}

// driverInfo decides about CSINodes.
func (r *nodeRequest) driverInfo() (bool, string) {
	switch {
	case r.Subresource == "status" && r.auth.options.Named:
		return false, "CSINode status access requires CSIVolumeHealth feature"
	case !r.is("get", "create", "update", "patch", "delete"):
		return false, "can only get, create, update, patch, or delete a CSINode"
	case r.Subresource != "":
		return false, "cannot authorize CSINode subresources"
	case !r.is("create") && r.Name != r.node:
		return false, "can only access CSINode with the same name as the requesting node"
	}
	return true, ""
}

func (r *nodeRequest) slice() (bool, string) {
	switch {
	case r.Subresource != "":
		return false, "cannot authorize ResourceSlice subresources"
	case r.is("create"):
		return true, ""
	case r.is("get", "update", "patch", "delete"):
		return r.related("resourceslices.resource.k8s.io")
	case !r.is("watch", "list", "deletecollection"):
		return false, "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection"
	case r.selectsNode():
		return true, ""
	}
	return false, "can only list/watch/deletecollection resourceslices with nodeName field selector"
}

func (r *nodeRequest) podCertificate() (bool, string) {
	switch {
	case r.Subresource != "":
		return false, "nodes may not access the status subresource of PodCertificateRequests"
	case r.is("create"):
		return true, ""
	case r.is("get"):
		return r.related("podcertificaterequests.certificates.k8s.io")
	case !r.is("list", "watch"):
		return false, fmt.Sprintf("nodes may not %s podcertificaterequests", r.Verb)
	case r.selectsNode():
		return true, ""
	}
	return false, "can only list/watch podcertificaterequests with nodeName field selector"
}

// own decides about Nodes. NodeRestriction limits the writes.
func (r *nodeRequest) own() (bool, string) {
	switch {
	case r.Subresource == "" && r.is("create", "update", "patch"), r.Subresource == "status" && r.is("update", "patch"):
		return true, ""
	case r.Subresource != "" || !r.is("get", "list", "watch"):
		return false, ""
	case r.Name == "":
		return false, fmt.Sprintf("node '%s' cannot read all nodes, only its own Node object", r.node)
	case r.Name != r.node:
		return false, fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", r.node, r.Name)
	}
	return true, ""
}

// pod decides about Pods. NodeRestriction limits the writes.
func (r *nodeRequest) pod() (bool, string) {
	switch r.Subresource + " " + r.Verb {
	case " create", " delete", "status update", "status patch", "eviction create":
		return true, ""
	case " get":
		return r.get(podsKey)
	case " list", " watch":
		switch {
		case r.selectsNode():
			return true, ""
		case r.Name != "":
			return r.related(podsKey)
		}
		return false, "can only list/watch pods with spec.nodeName field selector"
	}
	return false, ""
}

// selectsNode reports whether the field selector of the request selects objects of the node only.
func (r *nodeRequest) selectsNode() bool {
	fields, err := selector.ParseFields(r.FieldSelector)
	value, ok := fields.RequiresExact("spec.nodeName")
	return err == nil && ok && value == r.node
}

// related allows the request if its object is related to the node.
func (r *nodeRequest) related(storage string) (bool, string) {
	switch {
	case r.Name == "":
		return false, "No Object name found"
	case !r.reaches(reference{storage, r.Namespace, r.Name}):
		return false, fmt.Sprintf("no relationship found between node '%s' and this object", r.node)
	}
	return true, ""
}

// reaches reports whether an object belongs to the node, or a pod of the node refers to it.
func (r *nodeRequest) reaches(target reference) bool {
	if r.objects == nil || r.auth.options.Host == nil {
		return false
	}
	switch target.storage {
	case secretsKey:
		return r.runs(func(pod *resource.Item) bool {
			refs := resource.Derived(pod, podReferences)
			return slices.Contains(refs, target) || slices.ContainsFunc(refs, func(ref reference) bool { return r.mounts(ref, target) })
		})
	case configsKey, claimsKey, accountsKey, devicesKey:
		return r.runs(func(pod *resource.Item) bool { return slices.Contains(resource.Derived(pod, podReferences), target) })
	case volumesKey:
		volume := r.objects.Item(volumesKey, "", target.name)
		return volume != nil && r.reaches(resource.Derived(volume, volumeReferencesOf).claim)
	}
	it := r.objects.Item(target.storage, target.namespace, target.name)
	return it != nil && resource.Derived(it, nodeOf) == assigned(r.node)
}

// runs reports whether match returns true for a pod of the node.
func (r *nodeRequest) runs(match func(pod *resource.Item) bool) (found bool) {
	r.auth.options.Host.Indexed(podsKey, r.node, func(pod *resource.Item) bool {
		found = match(pod)
		return !found
	})
	return found
}

// mounts reports whether ref is a claim whose volume refers to target.
func (r *nodeRequest) mounts(ref, target reference) bool {
	if ref.storage != claimsKey {
		return false
	}
	claim := r.objects.Item(claimsKey, ref.namespace, ref.name)
	if claim == nil {
		return false
	}
	volume := r.objects.Item(volumesKey, "", string(resource.Derived(claim, volumeOf)))
	if volume == nil {
		return false
	}
	of := resource.Derived(volume, volumeReferencesOf)
	return of.claim == ref && slices.Contains(of.secrets, target)
}
