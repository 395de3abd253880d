package builtin

import "github.com/kubesim/kubesim/sim/resource"

// updateLooks is where the validation of an update of a kind looks at metadata in another order than most, or not at
// all, by storage name and, after a slash, subresource. Kinds that are validated as a new object first begin with n.
var updateLooks = map[string]resource.Looks{
	"configmaps":                         "uvnk",
	"endpoints":                          "unk",
	"events":                             "k",
	"limitranges":                        "nk",
	"namespaces":                         "nuk",
	"nodes":                              "nuk",
	"persistentvolumeclaims":             "unk",
	"persistentvolumes":                  "nvnk",
	"pods":                               "unk",
	"pods/ephemeralcontainers":           "unk",
	"pods/resize":                        "unk",
	"poddisruptionbudgets.policy":        "k",
	"poddisruptionbudgets.policy/status": "k",
	"secrets":                            "uvnk",
	"serviceaccounts":                    "unk",

	"mutatingadmissionpolicies.admissionregistration.k8s.io":         "nk",
	"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   "nk",
	"mutatingwebhookconfigurations.admissionregistration.k8s.io":     "nk",
	"validatingadmissionpolicies.admissionregistration.k8s.io":       "nk",
	"validatingadmissionpolicybindings.admissionregistration.k8s.io": "nk",
	"validatingwebhookconfigurations.admissionregistration.k8s.io":   "nk",
	"apiservices.apiregistration.k8s.io":                             "unk",

	"controllerrevisions.apps":                                 "unk",
	"cronjobs.batch/status":                                    "k",
	"jobs.batch":                                               "nvuk",
	"certificatesigningrequests.certificates.k8s.io":           "nuk",
	"certificatesigningrequests.certificates.k8s.io/approval":  "nuk",
	"certificatesigningrequests.certificates.k8s.io/status":    "nuk",
	"endpointslices.discovery.k8s.io":                          "nk",
	"flowschemas.flowcontrol.apiserver.k8s.io":                 "nk",
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": "nk",
	"ingressclasses.networking.k8s.io":                         "ukn",
	"ingresses.networking.k8s.io":                              "unk",
	"ipaddresses.networking.k8s.io":                            "nuk",
	"runtimeclasses.node.k8s.io":                               "nuk",
	"clusterrolebindings.rbac.authorization.k8s.io":            "nuk",
	"clusterroles.rbac.authorization.k8s.io":                   "nku",
	"rolebindings.rbac.authorization.k8s.io":                   "nuk",
	"roles.rbac.authorization.k8s.io":                          "nku",
	"deviceclasses.resource.k8s.io":                            "nuk",
	"resourceclaims.resource.k8s.io":                           "nuk",
	"resourceclaimtemplates.resource.k8s.io":                   "nuk",
	"csinodes.storage.k8s.io":                                  "nk",
	"csistoragecapacities.storage.k8s.io":                      "nuk",
	"storageclasses.storage.k8s.io":                            "nuk",
	"volumeattachments.storage.k8s.io":                         "nk",
	"volumeattachments.storage.k8s.io/status":                  "nk",
	"volumeattributesclasses.storage.k8s.io":                   "ukn",
}

// looks returns Strategy.Looks of a kind, nil for most.
func looks(storage string) func(*resource.Context, bool) resource.Looks {
	main, ok := updateLooks[storage]
	if !ok {
		main = resource.LooksUpdate
	}
	return func(ctx *resource.Context, update bool) resource.Looks {
		switch sub, known := updateLooks[storage+"/"+ctx.Subresource]; {
		case ctx.Definition.Group == eventsGroup && update: // which is stricter than the group that events are stored in
			return "vuk"
		case ctx.Definition.Group == eventsGroup:
			return "vnk"
		case !update && main == "k":
			return main
		case !update:
			return resource.LooksNew
		case known:
			return sub
		case ctx.Subresource != "":
			return resource.LooksUpdate
		}
		return main
	}
}
