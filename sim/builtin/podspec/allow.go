package podspec

import (
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
)

// podAllowances are the rules that an update may break because the object broke them before: rules became stricter with
// time, and objects from before must stay updatable.
type podAllowances struct {
	DeletionCost          bool // a pod-deletion-cost that is no number
	selectorValues        bool // bad label values in affinity selectors
	spreadSelector        bool // a bad selector of a topology spread constraint
	spreadKeys            bool // bad matchLabelKeys of a topology spread constraint
	nodeAffinityValues    bool // bad label values in required node affinity
	hugePages             bool // huge pages that are no multiple of the page size
	tokenPath             bool // a projected token outside of its volume
	hostSysctls           bool // namespaced sysctls together with the host's namespace
	anySELinuxPolicy      bool // a seLinuxChangePolicy other than Recursive
	restartPlainInit      bool // resizePolicy RestartContainer on init containers that are no sidecars
	devicesInUserNS       bool // volumeDevices in a user namespace
	hostNetworkInUserNS   bool // the host's network in a user namespace
	comparisonTolerations bool // tolerations with the operators Lt and Gt
	emptyImages           bool // image volumes without a reference
	sysAdmin              bool // CAP_SYS_ADMIN without allowPrivilegeEscalation, since 1.37
}

// podAllowancesOf returns what the spec before an update breaks; nil breaks nothing.
func podAllowancesOf(old object.Object) podAllowances {
	if old == nil {
		return podAllowances{}
	}
	userNS := inUserNamespace(old)
	a := podAllowances{
		selectorValues:      slices.ContainsFunc(AffinityTerms(old), badTermSelector),
		nodeAffinityValues:  BadNodeSelectorValues(old.At("affinity", "nodeAffinity", RequiredTerms)),
		hugePages:           usesOddHugePages(old),
		anySELinuxPolicy:    old.Has("securityContext", "seLinuxChangePolicy"),
		hostSysctls:         len(hostSysctls(old)) > 0,
		hostNetworkInUserNS: userNS && old.True("hostNetwork"),
		spreadSelector:      slices.ContainsFunc(old.Objects("topologySpreadConstraints"), badSpreadSelector),
		spreadKeys:          slices.ContainsFunc(old.Objects("topologySpreadConstraints"), badSpreadKeys),
	}
	for _, v := range old.Objects("volumes") {
		a.emptyImages = a.emptyImages || v.Has("image") && v.String("image", "reference") == ""
		a.tokenPath = a.tokenPath || slices.ContainsFunc(v.Objects("projected", "sources"), badTokenPath)
	}
	for _, c := range old.Objects("initContainers") {
		if c.String("restartPolicy") != "Always" {
			a.restartPlainInit = a.restartPlainInit || slices.ContainsFunc(c.Objects("resizePolicy"), RestartsContainer)
		}
	}
	for _, t := range old.Objects("tolerations") {
		op := t.String("operator")
		a.comparisonTolerations = a.comparisonTolerations || op == "Lt" || op == "Gt"
	}
	for c := range Containers(old) {
		sc := c.At("securityContext")
		escalates, said := sc.Bool("allowPrivilegeEscalation")
		a.sysAdmin = a.sysAdmin || said && !escalates && slices.Contains(sc.Strings("capabilities", "add"), "CAP_SYS_ADMIN")
		a.devicesInUserNS = a.devicesInUserNS || userNS && len(c.List("volumeDevices")) > 0
	}
	return a
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
