package core

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// oldInitAnnotations are the annotations that contained init containers before 1.6. The server drops them.
var oldInitAnnotations = []string{"pod.beta.kubernetes.io/init-containers", "pod.alpha.kubernetes.io/init-containers",
	"pod.beta.kubernetes.io/init-container-statuses", "pod.alpha.kubernetes.io/init-container-statuses"}

// defaultPod sets the defaults of a pod, and applies the changes that its conversion to the internal version makes.
func defaultPod(obj object.Object) {
	spec := kind.ObjectAt(obj, "spec")
	podspec.Default(spec)
	if grace, ok := spec.Int("terminationGracePeriodSeconds"); ok && grace < 0 {
		spec["terminationGracePeriodSeconds"] = int64(1)
	}
	host := spec.True("hostNetwork")
	for _, list := range podContainers {
		object.EachObject(spec.List(list), func(_ int, c object.Object) {
			limitsBecomeRequests(c.At("resources"))
			if host {
				for _, port := range c.Objects("ports") {
					kind.SetZero(port, port.Int64("containerPort"), "hostPort")
				}
			}
		})
	}
	spec.SetDefault(true, "enableServiceLinks")
	mirrorPodIP(obj)
	annotations := obj.Map("metadata", "annotations")
	for _, key := range oldInitAnnotations {
		delete(annotations, key)
	}
}

// defaultResources sets the defaults of the pod-level resources if the gate PodLevelResourcesFixDefaulting is disabled.
func defaultResources(pod object.Object) { podspec.DefaultResources(pod.At("spec")) }

// limitsBecomeRequests copies each limit of a container to its requests, unless the container already has such a request. For empty
// limits it creates empty requests, which error messages show.
func limitsBecomeRequests(resources object.Object) {
	limits := resources.Map("limits")
	if limits == nil {
		return
	}
	requests := kind.ObjectAt(resources, "requests")
	for name, q := range limits { // order does not matter
		requests.SetDefault(q, name)
	}
}

// mirrorPodIP keeps status.podIP, the older field, equal to the first of status.podIPs. If both are set, podIP takes
// precedence.
func mirrorPodIP(obj object.Object) {
	ip, ips := obj.String("status", "podIP"), podIP(obj)
	switch {
	case ip == "" && ips != "":
		obj.Set(ips, "status", "podIP")
	case ip != ips:
		obj.Set([]any{map[string]any{"ip": ip}}, "status", "podIPs")
	}
}

// prepareNewPod sets the initial status of a pod, and merges matchLabelKeys into the label selectors of its terms. Before
// 1.37 a client may choose the QoS class in the status.
func prepareNewPod(ctx *resource.Context, obj object.Object) {
	spec := obj.At("spec")
	if ctx.Enabled("PodLevelResourcesFixDefaulting") {
		podspec.CompleteResources(spec)
	}
	class := obj.String("status", "qosClass")
	if class == "" || ctx.Since(37) {
		class = podspec.QosClass(ctx, spec)
	}
	status := map[string]any{"phase": "Pending", "qosClass": class}
	if len(spec.List("schedulingGates")) > 0 {
		status["conditions"] = []any{map[string]any{
			"type": "PodScheduled", "status": "False", "lastProbeTime": nil, "lastTransitionTime": object.Time(ctx.Now),
			"reason": "SchedulingGated", "message": "Scheduling is blocked due to non-empty scheduling gates",
		}}
	}
	obj["status"] = status
	for _, term := range podspec.AffinityTerms(spec) {
		mergeLabelKeys(term, "In", term.Strings("matchLabelKeys"), obj.Labels())
		mergeLabelKeys(term, "NotIn", term.Strings("mismatchLabelKeys"), obj.Labels())
	}
	for _, constraint := range spec.Objects("topologySpreadConstraints") {
		mergeLabelKeys(constraint, "In", constraint.Strings("matchLabelKeys"), obj.Labels())
	}
	syncAppArmor(ctx, obj)
}

// mergeLabelKeys adds the pod's labels with the given keys to the label selector of a term (KEP-3243, KEP-3633).
func mergeLabelKeys(term object.Object, operator string, keys []string, labels map[string]string) {
	s := term.At("labelSelector")
	if s == nil {
		return
	}
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			s["matchExpressions"] = append(s.List("matchExpressions"), map[string]any{
				"key": key, "operator": operator, "values": []any{value}})
		}
	}
}

