//go:build !page

package admission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// podCertificate rejects a PodCertificateRequest unless it is for a pod that runs on the node, and agrees with that pod and its
// service account.
func (r *nodeWrite) podCertificate() *status.Status {
	spec := r.Object.At("spec")
	name, node := r.Namespace+"/"+spec.String("podName"), r.Objects.Get(nodes, "", r.node)
	pod := r.Objects.Get(pods, r.Namespace, spec.String("podName"))
	account := r.Objects.Get(serviceAccounts, r.Namespace, spec.String("serviceAccountName"))
	retry := func(format string, args ...any) *status.Status { return status.Plain(format, args...) }
	switch {
	case !r.Enabled("PodCertificateRequest"):
		return r.refuse("PodCertificateRequest feature gate is disabled")
	case r.Operation != Create:
		return r.refuse("unexpected operation %v", r.Operation)
	case r.Subresource != "":
		return r.refuse("unexpected subresource %v", r.Subresource)
	case spec.String("nodeName") != r.node:
		return r.refuse("PodCertificateRequest.Spec.NodeName=%q, which is not the requesting node %q", spec.String("nodeName"), r.node)
	case node == nil:
		return retry("while retrieving node %q named in the PodCertificateRequest: %s", r.node, missing("", "node", r.node).Message)
	case node.UID() != spec.String("nodeUID"):
		return retry("PodCertificateRequest for pod %q names node UID %q, inconsistent with the running node (%q)", name, spec.String("nodeUID"), node.UID())
	case pod == nil:
		return retry("while retrieving pod %q named in the PodCertificateRequest: %s", name, missing("", "pod", spec.String("podName")).Message)
	case pod.UID() != spec.String("podUID"):
		return retry("PodCertificateRequest for pod %q contains pod UID (%q) which differs from running pod %q", name, spec.String("podUID"), pod.UID())
	case pod.String("spec", "nodeName") != r.node:
		return r.refuse("pod %q is not running on node %q named in the PodCertificateRequest", name, r.node)
	case pod.Annotations()[mirrorPod] != "":
		return r.refuse("pod %q is a mirror pod", name)
	case pod.String("spec", "serviceAccountName") != spec.String("serviceAccountName"):
		return r.refuse("PodCertificateRequest for pod %q contains serviceAccountName (%q) that differs from running pod (%q)", name,
			spec.String("serviceAccountName"), pod.String("spec", "serviceAccountName"))
	case account == nil:
		return retry("while retrieving service account %q named in the PodCertificateRequest: %s", r.Namespace+"/"+spec.String("serviceAccountName"),
			missing("", "serviceaccount", spec.String("serviceAccountName")).Message)
	case account.UID() != spec.String("serviceAccountUID"):
		return retry("PodCertificateRequest for pod %q names service account UID %q, which differs from the running service account (%q)", name,
			spec.String("serviceAccountUID"), account.UID())
	}
	return r.signer(pod, spec)
}

// signer checks that the pod of a PodCertificateRequest uses its signer, which servers before 1.37 do not require.
func (r *nodeWrite) signer(pod, spec object.Object) *status.Status {
	if !r.Server.Since(37) {
		return nil
	}
	name := spec.String("signerName")
	for _, v := range pod.Objects("spec", "volumes") {
		if slices.ContainsFunc(v.Objects("projected", "sources"), func(s object.Object) bool { return s.String("podCertificate", "signerName") == name }) {
			return nil
		}
	}
	access := expr.Access{Verb: "request-serviceaccounts-podcertificate-signer", Group: r.Definition.Group, Resource: strings.ReplaceAll(name, "/", ":"),
		Namespace: r.Namespace, Name: spec.String("serviceAccountName")}
	if r.may(access) {
		return nil
	}
	return r.refuse("pod %q does not mount a podCertificate projected volume for signer %q", r.Namespace+"/"+pod.Name(), name)
}

