package podspec

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

const (
	// HugePagesPrefix is in front of the size of huge pages.
	HugePagesPrefix = "hugepages-"
	nativeDomain    = "kubernetes.io/" // resources of Kubernetes itself have no domain or this one
	// QuotaPrefix is how quotas name the requests of a resource.
	QuotaPrefix = "requests."
)

// standardResources are the resources without a domain that there are at all, standardContainerResources those that a
// container has; IntegerResources count things.
var (
	standardResources = []string{"cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory",
		"requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas",
		"services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims", "storage", "requests.storage",
		"services.nodeports", "services.loadbalancers"}
	standardContainerResources = []string{"cpu", "memory", "ephemeral-storage"}
	IntegerResources           = []string{"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
		"persistentvolumeclaims", "services.nodeports", "services.loadbalancers"}
)

// IsNativeResource reports whether Kubernetes itself knows the resource.
func IsNativeResource(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, nativeDomain)
}

// IsExtendedResource reports whether the name is that of a resource of somebody else, such as example.com/gpu.
func IsExtendedResource(name string) bool {
	return !IsNativeResource(name) && !strings.HasPrefix(name, QuotaPrefix) && len(field.QualifiedName(QuotaPrefix+name)) == 0
}

// isIntegerResource reports whether only whole numbers of the resource make sense.
func isIntegerResource(name string) bool {
	return slices.Contains(IntegerResources, name) || IsExtendedResource(name)
}

// MayOvercommit reports whether requests for the resource may be smaller than its limits.
func MayOvercommit(name string) bool {
	return IsNativeResource(name) && !strings.HasPrefix(name, HugePagesPrefix)
}

// ResourceName checks the name of any resource.
func ResourceName(name string, p field.Path) field.ErrorList {
	if msgs := field.QualifiedName(name); len(msgs) > 0 {
		return field.Messages(p, field.Enum(name), msgs)
	}
	standard := slices.Contains(standardResources, name) || strings.HasPrefix(name, HugePagesPrefix) ||
		strings.HasPrefix(name, QuotaPrefix+HugePagesPrefix)
	if !strings.Contains(name, "/") && !standard {
		return field.ErrorList{field.Invalid(p, field.Enum(name), "must be a standard resource type or fully qualified")}
	}
	return nil
}

// ContainerResourceName checks the name of a resource that a container asks for.
func ContainerResourceName(name string, p field.Path) field.ErrorList {
	errs := ResourceName(name, p)
	switch {
	case !strings.Contains(name, "/"):
		if !slices.Contains(standardContainerResources, name) && !strings.HasPrefix(name, HugePagesPrefix) {
			errs = append(errs, field.Invalid(p, field.Enum(name), "must be a standard resource for containers"))
		}
	case !IsNativeResource(name) && !IsExtendedResource(name):
		errs = append(errs, field.Invalid(p, field.Enum(name), "doesn't follow extended resource name standard"))
	}
	return errs
}

// podResourceName checks the name of a resource that a pod asks for as a whole (KEP-2837).
func podResourceName(name string, p field.Path) field.ErrorList {
	errs := ResourceName(name, p)
	if len(errs) == 0 && !isPodResource(name) {
		errs = append(errs, field.NotSupported(p, field.Enum(name), "cpu", HugePagesPrefix, "memory"))
	}
	return errs
}

func isPodResource(name string) bool {
	return name == "cpu" || name == "memory" || strings.HasPrefix(name, HugePagesPrefix)
}

// ResourceQuantity checks an amount of a resource.
func ResourceQuantity(name string, q quantity.Quantity, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if q.Sign() < 0 {
		errs = append(errs, field.Invalid(p, q.String(), field.TextNonNegative))
	}
	if isIntegerResource(name) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(p, q.String(), "must be an integer"))
	}
	return errs
}

// hugePages checks that an amount of huge pages is a multiple of the page size in the resource's name.
func (r *Rules) hugePages(name string, q quantity.Quantity, p field.Path) field.ErrorList {
	if r.Allow.hugePages || !oddHugePages(name, q) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, q.String(), q.String()+" is not positive integer multiple of "+name)}
}

