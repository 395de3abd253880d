package podspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// containers checks the regular containers.
func (r *Rules) containers() {
	list := r.at.Child("containers").Required()
	names, taken := field.Seen{}, field.Seen{}
	for c := range list.Each() {
		r.container(c)
		c.Child("name").OrEmpty().Unique(names)
		r.lifecycleAndProbes(c)
		restartRules(c, false)
	}
	for c := range list.Each() {
		hostPortConflicts(c, taken)
	}
}

// initContainers checks the init containers. Those with restartPolicy Always are sidecars (KEP-753).
func (r *Rules) initContainers() {
	if r.at.Len("initContainers") == 0 {
		return
	}
	names := seenNames(r.Spec.Objects("containers"))
	first := r.at.Child("initContainers").Index(0)
	for c := range r.at.Each("initContainers") {
		r.container(c)
		restartRules(c, true)
		if name := c.Child("name"); name.String() != "" || names[""] {
			name.OrEmpty().Unique(names)
		}
		hostPortConflicts(c.ReportAt(first), field.Seen{}) // the server reports the conflict at the first init container
		if IsSidecar(c.Object()) {
			r.lifecycleAndProbes(c)
			continue
		}
		c.ForbidAny("may not be set for init containers without restartPolicy=Always", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
		for policy := range c.Each("resizePolicy") {
			policy.Child("restartPolicy").InvalidIf(RestartsContainer(policy.Object()) && !r.Allow.restartPlainInit(),
				"must not be set to 'RestartContainer' for non-sidecar initContainers")
		}
	}
}

// IsSidecar reports whether an init container keeps running alongside the regular containers.
func IsSidecar(c object.Object) bool { return c.String("restartPolicy") == "Always" }

func seenNames(list ...[]object.Object) field.Seen {
	seen := field.Seen{}
	for _, c := range slices.Concat(list...) {
		seen[c.String("name")] = true
	}
	return seen
}

// ephemeralContainers checks the containers that are added to a running pod for debugging.
func (r *Rules) ephemeralContainers() {
	if r.at.Len("ephemeralContainers") == 0 {
		return
	}
	const text = "cannot be set for an Ephemeral Container"
	others := seenNames(r.Spec.Objects("containers"), r.Spec.Objects("initContainers"))
	names := seenNames(r.Spec.Objects("containers"), r.Spec.Objects("initContainers"))
	for c := range r.at.Each("ephemeralContainers") {
		r.container(c)
		PaddedImage(c)
		c.Child("name").OrEmpty().Unique(names)
		if target := c.String("targetContainerName"); target != "" && !others[target] {
			c.Child("targetContainerName").NotFound(target)
		}
		c.ForbidAny(text, "ports")
		if resources := c.Child("resources"); resources.Len() > 0 || resources.Has() && resources.Object() == nil {
			resources.Forbidden(text)
		}
		c.ForbidAny(text, "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle")
		for mount := range c.Each("volumeMounts") {
			mount.Child("subPath").ForbidIf(mount.String("subPath") != "", text)
			mount.Child("subPathExpr").ForbidIf(mount.String("subPathExpr") != "", text)
		}
	}
}

// container checks the rules that all types of containers share.
func (r *Rules) container(c field.Cursor) {
	c.Child("name").Required().Check(field.DNS1123Label)
	c.Child("image").Required()
	c.Child("terminationMessagePolicy").Required().OneOf("File", "FallbackToLogsOnError")
	containerPorts(c)
	r.env(c)
	envFrom(c.Child("envFrom"))
	r.volumeMounts(c)
	r.volumeDevices(c)
	pullPolicy(c.Child("imagePullPolicy"))
	r.Resources(c.Child("resources"), ContainerResourceName)
	if c.Has("resizePolicy") {
		r.resizePolicy(c.Child("resizePolicy"))
	}
	r.securityContext(c.Child("securityContext"))
}

func pullPolicy(at field.Cursor) { at.Required().OneOf("Always", "IfNotPresent", "Never") }

// PaddedImage checks that an image has no leading or trailing whitespace. Templates may have it.
func PaddedImage(c field.Cursor) {
	if image := c.String("image"); image != strings.TrimSpace(image) {
		c.Child("image").Invalid(image, "must not have leading or trailing whitespace")
	}
}

func containerPorts(c field.Cursor) {
	if c.Len("ports") == 0 {
		return
	}
	names := field.Seen{}
	for port := range c.Each("ports") {
		before := len(port.Errors())
		if name := port.Child("name").IfGiven().Check(field.PortName); name.Has() && len(port.Errors()) == before {
			name.Unique(names)
		}
		port.Child("containerPort").Required().CheckInt(field.PortNumber)
		port.Child("hostPort").IfGiven().CheckInt(field.PortNumber)
		port.Child("protocol").Required().OneOf("SCTP", "TCP", "UDP")
	}
}

// hostPortConflicts reports host ports that are already taken.
func hostPortConflicts(c field.Cursor, taken field.Seen) {
	for port := range c.Each("ports") {
		if number := port.Int64("hostPort"); number != 0 {
			key := fmt.Sprintf("%s/%s/%d", port.String("protocol"), port.String("hostIP"), number)
			port.Child("hostPort").With(key).Unique(taken)
		}
	}
}

// hostPorts checks the host ports of a pod that uses the host's network, which does not map ports.
func (r *Rules) hostPorts() {
	if !r.Spec.True("hostNetwork") {
		return
	}
	for c := range r.at.Each("containers") {
		for port := range c.Each("ports") {
			host := port.Child("hostPort").OrZero()
			host.InvalidIf((r.isPod() || host.Int64() != 0) && host.Int64() != port.Int64("containerPort"),
				"must match `containerPort` when `hostNetwork` is true")
		}
	}
}

// resizePolicy checks the policies for resizing a container (KEP-1287). Most errors have the path of the list.
func (r *Rules) resizePolicy(at field.Cursor) {
	seen := field.Seen{}
	for policy := range at.Each() {
		name := policy.String("resourceName")
		policy.With(field.Enum(name)).UniqueBy(seen, name)
		policy.Child("resourceName").ReportAt(at).Required().OneOf("cpu", "memory")
		policy.Child("restartPolicy").ReportAt(at).Required().OneOf("NotRequired", "RestartContainer")
		if restart := policy.String("restartPolicy"); r.Spec.String("restartPolicy") == "Never" && restart != "NotRequired" {
			at.Invalid(field.Enum(restart), "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
		}
	}
}

const (
	restartRulesMax     = 20
	restartExitCodesMax = 255
)

// restartRules checks the restart policy of a container and its rules for exit codes (KEP-5307).
func restartRules(c field.Cursor, init bool) {
	policy, rules := c.Child("restartPolicy"), c.Child("restartPolicyRules")
	if !policy.Has() {
		policy.RequireIf(rules.Len() > 0, "must specify restartPolicy when restart rules are used")
		if init {
			return
		}
	}
	policy.OneOf("Always", "Never", "OnFailure")
	rules.MaxItems(restartRulesMax)
	for rule := range rules.Each() {
		rule.Child("action").OrEmpty().OneOf("Restart", "RestartAllContainers")
		codes := rule.Child("exitCodes")
		if !codes.Has() {
			codes.Missing("must be specified")
			continue
		}
		codes.Child("operator").OrEmpty().OneOf("In", "NotIn")
		codes.Child("values").MaxItems(restartExitCodesMax)
	}
}
