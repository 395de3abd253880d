package core

import (
	"strconv"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// validateEphemeralUpdate checks a write of pods/ephemeralcontainers: containers can be added, nothing else.
func validateEphemeralUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	r := podRulesOf(ctx, obj, old)
	errs := append(r.pod(obj), r.annotationUpdates(obj, old)...)
	if _, static := old.Annotations()[podspec.MirrorAnnotation]; static {
		return field.ErrorList{field.Forbidden(podspec.Whole, "static pods do not support ephemeral containers")}
	}
	p := podSpecPath.Child("ephemeralContainers")
	now := map[string]object.Object{}
	for _, c := range obj.Objects("spec", "ephemeralContainers") {
		now[c.String("name")] = c
	}
	for _, before := range old.Objects("spec", "ephemeralContainers") {
		name := strconv.Quote(before.String("name"))
		c, ok := now[before.String("name")]
		switch {
		case !ok:
			errs = append(errs, field.Forbidden(p, "existing ephemeral containers "+name+" may not be removed\n"))
		case !gotext.Same("EphemeralContainer", c, before):
			errs = append(errs, field.Forbidden(p, "existing ephemeral containers "+name+" may not be changed\n"+gotext.Diff("EphemeralContainer", before, c)))
		}
	}
	return errs
}

// validateResize checks a write of pods/resize: cpu and memory can change, nothing else (KEP-1287).
func validateResize(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	errs := podRulesOf(ctx, obj, old).pod(obj)
	if _, static := old.Annotations()[podspec.MirrorAnnotation]; static {
		return field.ErrorList{field.Forbidden(podspec.Whole, "static pods cannot be resized")}
	}
	if old.String("spec", "os", "name") == "windows" {
		return field.ErrorList{field.Forbidden(podspec.Whole, "windows pods cannot be resized")}
	}
	class := podspec.Either(old.String("status", "qosClass"), podspec.QosClass(old.At("spec")))
	if class != podspec.QosClass(obj.At("spec")) {
		errs = append(errs, field.Invalid(podSpecPath, field.Enum(obj.String("status", "qosClass")), "Pod QOS Class may not change as a result of resizing"))
	}
	if !nodeResizes(old) {
		errs = append(errs, field.Forbidden(podSpecPath, "Pod running on node without support for resize"))
	}
	rest := obj.At("spec").Copy()
	if hasPodResources(obj) || hasPodResources(old) {
		errs = append(errs, resizeOfPod(rest, old.At("spec"))...)
	}
	if len(old.List("status", "nodeAllocatableResourceClaimStatuses")) > 0 {
		errs = append(errs, field.Forbidden(podSpecPath, "pods with node allocatable resource claims cannot be resized"))
	}
	if moved := sameContainers(obj, old); len(moved) > 0 {
		return append(errs, moved...)
	}
	errs = append(errs, resizeOfContainers(obj, old, rest)...)
	if len(errs) == 0 && !gotext.Same("PodSpec", rest, old.At("spec")) {
		errs = append(errs, field.Forbidden(podSpecPath, "only cpu and memory resources are mutable"))
	}
	return errs
}

// nodeResizes reports whether the kubelet that runs the pod told what its containers really have.
func nodeResizes(pod object.Object) bool {
	for _, c := range pod.Objects("status", "containerStatuses") {
		if c.Has("state", "running") {
			return c.Has("resources")
		}
	}
	return true
}

func hasPodResources(pod object.Object) bool {
	return len(pod.Map("spec", "resources", "requests"))+len(pod.Map("spec", "resources", "limits")) > 0
}

