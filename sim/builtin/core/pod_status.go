package core

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// validatePodStatus checks a write to pods/status.
func validatePodStatus(ctx *resource.Context, pod field.Cursor) {
	podRulesOf(ctx, pod).annotationUpdates()
	at, before := pod.Child("status"), pod.Old().At("status")
	for c := range at.Each("conditions") {
		c.Child("observedGeneration").Min(0, "must be a non-negative integer")
		if kind := c.Child("type").OrEmpty().ReportAt(c.Child("Type")); !slices.Contains([]string{"PodScheduled", "Ready", "Initialized"}, kind.String()) {
			kind.Check(field.QualifiedName)
		}
	}
	if node := at.Child("nominatedNodeName"); node.String() != "" && node.String() != before.String("nominatedNodeName") {
		node.Check(field.DNS1123Subdomain).ForbidIf(pod.Old().String("spec", "nodeName") != "", "may not be set on pods that are already bound to a node")
	}
	at.Child("observedGeneration").Min(0, "must be a non-negative integer")
	if at.String("qosClass") != before.String("qosClass") {
		at.Child("qosClass").InvalidEnum(field.TextImmutable)
	}
	for _, list := range statusLists {
		containerTransitions(at.Child(list), list, pod.Old())
	}
	claimStatuses(at, pod.Object())
	if claim := at.Child("extendedResourceClaimStatus"); claim.Has() {
		extendedClaimStatus(claim, pod.Object())
	}
	volumeHealth(at.Child("volumeHealth"), pod.Object())
	podAddresses(ctx, at.Child("podIPs"), before.Objects("podIPs"), gotext.PodIP)
	if ctx.Since(37) {
		samePodIP(at)
	}
	host := at.Child("hostIPs").Index(0).Child("ip").OrEmpty()
	host.InvalidIf(at.Len("hostIPs") > 0 && host.String() != at.String("hostIP"), "must be equal to `hostIP`")
	podAddresses(ctx, at.Child("hostIPs"), before.Objects("hostIPs"), gotext.HostIP)
	system := cmp.Or(pod.String("spec", "os", "name"), "linux")
	for _, list := range statusLists {
		for c := range at.Each(list) {
			containerUser(ctx, c.Child("user", "linux"), system)
		}
	}
	for _, list := range statusLists {
		allocatedResources(ctx, at.Child(list), list, pod.Object())
	}
}

// containerTransitions checks that a container that has terminated and must not restart remains terminated.
func containerTransitions(at field.Cursor, list string, old object.Object) {
	spec := old.At("spec")
	ephemeral := list == "ephemeralContainerStatuses"
	if !ephemeral && restartsTogether(spec) {
		return
	}
	containers, now := spec.Objects(strings.TrimSuffix(list, "Statuses")+"s"), object.ObjectsOf(at.List())
	for i, before := range old.Objects("status", list) {
		c := named(now, before.String("name"))
		if !before.Has("state", "terminated") || c == nil || c.Has("state", "terminated") {
			continue
		}
		c = named(containers, before.String("name"))
		at.Index(i).Child("state").ForbidIf(ephemeral || c == nil || !restartsAfter(c, spec, before.Int64("state", "terminated", "exitCode")),
			"may not be transitioned to non-terminated state")
	}
}

// named returns the first object in the list with the given name, or nil.
func named(list []object.Object, name string) object.Object {
	for _, o := range list {
		if o.String("name") == name {
			return o
		}
	}
	return nil
}

// restartsTogether reports whether the exit of one container may restart all of them.
func restartsTogether(spec object.Object) bool {
	for _, list := range podContainers {
		for _, c := range spec.Objects(list) {
			if slices.ContainsFunc(c.Objects("restartPolicyRules"), func(o object.Object) bool { return o.String("action") == "RestartAllContainers" }) {
				return true
			}
		}
	}
	return false
}

// restartsAfter reports whether a container restarts after it exits with the code. The restart rules of the container take
// precedence over its restart policy, which takes precedence over that of the pod.
func restartsAfter(c, spec object.Object, code int64) bool {
	if c.Has("restartPolicy") {
		for _, rule := range c.Objects("restartPolicyRules") {
			if codes := rule.At("exitCodes"); codes != nil && slices.Contains(codes.List("values"), any(code)) == (codes.String("operator") == "In") {
				return true
			}
		}
	}
	switch cmp.Or(c.String("restartPolicy"), spec.String("restartPolicy")) {
	case "OnFailure":
		return code != 0
	case "Never":
		return false
	}
	return true
}

