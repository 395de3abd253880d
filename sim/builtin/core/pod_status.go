package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

var podStatusPath = field.Root("status")

// validatePodStatus checks a write of pods/status.
func validatePodStatus(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	errs := podRulesOf(ctx, obj, old).annotationUpdates(obj, old)
	status, before, p := obj.At("status"), old.At("status"), podStatusPath
	errs = append(errs, podConditions(status, p.Child("conditions"))...)
	node, had := status.String("nominatedNodeName"), before.String("nominatedNodeName")
	if node != "" && node != had {
		errs = append(errs, field.Check(p.Child("nominatedNodeName"), node, field.DNS1123Subdomain)...)
		if old.String("spec", "nodeName") != "" {
			errs = append(errs, field.Forbidden(p.Child("nominatedNodeName"), "may not be set on pods that are already bound to a node"))
		}
	}
	if n := status.Int64("observedGeneration"); n < 0 {
		errs = append(errs, field.Invalid(p.Child("observedGeneration"), n, "must be a non-negative integer"))
	}
	if class := status.String("qosClass"); class != before.String("qosClass") {
		errs = append(errs, field.Invalid(p.Child("qosClass"), field.Enum(class), field.TextImmutable))
	}
	for _, list := range statusLists {
		errs = append(errs, containerTransitions(obj, old, list, p.Child(list))...)
	}
	errs = append(errs, claimStatuses(obj, p.Child("resourceClaimStatuses"))...)
	errs = append(errs, extendedClaimStatus(obj, p.Child("extendedResourceClaimStatus"))...)
	errs = append(errs, podAddresses(ctx, status, before, "podIPs", "PodIP", p.Child("podIPs"))...)
	if hosts := status.Objects("hostIPs"); len(hosts) > 0 && hosts[0].String("ip") != status.String("hostIP") {
		errs = append(errs, field.Invalid(p.Child("hostIPs").Index(0).Child("ip"), hosts[0].String("ip"), "must be equal to `hostIP`"))
	}
	errs = append(errs, podAddresses(ctx, status, before, "hostIPs", "HostIP", p.Child("hostIPs"))...)
	for _, list := range statusLists {
		errs = append(errs, containerUsers(obj, list, p.Child(list))...)
	}
	for _, list := range statusLists {
		errs = append(errs, allocatedResources(obj, list, p.Child(list))...)
	}
	return errs
}

func podConditions(status object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, c := range status.Objects("conditions") {
		if n := c.Int64("observedGeneration"); n < 0 {
			errs = append(errs, field.Invalid(p.Index(i).Child("observedGeneration"), n, "must be a non-negative integer"))
		}
		if kind := c.String("type"); !slices.Contains([]string{"PodScheduled", "Ready", "Initialized"}, kind) {
			errs = append(errs, field.Check(p.Index(i).Child("Type"), kind, field.QualifiedName)...)
		}
	}
	return errs
}

