package builtin

import "github.com/kubesim/kubesim/sim/resource"

var (
	resetSpec    = resource.Reset{Fields: []string{"spec"}}
	resetStatus  = resource.Reset{Fields: []string{"status"}}
	resetAllElse = resource.Reset{Fields: []string{"metadata", "spec"}} // all but status
)

// resets are the fields that writes put back, and so cannot own in managedFields (KEP-555, "Resetting fields"), by
// storage name and subresource, "" for the main resource. Where nothing is said the rule of Strategy.HasStatus holds.
// pods/resize and pods/ephemeralcontainers own what they are sent, metadata too, though they put that back: so the
// recorded server does.
var resets = map[string]map[string]resource.Reset{
	"certificatesigningrequests.certificates.k8s.io": {
		"":         {Fields: []string{"spec", "status"}},
		"approval": {Fields: []string{"spec", "status.certificate"}},
		"status":   {Fields: []string{"spec", "status.conditions"}},
	},
	"deployments.apps": {"status": {Fields: []string{"spec", "metadata.labels"}}},
	"namespaces":       {"": resetStatus, "finalize": resetStatus, "status": resetSpec},
	"nodes":            {"": resetStatus, "status": resetSpec},
	"pods": {
		"status": {Fields: []string{"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"}},
	},

	"flowschemas.flowcontrol.apiserver.k8s.io":                 {"status": resetAllElse},
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {"status": resetAllElse},
	"resourceclaims.resource.k8s.io":                           {"status": resetAllElse},
	"servicecidrs.networking.k8s.io":                           {"status": resetAllElse},
	"validatingadmissionpolicies.admissionregistration.k8s.io": {"status": resetAllElse},
	"volumeattachments.storage.k8s.io":                         {"status": resetAllElse},
}

// Reset returns the fields that a write of a resource's subresource cannot own. ok is false where the rule of
// Strategy.HasStatus holds.
func Reset(d *resource.Definition, subresource string) (r resource.Reset, ok bool) {
	r, ok = resets[d.Storage][subresource]
	return r, ok && !d.Custom
}
