package core

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// validateEphemeralUpdate checks a write to pods/ephemeralcontainers, which may only add containers.
func validateEphemeralUpdate(r podRules) {
	if r.isStatic() {
		r.forbidWhole("static pods do not support ephemeral containers")
		return
	}
	r.annotationsAndSpec()
	r.annotationUpdates()
	at, now := r.spec.Child("ephemeralContainers"), r.Spec.Objects("ephemeralContainers")
	slices.Reverse(now) // if several containers have the same name, the last one counts
	for _, before := range r.old.Objects("spec", "ephemeralContainers") {
		which := "existing ephemeral containers " + strconv.Quote(before.String("name"))
		if c := named(now, before.String("name")); c == nil {
			at.Forbidden(which + " may not be removed\n")
		} else if !gotext.Same(gotext.EphemeralContainer, c, before) {
			at.Forbidden(which + " may not be changed\n" + gotext.Diff(gotext.EphemeralContainer, before, c))
		}
	}
}

// isStatic reports whether the pod is the mirror of a static pod.
func (r podRules) isStatic() bool {
	return r.old.Has("metadata", "annotations", podspec.MirrorAnnotation)
}

func (r podRules) forbidWhole(text string) {
	r.pod.Report(field.ErrorList{field.Forbidden(podspec.Whole, text)})
}

// validateResize checks a write to pods/resize, which may only change cpu and memory (KEP-1287).
func validateResize(r podRules) {
	switch {
	case r.isStatic():
		r.forbidWhole("static pods cannot be resized")
		return
	case r.old.String("spec", "os", "name") == "windows":
		r.forbidWhole("windows pods cannot be resized")
		return
	}
	r.annotationsAndSpec()
	was := r.old.At("spec")
	if cmp.Or(r.old.String("status", "qosClass"), r.QosClass(was)) != r.QosClass(r.Spec) {
		r.spec.Invalid(field.Enum(r.pod.String("status", "qosClass")), "Pod QOS Class may not change as a result of resizing")
	}
	r.spec.ForbidIf(!nodeResizes(r.old), "Pod running on node without support for resize")
	rest := r.Spec.Copy()
	if hasPodResources(r.Spec) || hasPodResources(was) {
		r.resizeOfPod(rest, was)
	}
	r.spec.ForbidIf(len(r.old.List("status", "nodeAllocatableResourceClaimStatuses")) > 0, "pods with node allocatable resource claims cannot be resized")
	if !r.sameContainers(was) {
		return
	}
	r.resizeOfContainers(was, rest)
	r.spec.ForbidIf(len(r.spec.Errors()) == 0 && !gotext.Same(gotext.PodSpec, rest, was), "only cpu and memory resources are mutable")
}

// nodeResizes reports whether the pod's kubelet publishes the actual resources of its containers. It also returns true if no
// container is running.
func nodeResizes(pod object.Object) bool {
	for _, c := range pod.Objects("status", "containerStatuses") {
		if c.Has("state", "running") {
			return c.Has("resources")
		}
	}
	return true
}

func hasPodResources(spec object.Object) bool {
	return len(spec.Map("resources", "requests"))+len(spec.Map("resources", "limits")) > 0
}

// resizeOfPod checks the pod-level resources, and resets cpu and memory in rest to their old values.
func (r podRules) resizeOfPod(rest, old object.Object) {
	at, before, now := r.spec.Child("resources"), old.At("resources"), rest.At("resources")
	if before != nil && now == nil {
		at.Forbidden("pod-level resources cannot be removed")
		return
	}
	removedResources(at, before, "pod-level resource ")
	keepComputeResources(now, before)
	if before == nil && len(now.Map("requests"))+len(now.Map("limits"))+len(now.List("claims")) == 0 {
		delete(rest, "resources")
		now = nil
	}
	r.spec.ForbidIf((now == nil) != (before == nil) || !gotext.Same(gotext.ResourceRequirements, now, before),
		"only cpu and memory resources are mutable at pod-level")
}

// removedResources checks that an update did not remove any requests or limits.
func removedResources(at field.Cursor, before object.Object, what string) {
	for _, list := range []string{"requests", "limits"} {
		for name := range before.Map(list) { // order does not matter
			if !at.Has(list, name) {
				at.Child(list).Forbidden(what + list + " cannot be removed")
				break
			}
		}
	}
}

// keepComputeResources resets cpu and memory to their old values.
func keepComputeResources(resources, old object.Object) {
	for _, list := range []string{"requests", "limits"} {
		for _, name := range []string{"cpu", "memory"} {
			kind.KeepAt(resources, old, list, name)
		}
	}
}

// sameContainers checks that the pod has the same containers in the same order.
func (r podRules) sameContainers(old object.Object) bool {
	n := len(r.spec.Errors())
	for _, list := range podContainers {
		at, now, before := r.spec.Child(list), kind.Texts(r.Spec.Objects(list), "name"), kind.Texts(old.Objects(list), "name")
		if len(now) != len(before) {
			at.Forbidden(list + " may not be added or removed on resize")
			continue
		}
		for i := range before {
			at.Index(i).Child("name").ForbidIf(now[i] != before[i], list+" may not be renamed or reordered on resize")
		}
	}
	return len(r.spec.Errors()) == n
}

// resizeOfContainers checks the resources of each container, and resets cpu and memory in rest to their old values.
func (r podRules) resizeOfContainers(old, rest object.Object) {
	for _, list := range []string{"initContainers", "containers"} {
		for i, c := range old.Objects(list) {
			removedResources(r.spec.Child(list).Index(i).Child("resources"), c.At("resources"), "resource ")
		}
	}
	regular, initial := old.Objects("containers"), old.Objects("initContainers")
	for i, c := range rest.Objects("containers") {
		setBack(c, regular[i])
		r.spec.ForbidIf(!gotext.Same(gotext.Container, c, regular[i]), "only cpu and memory resources are mutable")
	}
	for i, c := range rest.Objects("initContainers") {
		at, changed := r.spec.Child("initContainers").Index(i), !gotext.Same(gotext.Container, c, initial[i])
		setBack(c, initial[i])
		at.ForbidIf(!gotext.Same(gotext.Container, c, initial[i]), "only cpu and memory resources for init or sidecar containers are mutable")
		for _, policy := range c.Objects("resizePolicy") {
			at.ForbidIf(changed && !podspec.IsSidecar(c) && podspec.RestartsContainer(policy),
				"non-sidecar init containers with a resize policy of RestartContainer cannot be resized")
		}
	}
}

// setBack resets a container's cpu and memory to their old values. It drops the claims, as the server does before the
// comparison.
func setBack(c, old object.Object) {
	resources := kind.ObjectAt(c, "resources")
	keepComputeResources(resources, old.At("resources"))
	delete(resources, "claims")
}
