//go:build !page

package admission

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

func (r *nodeWrite) pod() *status.Status {
	switch r.Subresource {
	case "":
	case "status":
		return r.podStatus()
	case "eviction":
		return r.eviction()
	default:
		return r.refuse("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", r.Subresource)
	}
	switch r.Operation {
	case Create:
		return r.newPod()
	case Delete:
		pod := r.Objects.Get(pods, r.Namespace, r.Name)
		switch {
		case pod == nil:
			return missing("", "pod", r.Name)
		case pod.String("spec", "nodeName") != r.node:
			return r.refuse("node %q can only delete pods with spec.nodeName set to itself", r.node)
		}
		return nil
	}
	return r.refuse("unexpected operation %q, node %q can only create and delete mirror pods", r.Operation, r.node)
}

// newPod allows a node to create mirror pods for itself.
func (r *nodeWrite) newPod() *status.Status {
	pod := r.Object
	owners := pod.Objects("metadata", "ownerReferences")
	if _, mirror := pod.Annotations()[mirrorPod]; !mirror {
		return r.refuse("pod does not have %q annotation, node %q can only create mirror pods", mirrorPod, r.node)
	}
	switch {
	case pod.String("spec", "nodeName") != r.node:
		return r.refuse("node %q can only create pods with spec.nodeName set to itself", r.node)
	case len(owners) > 1:
		return r.refuse("node %q can only create pods with a single owner reference set to itself", r.node)
	case len(owners) == 0 || owners[0].APIVersion() != "v1" || owners[0].Kind() != "Node" || owners[0].String("name") != r.node:
		return r.refuse("node %q can only create pods with an owner reference set to itself", r.node)
	case !owners[0].True("controller"):
		return r.refuse("node %q can only create pods with a controller owner reference set to itself", r.node)
	case owners[0].True("blockOwnerDeletion"):
		return r.refuse("node %q must not set blockOwnerDeletion on an owner reference", r.node)
	}
	node := r.Objects.Get(nodes, "", r.node)
	if node == nil {
		return missing("", "node", r.node)
	}
	if uid := owners[0].String("uid"); uid != node.UID() {
		return r.refuse("node %s UID mismatch: expected %s got %s", r.node, uid, node.UID())
	}
	if what := referenced(pod.At("spec")); what != "" {
		return r.refuse("node %q can not create pods that reference %s", r.node, what)
	}
	return nil
}

// podSecrets, podConfigs and podVolumes are the fields of pods that refer to other objects, with the names of these objects in errors.
var (
	podSecrets = []string{"azureFile.secretName", "cephfs.secretRef.name", "cinder.secretRef.name", "flexVolume.secretRef.name", "rbd.secretRef.name",
		"secret.secretName", "scaleIO.secretRef.name", "iscsi.secretRef.name", "storageos.secretRef.name", "csi.nodePublishSecretRef.name"}
	podVolumes = [][2]string{{"configMap", "configmaps (via configmap volumes)"}, {"secret", "secrets (via secret volumes)"},
		{"csi", "csidrivers (via CSI volumes)"}, {"glusterfs", "endpoints (via glusterFS volumes)"}, {"persistentVolumeClaim", "persistentvolumeclaims"},
		{"ephemeral", "persistentvolumeclaims (via ephemeral volumes)"}, {"azureFile", "secrets (via azureFile volumes)"}}
	podProjected = [][2]string{{"configMap", "configmaps (via projected volumes)"}, {"secret", "secrets (via projected volumes)"},
		{"serviceAccountToken", "serviceaccounts (via projected volumes)"}, {"clusterTrustBundle", "clustertrustbundles"}, {"podCertificate", "podcertificates"}}
)