// token rejects a request for the token of a service account unless the token is bound to a pod on the node, by name and UID, and
// the node may request its audience.
func (r *nodeWrite) token() *status.Status {
	if r.Operation != Create || r.Subresource != "token" {
		return nil
	}
	ref := r.Object.At("spec", "boundObjectRef")
	uid := ref.String("uid")
	if ref.String("apiVersion") != "v1" || ref.String("kind") != "Pod" || ref.String("name") == "" {
		return r.refuse("node requested token not bound to a pod")
	}
	if uid == "" {
		return r.refuse("node requested token with a pod binding without a uid")
	}
	pod := r.Objects.Get(pods, r.Namespace, ref.String("name"))
	switch {
	case pod == nil:
		return missing("", "pod", ref.String("name"))
	case pod.UID() != uid:
		return r.refuse("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", uid)
	case pod.String("spec", "nodeName") != r.node:
		return r.refuse("node requested token bound to a pod scheduled on a different node")
	}
	return r.audience(pod)
}

// audience checks that the pod needs a token for the requested audience, or that the node may request any.
func (r *nodeWrite) audience(pod object.Object) *status.Status {
	audiences := append(r.Object.Strings("spec", "audiences"), "")
	if len(audiences) > 2 {
		return r.refuse("node may only request 0 or 1 audiences")
	}
	wanted := audiences[0]
	found, problems := r.uses(pod, wanted)
	switch {
	case found:
		return nil
	case len(problems) > 0:
		return r.refuse("error validating audience %q: %s", wanted, field.Aggregate(problems))
	case r.may(expr.Access{Verb: "request-serviceaccounts-token-audience", Resource: wanted, Namespace: r.Namespace, Name: r.Name}):
		return nil
	case r.Server.Since(37):
		return r.refuse("%s is not authorized to request tokens for audience %q", r.User.Name, wanted)
	}
	return r.refuse("audience %q not found in pod spec volume, %s is not authorized to request tokens for this audience", wanted, r.User.Name)
}

// migrated are the CSI drivers that mount the volumes of built-in drivers (k8s.io/csi-translation-lib).
var migrated = map[string]string{"awsElasticBlockStore": "ebs.csi.aws.com", "azureDisk": "disk.csi.azure.com", "azureFile": "file.csi.azure.com",
	"cinder": "cinder.csi.openstack.org", "gcePersistentDisk": "pd.csi.storage.gke.io", "portworxVolume": "pxd.portworx.com",
	"vsphereVolume": "csi.vsphere.vmware.com"}

// uses reports whether a volume of a pod uses tokens for an audience. problems contains the errors of volumes that cannot be resolved.
func (r *nodeWrite) uses(pod object.Object, audience string) (found bool, problems []string) {
	for _, v := range pod.Objects("spec", "volumes") {
		if slices.ContainsFunc(v.Objects("projected", "sources"), func(s object.Object) bool {
			return s.Map("serviceAccountToken") != nil && s.String("serviceAccountToken", "audience") == audience
		}) {
			return true, nil
		}
		driver, problem := r.driver(pod, v)
		if problem == nil && driver != "" {
			config := r.Objects.Get("csidrivers.storage.k8s.io", "", driver)
			if slices.ContainsFunc(config.Objects("spec", "tokenRequests"), func(q object.Object) bool { return q.String("audience") == audience }) {
				return true, nil
			}
			if config == nil {
				problem = missing("storage.k8s.io", "csidriver", driver)
			}
		}
		if problem != nil {
			problems = append(problems, problem.Message)
		}
	}
	return false, problems
}

// driver returns the CSI driver that mounts a volume of a pod, or "" if no CSI driver mounts it. It returns an error if the claim
// or the volume does not exist.
func (r *nodeWrite) driver(pod, v object.Object) (string, *status.Status) {
	name := v.String("persistentVolumeClaim", "claimName")
	if v.Map("ephemeral") != nil {
		name = fmt.Sprintf("%s-%s", pod.Name(), v.String("name"))
	}
	if name == "" {
		return driverOf(v), nil
	}
	claim := r.Objects.Get(claims, pod.Namespace(), name)
	if claim == nil {
		return "", missing("", "persistentvolumeclaim", name)
	}
	name = claim.String("spec", "volumeName")
	volume := r.Objects.Get(volumes, "", name)
	if volume == nil {
		return "", missing("", "persistentvolume", name)
	}
	return driverOf(volume.At("spec")), nil
}

// driverOf returns the CSI driver of a volume source, or "" if no CSI driver mounts it.
func driverOf(source object.Object) string {
	for _, name := range object.SortedKeys(migrated) {
		if source.Map(name) != nil {
			return migrated[name]
		}
	}
	return source.String("csi", "driver")
}