// resizeOfPod checks the resources of the pod as a whole, and sets cpu and memory in rest back to what they were.
func resizeOfPod(rest, old object.Object) field.ErrorList {
	p := podSpecPath.Child("resources")
	before, now := old.At("resources"), rest.At("resources")
	if before != nil && now == nil {
		return field.ErrorList{field.Forbidden(p, "pod-level resources cannot be removed")}
	}
	var errs field.ErrorList
	for _, list := range []string{"requests", "limits"} {
		if removedResources(now.Map(list), before.Map(list)) {
			errs = append(errs, field.Forbidden(p.Child(list), "pod-level resource "+list+" cannot be removed"))
		}
	}
	keepComputeResources(now, before)
	if before == nil && len(now.Map("requests"))+len(now.Map("limits"))+len(now.List("claims")) == 0 {
		delete(rest, "resources")
		now = nil
	}
	if (now == nil) != (before == nil) || !gotext.Same("ResourceRequirements", now, before) {
		errs = append(errs, field.Forbidden(podSpecPath, "only cpu and memory resources are mutable at pod-level"))
	}
	return errs
}

// keepComputeResources sets cpu and memory of resources back to what they were.
func keepComputeResources(resources, old object.Object) {
	for _, list := range []string{"requests", "limits"} {
		for _, name := range []string{"cpu", "memory"} {
			if v, ok := old.Get(list, name); ok {
				resources.Set(v, list, name)
			} else {
				resources.Remove(list, name)
			}
		}
	}
}

func removedResources(now, before map[string]any) bool {
	for name := range before { // order does not matter
		if _, ok := now[name]; !ok {
			return true
		}
	}
	return false
}

// sameContainers checks that the containers are the same ones in the same order.
func sameContainers(obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	for _, list := range []string{"containers", "initContainers"} {
		now, before := obj.Objects("spec", list), old.Objects("spec", list)
		if len(now) != len(before) {
			errs = append(errs, field.Forbidden(podSpecPath.Child(list), list+" may not be added or removed on resize"))
			continue
		}
		for i := range before {
			if now[i].String("name") != before[i].String("name") {
				errs = append(errs, field.Forbidden(podSpecPath.Child(list).Index(i).Child("name"), list+" may not be renamed or reordered on resize"))
			}
		}
	}
	return errs
}

// resizeOfContainers checks the resources of each container, and sets cpu and memory in rest back to what they were.
func resizeOfContainers(obj, old, rest object.Object) field.ErrorList {
	var errs field.ErrorList
	for _, list := range []string{"initContainers", "containers"} {
		before := old.Objects("spec", list)
		for i, c := range obj.Objects("spec", list) {
			for _, kind := range []string{"requests", "limits"} {
				if removedResources(c.Map("resources", kind), before[i].Map("resources", kind)) {
					errs = append(errs, field.Forbidden(podSpecPath.Child(list).Index(i).Child("resources", kind), "resource "+kind+" cannot be removed"))
				}
			}
		}
	}
	before := old.Objects("spec", "containers")
	for i, c := range rest.Objects("containers") {
		if setBack(c, before[i]); !gotext.Same("Container", c, before[i]) {
			errs = append(errs, field.Forbidden(podSpecPath, "only cpu and memory resources are mutable"))
		}
	}
	before = old.Objects("spec", "initContainers")
	for i, c := range rest.Objects("initContainers") {
		p, changed := podSpecPath.Child("initContainers").Index(i), !gotext.Same("Container", c, before[i])
		if setBack(c, before[i]); !gotext.Same("Container", c, before[i]) {
			errs = append(errs, field.Forbidden(p, "only cpu and memory resources for init or sidecar containers are mutable"))
		}
		for _, policy := range c.Objects("resizePolicy") {
			if changed && !podspec.IsSidecar(c) && podspec.RestartsContainer(policy) {
				errs = append(errs, field.Forbidden(p, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
			}
		}
	}
	return errs
}

// setBack gives a container the cpu and memory it had. Its claims are dropped, as the server does before it compares.
func setBack(c, old object.Object) {
	c.SetDefault(map[string]any{}, "resources")
	resources := c.At("resources")
	keepComputeResources(resources, old.At("resources"))
	delete(resources, "claims")
}
