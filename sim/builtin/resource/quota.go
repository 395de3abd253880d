package resource

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// claimQuota describes how ResourceClaims count against a ResourceQuota.
var claimQuota = resource.Quota{Limits: deviceLimit, Uses: deviceUses, Updates: resource.WholeUpdates}

const (
	resourceClaims = "resourceclaims.resource.k8s.io"
	deviceClasses  = "deviceclasses.resource.k8s.io"

	// The name CLASS.deviceclass.resource.k8s.io/devices in a quota limits the devices of a class. Pods can also request devices as
	// extended resources, so two further names limit them (KEP-4381, KEP-5004).
	devicesSuffix = ".deviceclass.resource.k8s.io/devices"

	devicesMax = 32 // the number that a request for all devices counts as
)

// deviceLimit reports whether a name in a quota limits claims.
func deviceLimit(ctx *resource.Context, name string) bool {
	if strings.HasSuffix(name, devicesSuffix) {
		return true
	}
	extended, requests := strings.CutPrefix(name, podspec.QuotaPrefix)
	if class, ok := strings.CutPrefix(extended, core.ImplicitPrefix); requests && ok && extendedResourceOf(ctx, class) != "" {
		return true
	}
	return requests && core.NodesExtended(extended) && slices.ContainsFunc(ctx.Objects.All(deviceClasses, ""), func(class object.Object) bool {
		return class.String("spec", "extendedResourceName") == extended
	})
}

// extendedResourceOf returns the extended resource of a device class, or "" if it has none.
func extendedResourceOf(ctx *resource.Context, class string) string {
	return ctx.Objects.Get(deviceClasses, "", class).String("spec", "extendedResourceName")
}

// deviceUses returns the number of devices of each class that a claim may be allocated. If a request has alternatives, it uses the
// maximum for each class. The result contains each number under the name for the class and under those for the extended resources.
// The amounts that the claim's pod already uses are subtracted from the latter.
func deviceUses(ctx *resource.Context, claim object.Object) resource.Amounts {
	sum := resource.Amounts{}
	for _, request := range claim.Objects("spec", "devices", "requests") {
		alternatives := request.Objects("firstAvailable")
		if exactly := request.At("exactly"); exactly != nil && len(alternatives) == 0 {
			alternatives = []object.Object{exactly}
		}
		most := resource.Amounts{}
		for _, v := range alternatives {
			class, n := devicesOf(v)
			most.Raise(resource.Amounts{class: resource.Count(n)})
		}
		sum.Add(most)
	}
	byPod := resource.Amounts{}
	if pod := podBehind(ctx, claim); pod != nil {
		byPod = core.PodUses(ctx, pod)
	}
	names := resource.Amounts{}
	for class, q := range sum { // order does not matter: each class has different names
		if class == "" {
			continue
		}
		names[podspec.QuotaPrefix+core.ImplicitPrefix+class] = q
		if extended := extendedResourceOf(ctx, class); extended != "" {
			names[podspec.QuotaPrefix+extended] = q
		}
	}
	out := resource.Amounts{}
	for name, q := range names.Less(byPod) { // order does not matter
		if q.Sign() > 0 {
			out[name] = q
		}
	}
	for class, q := range sum { // order does not matter
		out[class+devicesSuffix] = q
	}
	return out
}

// devicesOf returns the device class and the number of devices of a request or an alternative.
func devicesOf(request object.Object) (class string, n int) {
	switch request.String("allocationMode") {
	case "ExactCount":
		n = int(request.Int64("count"))
	case "All":
		n = devicesMax
	}
	return request.String("deviceClassName"), n
}

// podBehind returns the pod for whose extended resources the scheduler created a claim, or nil. The pod must control the
// claim. In addition, its status must refer to the claim; if it does not refer to any claim, this one must be the oldest
// claim of the pod.
func podBehind(ctx *resource.Context, claim object.Object) object.Object {
	name, uid := podOwner(claim)
	pod := ctx.Objects.Get("pods", claim.Namespace(), name)
	if name == "" || pod == nil || pod.UID() != uid {
		return nil
	}
	if named := object.As(pod.Map("status")["extendedResourceClaimStatus"]); named != nil {
		if named.String("resourceClaimName") != claim.Name() {
			return nil
		}
		return pod
	}
	for _, other := range ctx.Objects.All(resourceClaims, claim.Namespace()) {
		_, of := podOwner(other)
		older := strings.Compare(created(other), created(claim))
		if of == uid && (older < 0 || older == 0 && other.Name() < claim.Name()) {
			return nil
		}
	}
	return pod
}

// podOwner returns the name and the UID of the pod that owns a claim for extended resources. If there is none, both are "".
func podOwner(claim object.Object) (name, uid string) {
	if claim.Annotations()["resource.kubernetes.io/extended-resource-claim"] != "true" {
		return "", ""
	}
	for _, ref := range claim.Objects("metadata", "ownerReferences") {
		if ref.True("controller") && ref.String("kind") == "Pod" && ref.String("apiVersion") == "v1" {
			return ref.String("name"), ref.String("uid")
		}
	}
	return "", ""
}

func created(obj object.Object) string { return obj.String("metadata", "creationTimestamp") }