// claimStatuses checks the ResourceClaims that were created for the claims in the spec.
func claimStatuses(at field.Cursor, pod object.Object) {
	claims, seen := kind.Texts(pod.Objects("spec", "resourceClaims"), "name"), field.Seen{}
	for s := range at.Each("resourceClaimStatuses") {
		name := s.Child("name").OrEmpty()
		name.InvalidIf(!slices.Contains(claims, name.String()), "must match the name of an entry in `spec.resourceClaims`").Unique(seen)
		s.Child("resourceClaimName").Check(field.DNS1123Subdomain)
	}
}

// extendedClaimStatus checks the ResourceClaim that was created for extended resources (KEP-5004).
func extendedClaimStatus(at field.Cursor, pod object.Object) {
	containers := append(pod.Objects("spec", "containers"), pod.Objects("spec", "initContainers")...)
	seen := map[[3]string]bool{}
	for m := range at.Child("requestMappings").Required("at least one request mapping is required").Each() {
		container, name, request := m.Child("containerName").OrEmpty(), m.Child("resourceName").OrEmpty(), m.Child("requestName").OrEmpty()
		if c := named(containers, container.String()); c == nil {
			container.Invalid(container.Value(), "must match the name of an entry in spec.initContainers.name or spec.containers.name")
		} else {
			name.InvalidIf(!c.Has("resources", "requests", name.String()),
				"must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests")
		}
		request.ReportAt(at.Child("requestName")).Check(field.DNS1123Label)
		if key := [3]string{container.String(), name.String(), request.String()}; seen[key] {
			for _, part := range []field.Cursor{container, name, request} {
				part.Duplicate(part.Value())
			}
		} else {
			seen[key] = true
		}
	}
	at.Child("resourceClaimName").Required().Check(field.DNS1123Subdomain)
}

// podAddresses checks the addresses of a pod or its host. There may be at most one address of each family. Addresses that
// are already stored are not checked.
func podAddresses(ctx *resource.Context, list field.Cursor, before []object.Object, t gotext.Type) {
	families, unreadable := map[bool]bool{}, ""
	for i := range list.List() {
		o := list.Index(i)
		ip := o.String("ip")
		if !slices.ContainsFunc(before, func(old object.Object) bool { return old.String("ip") == ip }) {
			o.With(ip).Check(kind.IP(ctx))
		}
		if _, ok := field.ParseIP(ip); unreadable == "" && !ok {
			unreadable = fmt.Sprintf("invalid IP[%d]: %s", i, ip)
		}
		families[strings.Contains(ip, ":")] = true
	}
	if list.Len() < 2 {
		return
	}
	if unreadable != "" {
		list.Report(field.ErrorList{field.Internal(list.Path(), errors.New("failed to check for dual stack with error:"+unreadable))})
	}
	if unreadable != "" || len(families) < 2 || list.Len() > 2 {
		list.Invalid(gotext.Values(t, list.List()), "may specify no more than one IP for each IP family")
	}
}

// samePodIP checks that podIP is the first of podIPs.
func samePodIP(at field.Cursor) {
	ip, ips := at.String("podIP"), at.Child("podIPs")
	switch first := ips.Index(0).Child("ip").OrEmpty(); {
	case (ip != "") != (ips.Len() > 0):
		ips.Invalid(gotext.Values(gotext.PodIP, ips.List()), "podIP and podIPs must either both be set or both be unset")
	case ips.Len() > 0:
		first.InvalidIf(first.String() != ip, "must be equal to `podIP`")
	}
}

// volumeHealth checks the reported health of the pod's volumes (KEP-5729).
func volumeHealth(at field.Cursor, pod object.Object) {
	volumes := kind.Texts(pod.Objects("spec", "volumes"), "name")
	seen := field.Seen{}
	for v := range at.Each() {
		name := v.String("name")
		v.Declared(true, func(v field.Cursor) field.Cursor { return v.UniqueBy(seen, name) })
		v.Child("name").Declared(true, field.Cursor.Given)
		if name := v.Child("name"); name.String() != "" && !slices.Contains(volumes, name.String()) {
			name.NotFound(name.Value())
		}
		healthConditions(v.Child("healthConditions"))
	}
}

// healthConditions checks the conditions of a volume's health.
func healthConditions(at field.Cursor) {
	for c := range at.Each() {
		c.Child("reason").IfGiven().Check(field.ConditionReason)
	}
	at.Declared(true, declaredHealth)
}

const (
	maxHealthConditions = 16
	maxHealthReason     = 256
)