func oddHugePages(name string, q quantity.Quantity) bool {
	text, huge := strings.CutPrefix(name, HugePagesPrefix)
	if !huge {
		return false
	}
	size, err := quantity.Parse(text)
	return err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 || q.Value()%size.Value() != 0
}

// usesOddHugePages reports whether a container of the spec, or its overhead, breaks the rule of hugePages.
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
	EachContainer(spec, field.Path{}, func(c object.Object, _ field.Path) {
		found = found || odd(c.Map("resources", "limits")) || odd(c.Map("resources", "requests"))
	})
	return found
}

// Resources checks limits, requests and claims. nameRule is the rule for the names of resources.
func (r *Rules) Resources(o object.Object, p field.Path, nameRule func(string, field.Path) field.ErrorList) field.ErrorList {
	limits, requests := o.Map("limits"), o.Map("requests")
	var errs field.ErrorList
	huge, compute := false, false
	note := func(name string) {
		huge = huge || strings.HasPrefix(name, HugePagesPrefix)
		compute = compute || name == "cpu" || name == "memory"
	}
	for _, name := range object.SortedKeys(limits) {
		at, q := p.Child("limits").Key(name), quantity.Of(limits[name])
		errs = append(errs, nameRule(name, at)...)
		errs = append(errs, ResourceQuantity(name, q, at)...)
		errs = append(errs, r.hugePages(name, q, at)...)
		note(name)
	}
	for _, name := range object.SortedKeys(requests) {
		at, q := p.Child("requests").Key(name), quantity.Of(requests[name])
		errs = append(errs, nameRule(name, at)...)
		errs = append(errs, ResourceQuantity(name, q, at)...)
		limit, limited := limits[name]
		errs = append(errs, requestWithinLimit(name, q, quantity.Of(limit), limited, p)...)
		errs = append(errs, r.hugePages(name, q, at)...)
		note(name)
	}
	if huge && !compute {
		errs = append(errs, field.Forbidden(p, "HugePages require cpu or memory"))
	}
	return append(errs, r.containerClaims(o, p.Child("claims"))...)
}

func requestWithinLimit(name string, request, limit quantity.Quantity, limited bool, p field.Path) field.ErrorList {
	at := p.Child("requests")
	switch {
	case !limited && !MayOvercommit(name):
		return field.ErrorList{field.Required(p.Child("limits"), "Limit must be set for non overcommitable resources")}
	case !limited:
		return nil
	case request.Cmp(limit) != 0 && !MayOvercommit(name):
		return field.ErrorList{field.Invalid(at, request.String(), "must be equal to "+name+" limit of "+limit.String())}
	case request.Cmp(limit) > 0:
		return field.ErrorList{field.Invalid(at, request.String(), "must be less than or equal to "+name+" limit of "+limit.String())}
	}
	return nil
}

// containerClaims checks which of the pod's resource claims a container uses: a whole claim, or one request of it.
func (r *Rules) containerClaims(o object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	used := map[string]bool{}
	for i, claim := range o.Objects("claims") {
		at, name, request := p.Index(i), claim.String("name"), claim.String("request")
		if name == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		errs = append(errs, claimUsedOnce(used, name, request, at)...)
		if !slices.Contains(r.claims, name) {
			e := field.NotFound(at, name)
			e.Detail = "must be one of the names in pod.spec.resourceClaims"
			if len(r.claims) == 0 {
				e.Detail += " which is empty"
			} else {
				e.Detail += ": " + strings.Join(slices.Compact(slices.Sorted(slices.Values(r.claims))), ", ")
			}
			errs = append(errs, e)
		}
	}
	return errs
}

func claimUsedOnce(used map[string]bool, name, request string, p field.Path) field.ErrorList {
	if used[name] {
		return field.ErrorList{field.Duplicate(p, name)}
	}
	var errs field.ErrorList
	key := name
	if request != "" {
		errs = append(errs, field.Check(p.Child("request"), request, field.DNS1123Label)...)
		key += "/" + request
	}
	if used[key] {
		errs = append(errs, field.Duplicate(p, key))
	} else if request == "" {
		for _, other := range object.SortedKeys(used) {
			if claim, _, part := strings.Cut(other, "/"); part && claim == name {
				errs = append(errs, field.Duplicate(p, name))
			}
		}
	}
	used[key] = true
	return errs
}
