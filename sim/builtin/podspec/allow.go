package podspec

import (
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
)

// allowances are the rules that an update may break because the object broke them before: rules became stricter with time, and
// objects from before must stay updatable. They are found out where something breaks such a rule, which is hardly ever.
type allowances struct {
	old object.Object // the spec before an update; nil breaks nothing

	DeletionCost bool // a pod-deletion-cost that is no number
}

// selectorValues: bad label values in affinity selectors.
func (a allowances) selectorValues() bool {
	return slices.ContainsFunc(AffinityTerms(a.old), badTermSelector)
}

// spreadSelector: a bad selector of a topology spread constraint.
func (a allowances) spreadSelector() bool {
	return slices.ContainsFunc(a.old.Objects("topologySpreadConstraints"), badSpreadSelector)
}

// spreadKeys: bad matchLabelKeys of a topology spread constraint.
func (a allowances) spreadKeys() bool {
	return slices.ContainsFunc(a.old.Objects("topologySpreadConstraints"), badSpreadKeys)
}

// nodeAffinityValues: bad label values in required node affinity.
func (a allowances) nodeAffinityValues() bool {
	return BadNodeSelectorValues(a.old.At("affinity", "nodeAffinity", RequiredTerms))
}

// hugePages: huge pages that are no multiple of the page size.
func (a allowances) hugePages() bool { return usesOddHugePages(a.old) }

// tokenPath: a projected token outside of its volume.
func (a allowances) tokenPath() bool {
	return slices.ContainsFunc(a.old.Objects("volumes"), func(v object.Object) bool {
		return slices.ContainsFunc(v.Objects("projected", "sources"), badTokenPath)
	})
}

// hostSysctls: namespaced sysctls together with the host's namespace.
func (a allowances) hostSysctls() bool { return len(hostSysctls(a.old)) > 0 }

// anySELinuxPolicy: a seLinuxChangePolicy other than Recursive.
func (a allowances) anySELinuxPolicy() bool {
	return a.old.Has("securityContext", "seLinuxChangePolicy")
}

// restartPlainInit: resizePolicy RestartContainer on init containers that are no sidecars.
func (a allowances) restartPlainInit() bool {
	return slices.ContainsFunc(a.old.Objects("initContainers"), func(c object.Object) bool {
		return !IsSidecar(c) && slices.ContainsFunc(c.Objects("resizePolicy"), RestartsContainer)
	})
}

// devicesInUserNS: volumeDevices in a user namespace.
func (a allowances) devicesInUserNS() bool {
	return inUserNamespace(a.old) && a.anyContainer(func(c object.Object) bool { return len(c.List("volumeDevices")) > 0 })
}

// hostNetworkInUserNS: the host's network in a user namespace.
func (a allowances) hostNetworkInUserNS() bool {
	return inUserNamespace(a.old) && a.old.True("hostNetwork")
}

// comparisonTolerations: tolerations with the operators Lt and Gt.
func (a allowances) comparisonTolerations() bool {
	return slices.ContainsFunc(a.old.Objects("tolerations"), func(t object.Object) bool {
		op := t.String("operator")
		return op == "Lt" || op == "Gt"
	})
}

// emptyImages: image volumes without a reference.
func (a allowances) emptyImages() bool {
	return slices.ContainsFunc(a.old.Objects("volumes"), func(v object.Object) bool {
		return v.Has("image") && v.String("image", "reference") == ""
	})
}

// sysAdmin: CAP_SYS_ADMIN without allowPrivilegeEscalation, since 1.37.
func (a allowances) sysAdmin() bool {
	return a.anyContainer(func(c object.Object) bool {
		sc := c.At("securityContext")
		escalates, said := sc.Bool("allowPrivilegeEscalation")
		return said && !escalates && slices.Contains(sc.Strings("capabilities", "add"), "CAP_SYS_ADMIN")
	})
}

func (a allowances) anyContainer(breaks func(c object.Object) bool) bool {
	for c := range Containers(a.old) {
		if breaks(c) {
			return true
		}
	}
	return false
}

// inUserNamespace reports whether a pod asks for a user namespace of its own.
func inUserNamespace(spec object.Object) bool {
	host, ok := spec.Bool("hostUsers")
	return ok && !host
}

// RestartsContainer reports whether a resize restarts the container.
func RestartsContainer(policy object.Object) bool {
	return policy.String("restartPolicy") == "RestartContainer"
}

// BadDeletionCost reports whether the annotation that orders deletions in a ReplicaSet is no 32-bit integer in
// canonical form.
func BadDeletionCost(obj object.Object) bool {
	cost, _ := obj.Get("metadata", "annotations", deletionCostAnnotation)
	return badDeletionCost(cost)
}

func badDeletionCost(annotation any) bool {
	cost, ok := annotation.(string)
	if !ok {
		return false
	}
	canonical := cost == "0" || cost != "" && (cost[0] == '-' || '1' <= cost[0] && cost[0] <= '9')
	_, err := strconv.ParseInt(cost, 10, 32)
	return !canonical || err != nil
}
