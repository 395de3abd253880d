package podspec

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	// HugePagesPrefix is the prefix of huge page resources, followed by the page size.
	HugePagesPrefix = "hugepages-"
	nativeDomain    = "kubernetes.io/" // domain of native resources, which may also have none
	// QuotaPrefix is the prefix of requests in quotas.
	QuotaPrefix = "requests."
)

// standardResources are the resources without a domain. Containers can request only standardContainerResources. The
// amounts of IntegerResources must be integers.
var (
	standardResources = []string{"cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory",
		"requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas",
		"services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims", "storage", "requests.storage",
		"services.nodeports", "services.loadbalancers"}
	standardContainerResources = []string{"cpu", "memory", "ephemeral-storage"}
	IntegerResources           = []string{"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
		"persistentvolumeclaims", "services.nodeports", "services.loadbalancers"}
)

// IsNativeResource reports whether a resource is defined by Kubernetes itself.
func IsNativeResource(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, nativeDomain)
}

// IsExtendedResource reports whether a name such as example.com/gpu is that of an extended resource.
func IsExtendedResource(name string) bool {
	return !IsNativeResource(name) && !strings.HasPrefix(name, QuotaPrefix) && len(field.QualifiedName(QuotaPrefix+name)) == 0
}

// isIntegerResource reports whether amounts of the resource must be integers.
func isIntegerResource(name string) bool {
	return slices.Contains(IntegerResources, name) || IsExtendedResource(name)
}

// MayOvercommit reports whether requests for the resource may be smaller than its limits.
func MayOvercommit(name string) bool {
	return IsNativeResource(name) && !strings.HasPrefix(name, HugePagesPrefix)
}

// ResourceName checks the name of any resource.
func ResourceName(at field.Cursor, name string) {
	if len(field.QualifiedName(name)) > 0 {
		at.With(name).CheckEnum(field.QualifiedName)
		return
	}
	standard := slices.Contains(standardResources, name) || strings.HasPrefix(strings.TrimPrefix(name, QuotaPrefix), HugePagesPrefix)
	if !strings.Contains(name, "/") && !standard {
		at.Invalid(field.Enum(name), "must be a standard resource type or fully qualified")
	}
}

// ContainerResourceName checks the name of a resource that a container requests.
func ContainerResourceName(at field.Cursor, name string) {
	if slices.Contains(standardContainerResources, name) {
		return
	}
	ResourceName(at, name)
	switch {
	case !strings.Contains(name, "/"):
		if !strings.HasPrefix(name, HugePagesPrefix) {
			at.Invalid(field.Enum(name), "must be a standard resource for containers")
		}
	case !IsNativeResource(name) && !IsExtendedResource(name):
		at.Invalid(field.Enum(name), "doesn't follow extended resource name standard")
	}
}

// podResourceName checks the name of a pod-level resource (KEP-2837).
func podResourceName(at field.Cursor, name string) {
	n := len(at.Errors())
	if ResourceName(at, name); len(at.Errors()) == n && !isPodResource(name) {
		at.NotSupported(field.Enum(name), "cpu", HugePagesPrefix, "memory")
	}
}

func isPodResource(name string) bool {
	return name == "cpu" || name == "memory" || strings.HasPrefix(name, HugePagesPrefix)
}

// ResourceQuantity checks the amount of a resource.
func ResourceQuantity(at field.Cursor, name string) {
	resourceQuantity(at, name, quantity.Of(at.Value()))
}

func resourceQuantity(at field.Cursor, name string, q quantity.Quantity) {
	if q.Sign() < 0 {
		at.Invalid(q.String(), field.TextNonNegative)
	}
	if isIntegerResource(name) && q.MilliValue()%1000 != 0 {
		at.Invalid(q.String(), "must be an integer")
	}
}

// hugePages checks that an amount of huge pages is a multiple of the page size in the resource's name.
func (r *Rules) hugePages(at field.Cursor, name string, q quantity.Quantity) {
	if oddHugePages(name, q) && !r.Allow.hugePages() {
		at.Invalid(q.String(), q.String()+" is not positive integer multiple of "+name)
	}
}

func oddHugePages(name string, q quantity.Quantity) bool {
	text, huge := strings.CutPrefix(name, HugePagesPrefix)
	if !huge {
		return false
	}
	size, err := quantity.Parse(text)
	return err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 || q.Value()%size.Value() != 0
}

// usesOddHugePages reports whether a container, or the pod's overhead, has an amount of huge pages that the method hugePages would
// reject.
func usesOddHugePages(spec object.Object) bool {
	odd := func(list map[string]any) bool {
		for name, q := range list { // order does not matter
			if strings.HasPrefix(name, HugePagesPrefix) && oddHugePages(name, quantity.Of(q)) {
				return true
			}
		}
		return false
	}
	found := odd(spec.Map("overhead"))
	for c := range Containers(spec) {
		found = found || odd(c.Map("resources", "limits")) || odd(c.Map("resources", "requests"))
	}
	return found
}

