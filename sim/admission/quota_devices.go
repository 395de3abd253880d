package admission

import (
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

const (
	resourceClaims = "resourceclaims.resource.k8s.io"
	deviceClasses  = "deviceclasses.resource.k8s.io"

	// A quota limits the devices of a class under CLASS.deviceclass.resource.k8s.io/devices, and, as they may be given to
	// pods that ask for an extended resource, under two more names (KEP-4381, KEP-5004).
	devicesSuffix  = ".deviceclass.resource.k8s.io/devices"
	implicitPrefix = "deviceclass.resource.kubernetes.io/"

	devicesMax = 32 // what a request for all devices counts as
)

// deviceLimit reports whether claims use a limit of a quota.
func deviceLimit(name string, a *Attributes) bool {
	if strings.HasSuffix(name, devicesSuffix) {
		return true
	}
	resource, requests := strings.CutPrefix(name, requestsPrefix)
	if class, ok := strings.CutPrefix(resource, implicitPrefix); requests && ok && extendedResourceOf(class, a) != "" {
		return true
	}
	found := false
	if requests && extended(resource) {
		a.Objects.Each(deviceClasses, "", func(class object.Object) bool {
			found = class.String("spec", "extendedResourceName") == resource
			return !found
		})
	}
	return found
}

// extendedResourceOf returns the extended resource that a device class stands for, "" for none.
func extendedResourceOf(class string, a *Attributes) string {
	return a.Objects.Get(deviceClasses, "", class).String("spec", "extendedResourceName")
}

// deviceUses counts the devices that a claim may get, of alternatives the most of each class: under the name of the
// class, and under those of extended resources as far as the pod that the claim was made for has not been counted there.
func deviceUses(claim object.Object, a *Attributes) amounts {
	sum := amounts{}
	for _, request := range claim.List("spec", "devices", "requests") {
		alternatives := asObject(request).List("firstAvailable")
		if exactly, ok := asObject(request)["exactly"]; ok && len(alternatives) == 0 {
			alternatives = []any{exactly}
		}
		most := amounts{}
		for _, v := range alternatives {
			class, n := devicesOf(asObject(v))
			most.raise(amounts{class: count(n)})
		}
		sum.add(most)
	}
	byPod := amounts{}
	if pod := podBehind(claim, a); pod != nil {
		byPod = podUses(pod, a)
	}
	names := amounts{}
	for class, q := range sum { // order does not matter: each class has names of its own
		if class == "" {
			continue
		}
		names[requestsPrefix+implicitPrefix+class] = q
		if resource := extendedResourceOf(class, a); resource != "" {
			names[requestsPrefix+resource] = q
		}
	}
	out := amounts{}
	for name, q := range names.less(byPod) { // order does not matter
		if q.Sign() > 0 {
			out[name] = q
		}
	}
	for class, q := range sum { // order does not matter
		out[class+devicesSuffix] = q
	}
	return out
}

// devicesOf returns how many devices of which class a request or an alternative is for.
func devicesOf(request object.Object) (class string, n int) {
	switch request.String("allocationMode") {
	case "ExactCount":
		exactly, _ := request.Int("count")
		n = int(exactly)
	case "All":
		n = devicesMax
	}
	return request.String("deviceClassName"), n
}

// podBehind returns the pod for whose extended resources the scheduler made a claim, nil if the claim only says so: the
// pod must be its owner, and name this claim, or none while it is the oldest of those that say so.
func podBehind(claim object.Object, a *Attributes) object.Object {
	name, uid := podOwner(claim)
	pod := a.Objects.Get(pods, claim.Namespace(), name)
	if name == "" || pod == nil || pod.UID() != uid {
		return nil
	}
	if named := asObject(pod.Map("status")["extendedResourceClaimStatus"]); named != nil {
		if named.String("resourceClaimName") != claim.Name() {
			return nil
		}
		return pod
	}
	oldest := true
	a.Objects.Each(resourceClaims, claim.Namespace(), func(other object.Object) bool {
		_, of := podOwner(other)
		older := strings.Compare(created(other), created(claim))
		oldest = of != uid || older > 0 || older == 0 && other.Name() >= claim.Name()
		return oldest
	})
	if !oldest {
		return nil
	}
	return pod
}

// podOwner returns the pod for whose extended resources a claim says that it was made.
func podOwner(claim object.Object) (name, uid string) {
	if claim.Annotations()["resource.kubernetes.io/extended-resource-claim"] != "true" {
		return "", ""
	}
	for _, v := range claim.List("metadata", "ownerReferences") {
		ref := asObject(v)
		if controls, _ := ref.Bool("controller"); controls && ref.String("kind") == "Pod" && ref.String("apiVersion") == "v1" {
			return ref.String("name"), ref.String("uid")
		}
	}
	return "", ""
}

func created(obj object.Object) string { return obj.String("metadata", "creationTimestamp") }
