package admission

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/status"
)

// protections are the finalizers that prevent the removal of storage objects in use, by storage name.
var protections = map[string]string{
	claims:          "kubernetes.io/pvc-protection",
	volumes:         "kubernetes.io/pv-protection",
	attributesClass: "kubernetes.io/vac-protection",
}

// protectStorage adds the finalizer to new storage objects. Controllers remove it once the object is no longer in use.
func protectStorage(a *Attributes) *status.Status {
	finalizer := protections[a.Definition.Storage]
	if finalizer == "" || !a.about(a.Definition.Storage, Create) {
		return nil
	}
	if names := a.Object.Finalizers(); !slices.Contains(names, finalizer) {
		a.Object.SetFinalizers(append(names, finalizer))
	}
	return nil
}

// checkGrowth rejects the expansion of claims whose storage class does not allow it.
func checkGrowth(a *Attributes) *status.Status {
	if !grows(a.Object, a.Old) {
		return nil
	}
	if a.Old.String("status", "phase") != "Bound" {
		return a.refuse("Only bound persistent volume claims can be expanded")
	}
	name := classOfClaim(a.Object)
	class := a.Objects.Get(storageClasses, "", name)
	if name == "" || name != classOfClaim(a.Old) || !class.True("allowVolumeExpansion") {
		return a.refuse("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	}
	return nil
}

// grows reports whether a claim requests more storage than before.
func grows(obj, old object.Object) bool {
	now, err := quantity.Parse(obj.String("spec", "resources", "requests", "storage"))
	if err != nil {
		return false
	}
	before, err := quantity.Parse(old.String("spec", "resources", "requests", "storage"))
	return err != nil || now.Cmp(before) > 0
}

func classOfClaim(claim object.Object) string {
	if name, ok := claim.Annotations()[claimClassBeta]; ok {
		return name
	}
	return claim.String("spec", "storageClassName")
}