// Resources checks limits, requests and claims. nameRule checks the names of resources.
func (r *Rules) Resources(at field.Cursor, nameRule func(field.Cursor, string)) {
	huge, compute := false, false
	for _, list := range []string{"limits", "requests"} {
		for name, amount := range at.EachKey(list) {
			q := quantity.Of(amount.Value())
			nameRule(amount, name)
			resourceQuantity(amount, name, q)
			if list == "requests" {
				requestWithinLimit(at, name, q)
			}
			r.hugePages(amount, name, q)
			huge = huge || strings.HasPrefix(name, HugePagesPrefix)
			compute = compute || name == "cpu" || name == "memory"
		}
	}
	at.ForbidIf(huge && !compute, "HugePages require cpu or memory")
	if at.Has("claims") {
		r.containerClaims(at.Child("claims"))
	}
}

// Overhead checks the overhead of a pod with the rules for limits.
func (r *Rules) Overhead(at field.Cursor) {
	if at.Has() {
		r.Resources(at.With(map[string]any{"limits": at.Value()}), ContainerResourceName)
	}
}

func requestWithinLimit(at field.Cursor, name string, request quantity.Quantity) {
	stated := at.Object().Map("limits")[name]
	if stated == nil {
		at.Child("limits").RequireIf(!MayOvercommit(name), "Limit must be set for non overcommitable resources")
		return
	}
	limit := quantity.Of(stated)
	switch sign := request.Cmp(limit); {
	case sign != 0 && !MayOvercommit(name):
		at.Child("requests").Invalid(request.String(), "must be equal to "+name+" limit of "+limit.String())
	case sign > 0:
		at.Child("requests").Invalid(request.String(), "must be less than or equal to "+name+" limit of "+limit.String())
	}
}

// containerClaims checks the resource claims that a container uses. It may use a claim as a whole, or one of the requests in it.
func (r *Rules) containerClaims(list field.Cursor) {
	used := map[string]bool{}
	for claim := range list.Each() {
		name := claim.String("name")
		if name == "" {
			claim.Missing("")
			continue
		}
		claimUsedOnce(claim, used, name)
		if !slices.Contains(r.claims, name) {
			detail := " which is empty"
			if len(r.claims) > 0 {
				detail = ": " + strings.Join(slices.Compact(slices.Sorted(slices.Values(r.claims))), ", ")
			}
			claim.NotFound(name, "must be one of the names in pod.spec.resourceClaims"+detail)
		}
	}
}

func claimUsedOnce(claim field.Cursor, used map[string]bool, name string) {
	if used[name] {
		claim.Duplicate(name)
		return
	}
	key := name
	request := claim.Child("request").IfGiven().Check(field.DNS1123Label)
	if request.Has() {
		key += "/" + request.String()
	}
	if used[key] {
		claim.Duplicate(key)
	} else if !request.Has() {
		for _, other := range object.SortedKeys(used) {
			if whole, _, part := strings.Cut(other, "/"); part && whole == name {
				claim.Duplicate(name)
			}
		}
	}
	used[key] = true
}

// Amounts returns the total requests or limits of a pod. side is "requests" or "limits". Pod-level resources override
// those of the containers (KEP-2837).
func Amounts(pod object.Object, side string) resource.Amounts {
	return AmountsOf(pod, side, amountsOf(side))
}

// AmountsOf is like Amounts, but calls own for the amounts of each container.
func AmountsOf(pod object.Object, side string, own func(container object.Object) resource.Amounts) resource.Amounts {
	sum := ContainerAmounts(pod, own)
	for name, q := range resource.AmountsAt(pod, "spec", "resources", side) {
		if isPodResource(name) {
			sum[name] = q
		}
	}
	return sum
}

// ContainerAmounts is like AmountsOf, but ignores pod-level resources.
func ContainerAmounts(pod object.Object, own func(container object.Object) resource.Amounts) resource.Amounts {
	return sumOfContainers(pod.At("spec"), own)
}

// amountsOf returns a function that returns a container's requests or limits.
func amountsOf(side string) func(container object.Object) resource.Amounts {
	return func(c object.Object) resource.Amounts { return resource.AmountsAt(c, "resources", side) }
}

// containerAmounts returns the total requests or limits of a pod's containers.
func containerAmounts(spec object.Object, side string) resource.Amounts {
	return sumOfContainers(spec, amountsOf(side))
}

// sumOfContainers returns the total amounts of a pod's containers. It is the maximum of two cases: all regular containers
// and sidecars together, or one init container together with the sidecars that start before it (KEP-753).
func sumOfContainers(spec object.Object, own func(container object.Object) resource.Amounts) resource.Amounts {
	sum, sidecars, start := resource.Amounts{}, resource.Amounts{}, resource.Amounts{}
	for _, c := range spec.Objects("containers") {
		sum.Add(own(c))
	}
	for _, c := range spec.Objects("initContainers") {
		needs := own(c)
		if IsSidecar(c) {
			sum.Add(needs)
			sidecars.Add(needs)
			needs = maps.Clone(sidecars)
		} else {
			needs.Add(sidecars)
		}
		start.Raise(needs)
	}
	sum.Raise(start)
	return sum
}

// WithOverhead adds the overhead of the pod's RuntimeClass to sum. A resource without a limit remains unlimited.
func WithOverhead(pod object.Object, sum resource.Amounts, side string) resource.Amounts {
	for name, q := range resource.AmountsAt(pod, "spec", "overhead") {
		if have, ok := sum[name]; ok && !have.IsZero() || side == "requests" {
			sum[name] = have.Add(q)
		}
	}
	return sum
}