// syncAppArmor copies the old AppArmor annotations to the fields (KEP-24).
func syncAppArmor(ctx *resource.Context, obj object.Object) {
	annotations := obj.At("metadata", "annotations")
	if !podspec.NameProfiles(annotations) || obj.String("spec", "os", "name") == "windows" {
		return
	}
	whole := obj.Map("spec", "securityContext", "appArmorProfile")
	for c := range podspec.Containers(obj.At("spec")) {
		key := podspec.AppArmorPrefix + c.String("name")
		annotation, ok := annotations[key].(string)
		if !ok || c.Has("securityContext", "appArmorProfile") {
			continue
		}
		profile := podspec.AppArmorOf(annotation)
		if profile != nil && whole != nil && object.SemanticEqual(profile, whole) {
			continue
		}
		if profile != nil {
			c.Set(profile, "securityContext", "appArmorProfile")
		}
		ctx.Warn("metadata.annotations[" + key + `]: deprecated since v1.30; use the "appArmorProfile" field instead`)
	}
}

// preparePod resets the fields that the requested endpoint must not change.
func preparePod(ctx *resource.Context, obj, old object.Object) {
	switch ctx.Subresource {
	case "status":
		preparePodStatus(ctx, obj, old)
		return
	case "ephemeralcontainers":
		added := obj.List("spec", "ephemeralContainers")
		keepPod(obj, old)
		if len(added) == 0 {
			obj.Remove("spec", "ephemeralContainers")
		} else {
			obj.Set(added, "spec", "ephemeralContainers")
		}
	case "resize":
		prepareResize(obj, old)
		keepResources(ctx, obj, old)
		if ctx.Enabled("PodLevelResourcesFixDefaulting") {
			podspec.CompleteResources(obj.At("spec"))
		}
	default:
		keepResources(ctx, obj, old)
	}
}

// keepResources keeps the pod-level resources if the client does not send them.
func keepResources(ctx *resource.Context, obj, old object.Object) {
	if was := old.At("spec", "resources"); was != nil && !obj.Has("spec", "resources") && ctx.Enabled("PodLevelResourcesFixDefaulting") {
		obj.Set(map[string]any(was.Copy()), "spec", "resources")
	}
}

// keepPod restores the old spec and status of a pod, and those fields of its metadata that clients may set.
func keepPod(obj, old object.Object) {
	kind.KeepOld(obj, old, "spec", "status")
	kind.KeepOld(obj.Metadata(), old.Metadata(), "deletionTimestamp", "selfLink", "labels", "annotations", "finalizers", "ownerReferences")
}

// prepareResize resets everything except the resources and resize policies of containers and the pod-level resources. If
// the update changes the list of containers, it does nothing, and validation reports the error.
func prepareResize(obj, old object.Object) {
	lists := podContainers
	for _, list := range lists {
		if len(obj.List("spec", list)) != len(old.List("spec", list)) {
			return
		}
	}
	resources, resized := obj.At("spec", "resources"), map[string][]any{}
	for _, list := range lists {
		resized[list] = resizeContainers(obj.List("spec", list), old.List("spec", list))
	}
	keepPod(obj, old)
	for _, list := range lists {
		if resized[list] != nil {
			obj.Set(resized[list], "spec", list)
		}
	}
	if resources == nil {
		obj.Remove("spec", "resources")
	} else {
		obj.Set(map[string]any(resources), "spec", "resources")
	}
}

func resizeContainers(list, old []any) []any {
	out := make([]any, len(list))
	for i := range list {
		c, _ := list[i].(map[string]any)
		before, _ := old[i].(map[string]any)
		if c["name"] != before["name"] {
			return list
		}
		merged, _ := object.Copy(before).(map[string]any)
		kind.KeepOld(merged, c, "resources", "resizePolicy")
		out[i] = merged
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// preparePodStatus protects a pod from mistakes of kubelets: it keeps metadata that they used to break, and status fields that
// older ones do not know.
func preparePodStatus(ctx *resource.Context, obj, old object.Object) {
	kind.KeepOld(obj.Metadata(), old.Metadata(), "ownerReferences", "deletionTimestamp")
	status := kind.ObjectAt(obj, "status")
	if class := old.String("status", "qosClass"); class != "" {
		kind.SetEmpty(status, class, "qosClass")
	}
	for _, name := range []string{"resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses"} {
		if was, ok := old.Get("status", name); ok && status[name] == nil && ctx.Since(37) {
			status[name] = object.Copy(was)
		}
	}
	if n := old.Int64("status", "observedGeneration"); n != 0 {
		kind.SetZero(status, n, "observedGeneration")
	}
	before := old.Objects("status", "conditions")
	for _, c := range status.Objects("conditions") {
		i := slices.IndexFunc(before, func(o object.Object) bool { return o.String("type") == c.String("type") })
		if i < 0 {
			continue
		}
		if n := before[i].Int64("observedGeneration"); n != 0 {
			kind.SetZero(c, n, "observedGeneration")
		}
		before = slices.Delete(slices.Clone(before), i, i+1)
	}
}
