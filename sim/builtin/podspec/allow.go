package podspec

import (
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
)

// allowances report which rules an update may break because the stored object already breaks them. Some rules became stricter over
// time, but older objects must remain updatable. Each is computed only when an object breaks its rule, which is rare.
type allowances struct {
	old object.Object // the spec before an update, or nil

	DeletionCost bool // DeletionCost allows a pod-deletion-cost that is not a number.
}

// selectorValues reports whether affinity selectors may have invalid label values.
func (a allowances) selectorValues() bool {
	return slices.ContainsFunc(AffinityTerms(a.old), badTermSelector)
}

// spreadSelector reports whether topology spread constraints may have an invalid selector.
func (a allowances) spreadSelector() bool {
	return slices.ContainsFunc(a.old.Objects("topologySpreadConstraints"), badSpreadSelector)
}

// spreadKeys reports whether topology spread constraints may have invalid matchLabelKeys.
func (a allowances) spreadKeys() bool {
	return slices.ContainsFunc(a.old.Objects("topologySpreadConstraints"), badSpreadKeys)
}

// nodeAffinityValues reports whether required node affinity may have invalid label values.
func (a allowances) nodeAffinityValues() bool {
	return BadNodeSelectorValues(a.old.At("affinity", "nodeAffinity", RequiredTerms))
}

// hugePages reports whether amounts of huge pages need not be multiples of the page size.
func (a allowances) hugePages() bool { return usesOddHugePages(a.old) }

// tokenPath reports whether the path of a projected token may be outside its volume.
func (a allowances) tokenPath() bool {
	return slices.ContainsFunc(a.old.Objects("volumes"), func(v object.Object) bool {
		return slices.ContainsFunc(v.Objects("projected", "sources"), badTokenPath)
	})
}

// hostSysctls reports whether namespaced sysctls are allowed together with the host's namespace.
func (a allowances) hostSysctls() bool { return len(hostSysctls(a.old)) > 0 }

// anySELinuxPolicy reports whether any seLinuxChangePolicy is allowed, not only Recursive.
func (a allowances) anySELinuxPolicy() bool {
	return a.old.Has("securityContext", "seLinuxChangePolicy")
}

// restartPlainInit reports whether the resizePolicy RestartContainer is allowed on init containers that are not sidecars.
func (a allowances) restartPlainInit() bool {
	return slices.ContainsFunc(a.old.Objects("initContainers"), func(c object.Object) bool {
		return !IsSidecar(c) && slices.ContainsFunc(c.Objects("resizePolicy"), RestartsContainer)
	})
}

// devicesInUserNS reports whether volumeDevices are allowed in a user namespace.
func (a allowances) devicesInUserNS() bool {
	return inUserNamespace(a.old) && a.anyContainer(func(c object.Object) bool { return len(c.List("volumeDevices")) > 0 })
}

// hostNetworkInUserNS reports whether the host's network is allowed in a user namespace.
func (a allowances) hostNetworkInUserNS() bool {
	return inUserNamespace(a.old) && a.old.True("hostNetwork")
}

// comparisonTolerations reports whether tolerations may have the operators Lt and Gt.
func (a allowances) comparisonTolerations() bool {
	return slices.ContainsFunc(a.old.Objects("tolerations"), func(t object.Object) bool {
		op := t.String("operator")
		return op == "Lt" || op == "Gt"
	})
}

// emptyImages reports whether image volumes may lack a reference.
func (a allowances) emptyImages() bool {
	return slices.ContainsFunc(a.old.Objects("volumes"), func(v object.Object) bool {
		return v.Has("image") && v.String("image", "reference") == ""
	})
}

// sysAdmin reports whether CAP_SYS_ADMIN is allowed without allowPrivilegeEscalation. Servers since 1.37 have a rule against that.
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

// inUserNamespace reports whether a pod requests a separate user namespace.
func inUserNamespace(spec object.Object) bool {
	host, ok := spec.Bool("hostUsers")
	return ok && !host
}

// RestartsContainer reports whether a resize restarts the container.
func RestartsContainer(policy object.Object) bool {
	return policy.String("restartPolicy") == "RestartContainer"
}

// BadDeletionCost reports whether the pod-deletion-cost annotation, which orders the deletions in a ReplicaSet, is set but is not a
// 32-bit integer in canonical form.
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
