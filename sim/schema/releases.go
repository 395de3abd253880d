package schema

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Default is the minor version of an API server if no version is specified. The recordings are from this version, and a web
// page initially contains only its data. data_default.go embeds its files.
const Default = "1.36"

// DefaultVersion is the patch release of Default.
const DefaultVersion = "v1.36.3"

// Release describes a Kubernetes minor version. It does not include the schema data, or rules that call Context.Since.
type Release struct {
	// Minor is the minor version, such as "1.36".
	Minor string
	// Version is the release in the response to /version: "v1.36.3".
	Version string
	// Stored maps a kind to the version in which it is stored, if that is not the served version: a server stores a version
	// that servers of the previous minor version can read. The Events of both groups are one resource. The storage version
	// hashes in discovery depend on it.
	Stored map[GVK]GVK
	// Unserved lists, by group version, the kinds that a server can decode but does not serve by default.
	Unserved map[string]string
	// PlainElements reports whether the published OpenAPI has no defaults for the elements of lists and maps.
	PlainElements bool
	// CELGo is the version of cel-go that evaluates expressions: 26 is v0.26.
	CELGo int
}

// Releases lists all minor versions for which data exists, oldest first, whether or not the data is built into this program.
var Releases = []Release{
	{Minor: "1.34", Version: "v1.34.4", Stored: storedElsewhere, Unserved: unserved, CELGo: 26},
	{Minor: "1.35", Version: "v1.35.4", Stored: storedElsewhere, Unserved: unserved, CELGo: 26},
	{Minor: Default, Version: DefaultVersion, Stored: with(storedElsewhere,
		stored("admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding"),
		map[GVK]GVK{{"resource.k8s.io", "v1beta2", "DeviceTaintRule"}: {"resource.k8s.io", "v1alpha3", "DeviceTaintRule"}}),
		Unserved: unserved, CELGo: 26},
	{Minor: "1.37", Version: "v1.37.2", Stored: with(storedElsewhere,
		stored("certificates.k8s.io/v1beta1", "ClusterTrustBundle PodCertificateRequest"),
		stored("resource.k8s.io/v1beta2", "DeviceTaintRule"),
		stored("storagemigration.k8s.io/v1beta1", "StorageVersionMigration")),
		Unserved: unserved37, PlainElements: true, CELGo: 29},
}

// Known returns the minor versions in Releases. Load accepts a minor version if its data is embedded in the program or has been
// registered. All are embedded, except with GOOS=js.
func Known() []string {
	var minors []string
	for _, r := range Releases {
		minors = append(minors, r.Minor)
	}
	return minors
}

// ReleaseOf returns the Release for a minor version ("1.36") or for a patch release of it ("v1.36.2"). If there is none, it returns
// false.
func ReleaseOf(version string) (Release, bool) {
	version = strings.TrimPrefix(version, "v")
	i := slices.IndexFunc(Releases, func(r Release) bool { return version == r.Minor || strings.HasPrefix(version, r.Minor+".") })
	if i < 0 {
		return Release{}, false
	}
	return Releases[i], true
}

// CanRead reports whether servers of the release can decode a kind that they do not serve. If a request body contains such a
// kind, the error says that its version is unexpected, not that the kind is unknown.
func (r Release) CanRead(gvk GVK) bool {
	return slices.Contains(strings.Fields(r.Unserved[gvk.GV()]), strings.TrimSuffix(gvk.Kind, "List"))
}

// storedElsewhere contains those entries of Stored that all minor versions share.
var storedElsewhere = map[GVK]GVK{
	{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"}: {"apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition"},
	{"autoscaling", "v1", "HorizontalPodAutoscaler"}:           {"autoscaling", "v2", "HorizontalPodAutoscaler"},
	{"events.k8s.io", "v1", "Event"}:                           {"", "v1", "Event"},
}

// stored returns entries of Stored for kinds that are served as v1. gv is the group version in which they are stored.
func stored(gv, kinds string) map[GVK]GVK {
	group, version, _ := strings.Cut(gv, "/")
	out := map[GVK]GVK{}
	for kind := range strings.FieldsSeq(kinds) {
		out[GVK{group, "v1", kind}] = GVK{group, version, kind}
	}
	return out
}

// with returns a copy of a map with additional or replaced entries.
func with[K comparable, V any](some map[K]V, more ...map[K]V) map[K]V {
	out := maps.Clone(some)
	for _, m := range more {
		maps.Copy(out, m)
	}
	return out
}

// unserved lists the kinds that servers of 1.36 can decode but do not serve.
var unserved = map[string]string{
	"admissionregistration.k8s.io/v1alpha1": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
	"admissionregistration.k8s.io/v1beta1":  "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
	"apiextensions.k8s.io/v1beta1":          "CustomResourceDefinition",
	"apiregistration.k8s.io/v1beta1":        "APIService",
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

// unserved37 lists the kinds that servers of 1.37 can decode but do not serve.
var unserved37 = with(unserved, map[string]string{
	"lifecycle.k8s.io/v1alpha1":  "Eviction EvictionRequest",
	"scheduling.k8s.io/v1alpha2": "",
	"scheduling.k8s.io/v1alpha3": "CompositePodGroup PodGroup Workload",
	"scheduling.k8s.io/v1beta1":  "PodGroup PriorityClass Workload",
})

// CompareVersions compares versions of a group by stability and numbers: v2 > v1 > v2beta1 > v1beta2 > v1alpha1 > others,
// sorted by name (Kubernetes documentation, "Versions in CustomResourceDefinitions").
func CompareVersions(a, b string) int {
	x, y := rank(a), rank(b)
	return cmp.Or(slices.Compare(x[:], y[:]), strings.Compare(b, a))
}

// rank returns the stability, major and minor number of a version; greater values are preferred. For a name in another
// format, it returns zeros.
func rank(name string) [3]int {
	rest, isVersion := strings.CutPrefix(name, "v")
	stability, major, minor := 3, rest, "0"
	for i, word := range []string{"alpha", "beta"} {
		if before, after, found := strings.Cut(rest, word); found {
			stability, major, minor = i+1, before, after
		}
	}
	n, isMajor := digits(major)
	m, isMinor := digits(minor)
	if !isVersion || !isMajor || !isMinor {
		return [3]int{}
	}
	return [3]int{stability, n, m}
}

// digits parses a number without a sign.
func digits(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && s[0] >= '0'
}