// declaredHealth applies the declarative validation of the conditions (core/v1.Validate_VolumeHealthCondition).
func declaredHealth(list field.Cursor) field.Cursor {
	if list = list.MaxItems(maxHealthConditions); list.Updates() && !list.Changed() {
		return list
	}
	seen := field.Seen{}
	for c := range list.Each() {
		c.UniqueBy(seen, c.String("status")+"/"+c.String("reason"))
	}
	for c := range list.Each() {
		c.Child("status").Required().OneOf("DataLoss", "Degraded", "Inaccessible")
		c.Child("reason").Required().MaxBytes(maxHealthReason)
		c.Child("message").MaxBytes(healthMessageMax)
	}
	return list
}

// containerUser checks the user that a container runs as. The rules depend on the operating system.
func containerUser(ctx *resource.Context, at field.Cursor, system string) {
	switch {
	case !at.Has():
	case system == "windows":
		at.Forbidden("cannot be set for a windows pod")
	case system == "linux":
		uid := at.Child("uid").OrZero()
		if ctx.Since(37) { // the container runtime may report any valid Linux uid
			uid.Range(0, math.MaxUint32)
		} else {
			uid.CheckInt(field.UserID)
		}
		at.Child("gid").OrZero().CheckInt(field.UserID)
		for id := range at.Each("supplementalGroups") {
			id.CheckInt(field.UserID)
		}
	}
}

// allocatedResources checks the health of a container's devices (KEP-4680).
func allocatedResources(ctx *resource.Context, statuses field.Cursor, list string, pod object.Object) {
	containers := pod.Objects("spec", strings.TrimSuffix(list, "Statuses")+"s")
	for s := range statuses.Each() {
		at := s.Child("allocatedResourcesStatus")
		if list == "ephemeralContainerStatuses" {
			at.ForbidIf(at.Len() > 0, "must not be specified in container status")
			continue
		}
		c := named(containers, s.String("name"))
		for allocated := range at.Each() {
			if c != nil {
				allocatedName(ctx, allocated.Child("name"), c, pod)
			}
			deviceHealth(allocated)
		}
	}
}

// allocatedName checks that the container requested a device: as a resource, through a claim, or, since 1.37, through the claim
// that was created for its extended resources.
func allocatedName(ctx *resource.Context, at field.Cursor, c, pod object.Object) {
	name := at.String()
	if !strings.HasPrefix(name, "claim:") {
		if !c.Has("resources", "requests", name) {
			at.InvalidEnum("must match one of the container's resource requests")
		}
		return
	}
	for _, claim := range c.Objects("resources", "claims") {
		own := "claim:" + claim.String("name")
		if request := claim.String("request"); request != "" {
			own += "/" + request
		}
		if own == name {
			return
		}
	}
	switch {
	case !ctx.Since(37):
		at.InvalidEnum("must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty")
	case !madeForExtended(name, c, pod.At("status", "extendedResourceClaimStatus")):
		at.InvalidEnum("must match one of the container's resource claims as 'claim:<claimName>/<requestName>' " +
			"when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty")
	}
}

// madeForExtended reports whether a name of the form claim:NAME/REQUEST is a request for an extended resource of the
// container (core/validation.matchesExtendedResourceClaimStatus).
func madeForExtended(name string, c, made object.Object) bool {
	claim, request, _ := strings.Cut(strings.TrimPrefix(name, "claim:"), "/")
	if request == "" || claim == "" || claim != made.String("resourceClaimName") {
		return false
	}
	return slices.ContainsFunc(made.Objects("requestMappings"), func(m object.Object) bool {
		asked, ok := c.Get("resources", "requests", m.String("resourceName"))
		return m.String("containerName") == c.String("name") && m.String("requestName") == request && ok && quantity.Of(asked).Sign() != 0
	})
}

const healthMessageMax = 1024

func deviceHealth(allocated field.Cursor) {
	seen := field.Seen{}
	for r := range allocated.Each("resources") {
		r.Child("health").OrEmpty().OneOf("Healthy", "Unhealthy", "Unknown")
		text := r.Child("message")
		text.RequireIf(text.Has() && text.String() == "", "must be non-empty if specified").MaxBytes(healthMessageMax)
		r.Child("resourceID").OrEmpty().AsEnum().UniqueBy(seen, r.String("resourceID"))
	}
}

// inStatuses returns the paths of a field in all lists of container statuses of a pod.
func inStatuses(path string) []string {
	var out []string
	for _, list := range statusLists {
		out = append(out, "status."+list+".*."+path)
	}
	return out
}

// statusLists are the lists of container statuses in a pod's status.
var statusLists = []string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}
