package admission

import (
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

const (
	resourceClaims = "resourceclaims.resource.k8s.io"
	deviceClasses  = "deviceclasses.resource.k8s.io"

	// A quota limits the devices of a class under CLASS.deviceclass.resource.k8s.io/devices, and, when the class stands for
	// an extended resource of nodes, under two more names (KEP-4381, KEP-5004).
	devicesSuffix   = ".deviceclass.resource.k8s.io/devices"
	implicitDevices = "requests.deviceclass.resource.kubernetes.io/"

	devicesMax = 32 // what a request for all devices counts as
)

// deviceLimit reports whether claims use a limit of a quota.
func deviceLimit(name string, a *Attributes) bool {
	if strings.HasSuffix(name, devicesSuffix) {
		return true
	}
	if class, ok := strings.CutPrefix(name, implicitDevices); ok {
		return extendedResourceOf(class, a) != ""
	}
	extended, request := strings.CutPrefix(name, requestsPrefix)
	found := false
	if request && strings.Contains(extended, "/") {
		a.Objects.Each(deviceClasses, "", func(class object.Object) bool {
			found = class.String("spec", "extendedResourceName") == extended
			return !found
		})
	}
	return found
}

// extendedResourceOf returns the extended resource that a device class stands for, "" for none.
func extendedResourceOf(class string, a *Attributes) string {
	return a.Objects.Get(deviceClasses, "", class).String("spec", "extendedResourceName")
}

// deviceUsage adds the devices that a claim may get: of alternatives the most of each class.
func deviceUsage(claim object.Object, a *Attributes, sum amounts) {
	for _, v := range claim.List("spec", "devices", "requests") {
		request := asObject(v)
		if exactly := request.Map("exactly"); exactly != nil {
			sum.add(devicesOf(exactly))
			continue
		}
		most := amounts{}
		for _, alternative := range request.List("firstAvailable") {
			for name, q := range devicesOf(asObject(alternative)) { // order does not matter: one
				if q.Cmp(most[name]) > 0 {
					most[name] = q
				}
			}
		}
		sum.add(most)
	}
	addExtended(claim, a, sum)
}

func asObject(v any) object.Object {
	m, _ := v.(map[string]any)
	return m
}

// devicesOf returns how many devices of a class a request or an alternative is for.
func devicesOf(request object.Object) amounts {
	var count int64
	switch request.String("allocationMode") {
	case "ExactCount":
		count, _ = request.Int("count")
	case "All":
		count = devicesMax
	}
	return amounts{request.String("deviceClassName") + devicesSuffix: quantity.New(count, quantity.DecimalSI)}
}

// addExtended counts devices under the names of extended resources, too, but for what the pod that the claim was made
// for has been counted with.
func addExtended(claim object.Object, a *Attributes, sum amounts) {
	counted := amounts{}
	if pod := podOfExtendedClaim(claim, a); pod != nil {
		podUsage(pod, a, counted)
	}
	more := amounts{}
	for name, q := range sum { // order does not matter: each class has names of its own
		if class, ok := strings.CutSuffix(name, devicesSuffix); ok && class != "" {
			more[implicitDevices+class] = q
			if extended := extendedResourceOf(class, a); extended != "" {
				more[requestsPrefix+extended] = q
			}
		}
	}
	for name, q := range more { // order does not matter
		if rest := q.Sub(counted[name]); rest.Sign() > 0 {
			sum[name] = rest
		}
	}
}

// podOfExtendedClaim returns the pod for whose extended resources the scheduler made a claim, nil if the claim only
// says so: the pod must be its owner, and name no other claim.
func podOfExtendedClaim(claim object.Object, a *Attributes) object.Object {
	if claim.Annotations()["resource.kubernetes.io/extended-resource-claim"] != "true" {
		return nil
	}
	for _, v := range claim.List("metadata", "ownerReferences") {
		ref := asObject(v)
		if controls, _ := ref.Bool("controller"); !controls || ref.String("kind") != "Pod" || ref.String("apiVersion") != "v1" {
			continue
		}
		pod := a.Objects.Get(pods, claim.Namespace(), ref.String("name"))
		if pod == nil || pod.UID() != ref.String("uid") {
			return nil
		}
		if named := pod.String("status", "extendedResourceClaimStatus", "resourceClaimName"); named != "" && named != claim.Name() {
			return nil
		}
		return pod
	}
	return nil
}