// containerTransitions checks that a container that ended and is not to be restarted stays ended.
func containerTransitions(obj, old object.Object, list string, p field.Path) field.ErrorList {
	spec := old.At("spec")
	ephemeral := list == "ephemeralContainerStatuses"
	if !ephemeral && restartsTogether(spec) {
		return nil
	}
	containers := spec.Objects(strings.TrimSuffix(list, "Statuses") + "s")
	now := obj.Objects("status", list)
	var errs field.ErrorList
	for i, before := range old.Objects("status", list) {
		name := before.String("name")
		at := slices.IndexFunc(now, func(c object.Object) bool { return c.String("name") == name })
		if !before.Has("state", "terminated") || at < 0 || now[at].Has("state", "terminated") {
			continue
		}
		c := slices.IndexFunc(containers, func(c object.Object) bool { return c.String("name") == name })
		if ephemeral || c < 0 || !restartsAfter(containers[c], spec, before.Int64("state", "terminated", "exitCode")) {
			errs = append(errs, field.Forbidden(p.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// restartsTogether reports whether the exit of one container may restart all of them.
func restartsTogether(spec object.Object) bool {
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range spec.Objects(list) {
			if slices.ContainsFunc(c.Objects("restartPolicyRules"), func(o object.Object) bool { return o.String("action") == "RestartAllContainers" }) {
				return true
			}
		}
	}
	return false
}

// restartsAfter reports whether a container is restarted when it exits with the code: its rules decide, then its own
// policy, then that of the pod.
func restartsAfter(c, spec object.Object, code int64) bool {
	if c.Has("restartPolicy") {
		for _, rule := range c.Objects("restartPolicyRules") {
			if codes := rule.At("exitCodes"); codes != nil && slices.Contains(codes.List("values"), any(code)) == (codes.String("operator") == "In") {
				return true
			}
		}
	}
	switch podspec.Either(c.String("restartPolicy"), spec.String("restartPolicy")) {
	case "OnFailure":
		return code != 0
	case "Never":
		return false
	}
	return true
}

// claimStatuses checks which ResourceClaims were made for the claims of the spec.
func claimStatuses(obj object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	claims := podspec.ContainerNames(obj.Objects("spec", "resourceClaims"))
	var seen []string
	for i, s := range obj.Objects("status", "resourceClaimStatuses") {
		name := s.String("name")
		if !slices.Contains(claims, name) {
			errs = append(errs, field.Invalid(p.Index(i).Child("name"), name, "must match the name of an entry in `spec.resourceClaims`"))
		}
		if slices.Contains(seen, name) {
			errs = append(errs, field.Duplicate(p.Index(i).Child("name"), name))
		}
		seen = append(seen, name)
		if s.Has("resourceClaimName") {
			errs = append(errs, field.Check(p.Index(i).Child("resourceClaimName"), s.String("resourceClaimName"), field.DNS1123Subdomain)...)
		}
	}
	return errs
}

// extendedClaimStatus checks the ResourceClaim that was made for extended resources (KEP-5004).
func extendedClaimStatus(obj object.Object, p field.Path) field.ErrorList {
	status := obj.At("status", "extendedResourceClaimStatus")
	if status == nil {
		return nil
	}
	containers := map[string]object.Object{}
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range obj.Objects("spec", list) {
			containers[c.String("name")] = c
		}
	}
	mappings, at := status.Objects("requestMappings"), p.Child("requestMappings")
	var errs field.ErrorList
	if len(mappings) == 0 {
		errs = append(errs, field.Required(at, "at least one request mapping is required"))
	}
	seen := map[[3]string]bool{}
	for i, m := range mappings {
		container, name, request := m.String("containerName"), m.String("resourceName"), m.String("requestName")
		if c, ok := containers[container]; !ok {
			errs = append(errs, field.Invalid(at.Index(i).Child("containerName"), container, "must match the name of an entry in spec.initContainers.name or spec.containers.name"))
		} else if !c.Has("resources", "requests", name) {
			errs = append(errs, field.Invalid(at.Index(i).Child("resourceName"), name,
				"must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests"))
		}
		errs = append(errs, field.Check(p.Child("requestName"), request, field.DNS1123Label)...)
		if key := [3]string{container, name, request}; seen[key] {
			for j, f := range []string{"containerName", "resourceName", "requestName"} {
				errs = append(errs, field.Duplicate(at.Index(i).Child(f), key[j]))
			}
		} else {
			seen[key] = true
		}
	}
	if name := status.String("resourceClaimName"); name != "" {
		return append(errs, field.Check(p.Child("resourceClaimName"), name, field.DNS1123Subdomain)...)
	}
	return append(errs, field.Required(p.Child("resourceClaimName"), ""))
}

// podAddresses checks the addresses of a pod or its host: at most one of each family. Addresses from before may stay.
func podAddresses(ctx *resource.Context, status, old object.Object, list string, t gotext.Type, p field.Path) field.ErrorList {
	var before []string
	for _, o := range old.Objects(list) {
		before = append(before, o.String("ip"))
	}
	ips := status.Objects(list)
	var errs field.ErrorList
	families := map[bool]bool{}
	unreadable := -1
	for i, o := range ips {
		ip := o.String("ip")
		if !slices.Contains(before, ip) {
			errs = append(errs, kind.ValidateIP(ctx, p.Index(i), ip)...)
		}
		if _, ok := field.ParseIP(ip); unreadable < 0 && !ok {
			unreadable = i
		}
		families[strings.Contains(ip, ":")] = true
	}
	if len(ips) < 2 {
		return errs
	}
	if unreadable >= 0 {
		errs = append(errs, field.Internal(p, fmt.Errorf("failed to check for dual stack with error:invalid IP[%d]: %s",
			unreadable, ips[unreadable].String("ip"))))
	}
	if unreadable >= 0 || len(families) < 2 || len(ips) > 2 {
		errs = append(errs, field.Invalid(p, gotext.Values(t, status.List(list)), "may specify no more than one IP for each IP family"))
	}
	return errs
}

// containerUsers checks the user that a container runs as, by operating system.
func containerUsers(obj object.Object, list string, p field.Path) field.ErrorList {
	var errs field.ErrorList
	system := podspec.Either(obj.String("spec", "os", "name"), "linux")
	for i, c := range obj.Objects("status", list) {
		user, at := c.At("user", "linux"), p.Index(i).Child("user", "linux")
		switch {
		case user == nil:
		case system == "windows":
			errs = append(errs, field.Forbidden(at, "cannot be set for a windows pod"))
		case system == "linux":
			errs = append(errs, field.Messages(at.Child("uid"), user.Int64("uid"), field.UserID(user.Int64("uid")))...)
			errs = append(errs, field.Messages(at.Child("gid"), user.Int64("gid"), field.UserID(user.Int64("gid")))...)
			for j, v := range user.List("supplementalGroups") {
				id, _ := v.(int64)
				errs = append(errs, field.Messages(at.Child("supplementalGroups").Index(j), id, field.UserID(id))...)
			}
		}
	}
	return errs
}

// allocatedResources checks the health of the devices that a container has (KEP-4680).
func allocatedResources(obj object.Object, list string, p field.Path) field.ErrorList {
	var errs field.ErrorList
	containers := obj.Objects("spec", strings.TrimSuffix(list, "Statuses")+"s")
	for i, c := range obj.Objects("status", list) {
		at, allocated := p.Index(i).Child("allocatedResourcesStatus"), c.Objects("allocatedResourcesStatus")
		if list == "ephemeralContainerStatuses" {
			if len(allocated) > 0 {
				errs = append(errs, field.Forbidden(at, "must not be specified in container status"))
			}
			continue
		}
		n := slices.IndexFunc(containers, func(o object.Object) bool { return o.String("name") == c.String("name") })
		for j, a := range allocated {
			if n >= 0 {
				errs = append(errs, allocatedName(containers[n], a.String("name"), at.Index(j).Child("name"))...)
			}
			errs = append(errs, deviceHealth(a, at.Index(j).Child("resources"))...)
		}
	}
	return errs
}

func allocatedName(c object.Object, name string, p field.Path) field.ErrorList {
	if !strings.HasPrefix(name, "claim:") {
		if c.Has("resources", "requests", name) {
			return nil
		}
		return field.ErrorList{field.Invalid(p, field.Enum(name), "must match one of the container's resource requests")}
	}
	for _, claim := range c.Objects("resources", "claims") {
		own := "claim:" + claim.String("name")
		if request := claim.String("request"); request != "" {
			own += "/" + request
		}
		if own == name {
			return nil
		}
	}
	return field.ErrorList{field.Invalid(p, field.Enum(name),
		"must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty")}
}

const healthMessageMax = 1024

func deviceHealth(allocated object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	var seen []string
	for i, r := range allocated.Objects("resources") {
		errs = append(errs, field.MustBeOneOf(p.Index(i).Child("health"), r.String("health"), "Healthy", "Unhealthy", "Unknown")...)
		if text := r.String("message"); r.Has("message") && text == "" {
			errs = append(errs, field.Required(p.Index(i).Child("message"), "must be non-empty if specified"))
		} else if len(text) > healthMessageMax {
			errs = append(errs, field.TooLong(p.Index(i).Child("message"), healthMessageMax))
		}
		if id := r.String("resourceID"); slices.Contains(seen, id) {
			errs = append(errs, field.Duplicate(p.Index(i).Child("resourceID"), field.Enum(id)))
		} else {
			seen = append(seen, id)
		}
	}
	return errs
}

// inStatuses returns the path in all container statuses of a pod.
func inStatuses(path string) []string {
	var out []string
	for _, list := range statusLists {
		out = append(out, "status."+list+".*."+path)
	}
	return out
}

// statusLists are the lists of container states in a pod's status.
var statusLists = []string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}
