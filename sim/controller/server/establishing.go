package server

import (
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	establishing = "EstablishingController"
	approval     = "KubernetesAPIApprovalPolicyConformantConditionController"
)

// Establishing sets the condition Established of definitions whose names are accepted (apiextensions-apiserver,
// pkg/controller/establish).
func Establishing() controller.Controller {
	return Own(establishing, conditioned(crd.Establish), definitions)
}

// Approval sets the condition KubernetesAPIApprovalPolicyConformant of definitions in a group of the Kubernetes community
// (apiextensions-apiserver, pkg/controller/apiapproval).
func Approval() controller.Controller { return Own(approval, conditioned(crd.Approval), definitions) }

// conditioned returns a reconciler that writes a definition if set changes it.
func conditioned(set func(object.Object, time.Time) bool) controller.Func {
	return func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
		edit(api, key.Name, func(obj object.Object) bool { return set(obj, api.Now()) })
		return 0, nil
	}
}

// unsettled reports whether one of the conditions of a definition is about to change.
func unsettled(api *controller.Client, obj object.Object) bool {
	obj = obj.Copy()
	return crd.Names(obj, inGroup(api, groupOf(obj.Name())), api.Now()) || crd.Establish(obj, api.Now()) || crd.Approval(obj, api.Now())
}
