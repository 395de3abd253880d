package codec

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
)

// unservedKinds are the kinds of versions that a v1.36 API server can read without serving them by default. A body of
// such a kind is told that its version is not the expected one, instead of that the kind is unknown.
var unservedKinds = map[string]string{
	"admissionregistration.k8s.io/v1alpha1": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
	"admissionregistration.k8s.io/v1beta1":  "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
	"apps/v1beta1":                          "ControllerRevision Deployment DeploymentRollback Scale StatefulSet",
	"apps/v1beta2":                          "ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet",
	"authentication.k8s.io/v1alpha1":        "SelfSubjectReview",
	"authentication.k8s.io/v1beta1":         "SelfSubjectReview TokenReview",
	"authorization.k8s.io/v1beta1":          "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
	"batch/v1beta1":                         "CronJob",
	"certificates.k8s.io/v1alpha1":          "ClusterTrustBundle",
	"certificates.k8s.io/v1beta1":           "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
	"coordination.k8s.io/v1alpha2":          "LeaseCandidate",
	"coordination.k8s.io/v1beta1":           "Lease LeaseCandidate",
	"discovery.k8s.io/v1beta1":              "EndpointSlice",
	"events.k8s.io/v1beta1":                 "Event",
	"extensions/v1beta1":                    "DaemonSet Deployment DeploymentRollback Ingress NetworkPolicy ReplicaSet Scale",
	"flowcontrol.apiserver.k8s.io/v1beta1":  "FlowSchema PriorityLevelConfiguration",
	"flowcontrol.apiserver.k8s.io/v1beta2":  "FlowSchema PriorityLevelConfiguration",
	"flowcontrol.apiserver.k8s.io/v1beta3":  "FlowSchema PriorityLevelConfiguration",
	"imagepolicy.k8s.io/v1alpha1":           "ImageReview",
	"internal.apiserver.k8s.io/v1alpha1":    "StorageVersion",
	"networking.k8s.io/v1beta1":             "IPAddress Ingress IngressClass ServiceCIDR",
	"node.k8s.io/v1alpha1":                  "RuntimeClass",
	"node.k8s.io/v1beta1":                   "RuntimeClass",
	"policy/v1beta1":                        "Eviction PodDisruptionBudget",
	"rbac.authorization.k8s.io/v1alpha1":    "ClusterRole ClusterRoleBinding Role RoleBinding",
	"rbac.authorization.k8s.io/v1beta1":     "ClusterRole ClusterRoleBinding Role RoleBinding",
	"resource.k8s.io/v1alpha3":              "DeviceTaintRule ResourcePoolStatusRequest",
	"resource.k8s.io/v1beta1":               "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
	"resource.k8s.io/v1beta2":               "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice",
	"scheduling.k8s.io/v1alpha2":            "PodGroup Workload",
	"scheduling.k8s.io/v1beta1":             "PriorityClass",
	"storage.k8s.io/v1alpha1":               "CSIStorageCapacity VolumeAttachment VolumeAttributesClass",
	"storage.k8s.io/v1beta1":                "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
	"storagemigration.k8s.io/v1beta1":       "StorageVersionMigration",
}

// unserved reports whether the server can read a kind that it does not serve.
func unserved(gvk schema.GVK) bool {
	return slices.Contains(strings.Fields(unservedKinds[gvk.GV()]), strings.TrimSuffix(gvk.Kind, "List"))
}

// internal returns the Go type into which the server converts every version of a kind ("apps.Deployment"). Kinds that
// moved from one group to another are one type.
func internal(gvk schema.GVK) string {
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
