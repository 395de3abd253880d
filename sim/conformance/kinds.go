package conformance

import (
	"slices"
	"strings"
)

// withDefaults are the built-in resources whose Go types have default values of their own (semantics of v1.36,
// built-in types), with their kinds. ConfigMaps, Namespaces, Leases, ServiceAccounts, Roles, quotas and custom
// resources have none: they show what is common to all kinds.
var withDefaults = map[string]string{
	"apiservices":                       "APIService",
	"clusterrolebindings":               "ClusterRoleBinding",
	"cronjobs":                          "CronJob",
	"csidrivers":                        "CSIDriver",
	"customresourcedefinitions":         "CustomResourceDefinition",
	"daemonsets":                        "DaemonSet",
	"deployments":                       "Deployment",
	"endpoints":                         "Endpoints",
	"endpointslices":                    "EndpointSlice",
	"flowschemas":                       "FlowSchema",
	"horizontalpodautoscalers":          "HorizontalPodAutoscaler",
	"ingressclasses":                    "IngressClass",
	"jobs":                              "Job",
	"limitranges":                       "LimitRange",
	"mutatingadmissionpolicies":         "MutatingAdmissionPolicy",
	"mutatingadmissionpolicybindings":   "MutatingAdmissionPolicyBinding",
	"mutatingwebhookconfigurations":     "MutatingWebhookConfiguration",
	"networkpolicies":                   "NetworkPolicy",
	"nodes":                             "Node",
	"persistentvolumeclaims":            "PersistentVolumeClaim",
	"persistentvolumes":                 "PersistentVolume",
	"pods":                              "Pod",
	"podtemplates":                      "PodTemplate",
	"priorityclasses":                   "PriorityClass",
	"prioritylevelconfigurations":       "PriorityLevelConfiguration",
	"replicasets":                       "ReplicaSet",
	"replicationcontrollers":            "ReplicationController",
	"resourceclaims":                    "ResourceClaim",
	"resourceclaimtemplates":            "ResourceClaimTemplate",
	"rolebindings":                      "RoleBinding",
	"secrets":                           "Secret",
	"services":                          "Service",
	"statefulsets":                      "StatefulSet",
	"storageclasses":                    "StorageClass",
	"validatingadmissionpolicies":       "ValidatingAdmissionPolicy",
	"validatingadmissionpolicybindings": "ValidatingAdmissionPolicyBinding",
	"validatingwebhookconfigurations":   "ValidatingWebhookConfiguration",
	"volumeattributesclasses":           "VolumeAttributesClass",
}

var kindsWithDefaults = func() map[string]bool {
	kinds := map[string]bool{}
	for _, k := range withDefaults { // order does not matter: a set
		kinds[k], kinds[k+"List"] = true, true
	}
	return kinds
}()

// concernsDefaults reports whether a step is about a built-in kind with defaults of its own: its path names the
// resource, or an object in the recorded answer is of the kind.
//
// That a custom resource is defined in the same step does not make the custom resource one.
func concernsDefaults(r StepResult) bool {
	path, _, _ := strings.Cut(r.Target, "?")
	if slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return withDefaults[s] != "" }) {
		return true
	}
	answer, ok := r.Want.(*Object)
	return ok && holdsKind(answer.Get("body"))
}

// holdsKind looks at the kind of an answer, of its items and of its events.
func holdsKind(v any) bool {
	o, ok := v.(*Object)
	if !ok {
		return false
	}
	if kind, _ := o.Get("kind").(string); kindsWithDefaults[kind] {
		return true
	}
	for _, list := range []string{"items", "events"} {
		items, ok := o.Get(list).(*List)
		if ok && slices.ContainsFunc(items.Items, holdsKind) {
			return true
		}
	}
	return holdsKind(o.Get("object"))
}