// referenced returns the first kind of API objects to which the spec of a pod refers, or "" (pkg/api/pod, HasAPIObjectReference).
func referenced(spec object.Object) string {
	switch {
	case spec.String("serviceAccountName") != "":
		return "serviceaccounts"
	case len(spec.List("imagePullSecrets")) > 0 || inEnvironment(spec, "secretRef", "secretKeyRef") || inVolumes(spec, podSecrets, "secret"):
		return "secrets"
	case inEnvironment(spec, "configMapRef", "configMapKeyRef") || inVolumes(spec, []string{"configMap.name"}, "configMap"):
		return "configmaps"
	case len(spec.List("resourceClaims")) > 0:
		return "resourceclaims"
	}
	for _, v := range spec.Objects("volumes") {
		for _, source := range podVolumes {
			if v.Map(source[0]) != nil {
				return source[1]
			}
		}
		for _, part := range v.Objects("projected", "sources") {
			for _, source := range podProjected {
				if part.Map(source[0]) != nil {
					return source[1]
				}
			}
		}
	}
	return ""
}

// inEnvironment reports whether an environment of a container refers to an object by one of the two fields.
func inEnvironment(spec object.Object, from, key string) bool {
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range spec.Objects(list) {
			if slices.ContainsFunc(c.Objects("envFrom"), func(e object.Object) bool { return e.String(from, "name") != "" }) ||
				slices.ContainsFunc(c.Objects("env"), func(e object.Object) bool { return e.String("valueFrom", key, "name") != "" }) {
				return true
			}
		}
	}
	return false
}

// inVolumes reports whether a volume refers to an object by one of the fields, or by a projected source.
func inVolumes(spec object.Object, fields []string, projected string) bool {
	for _, v := range spec.Objects("volumes") {
		if slices.ContainsFunc(fields, func(path string) bool { return v.String(object.Path(path)...) != "" }) ||
			slices.ContainsFunc(v.Objects("projected", "sources"), func(s object.Object) bool { return s.String(projected, "name") != "" }) {
			return true
		}
	}
	return false
}

func (r *nodeWrite) podStatus() *status.Status {
	same := func(path ...string) bool {
		a, _ := r.Old.Get(path...)
		b, _ := r.Object.Get(path...)
		return object.SemanticEqual(a, b)
	}
	switch {
	case r.Operation != Update:
		return r.refuse("unexpected operation %q", r.Operation)
	case r.Old.String("spec", "nodeName") != r.node:
		return r.refuse("node %q can only update pod status for pods with spec.nodeName set to itself", r.node)
	case !same("metadata", "labels"):
		return r.refuse("node %q cannot update labels through pod status", r.node)
	case !same("status", "resourceClaimStatuses"):
		return r.refuse("node %q cannot update resource claim statues", r.node)
	case !same("status", "extendedResourceClaimStatus"):
		return r.refuse("node %q cannot update extended resource claim status", r.node)
	case r.Server.Since(37) && !same("status", "nodeAllocatableResourceClaimStatuses"):
		return r.refuse("node %q cannot update node allocatable resource claim statuses", r.node)
	}
	return nil
}

func (r *nodeWrite) eviction() *status.Status {
	if r.Operation != Create {
		return r.refuse("unexpected operation %s", r.Operation)
	}
	pod := r.Objects.Get(pods, r.Namespace, r.named())
	switch {
	case pod == nil:
		return missing("", "pod", r.named())
	case pod.String("spec", "nodeName") != r.node:
		return r.refuse("node %s can only evict pods with spec.nodeName set to itself", r.node)
	}
	return nil
}

func (r *nodeWrite) claim() *status.Status {
	if r.Subresource != "status" {
		return r.refuse("may only update PVC status")
	}
	if r.Operation != Update {
		return r.refuse("unexpected operation %q", r.Operation)
	}
	before, now := r.Old.Copy(), r.Object.Copy()
	for _, o := range []object.Object{before, now} {
		for _, name := range []string{"resourceVersion", "managedFields"} {
			o.Remove("metadata", name)
		}
		for _, name := range []string{"capacity", "conditions", "allocatedResources", "allocatedResourceStatuses"} {
			o.Remove("status", name)
		}
	}
	if !gotext.Same(gotext.PersistentVolumeClaim, before, now) {
		return r.refuse("node %q is not allowed to update fields other than status.quantity and status.conditions: %s", r.node,
			gotext.Diff(gotext.PersistentVolumeClaim, before, now))
	}
	return nil
}
