package podspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// containers checks the regular containers.
func (r *Rules) containers() field.ErrorList {
	p, list := r.Path.Child("containers"), r.Spec.Objects("containers")
	if len(list) == 0 {
		return field.ErrorList{field.Required(p, "")}
	}
	var errs field.ErrorList
	var names []string
	for i, c := range list {
		at, name := p.Index(i), c.String("name")
		errs = append(errs, r.container(c, at)...)
		if slices.Contains(names, name) {
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		} else {
			names = append(names, name)
		}
		errs = append(errs, r.lifecycleAndProbes(c, at)...)
		errs = append(errs, restartRules(c, at, false)...)
	}
	return append(errs, hostPortConflicts(list, p)...)
}

// initContainers checks the init containers; those with restartPolicy Always are sidecars (KEP-753).
func (r *Rules) initContainers() field.ErrorList {
	p := r.Path.Child("initContainers")
	var errs field.ErrorList
	names := ContainerNames(r.Spec.Objects("containers"))
	for i, c := range r.Spec.Objects("initContainers") {
		at, name := p.Index(i), c.String("name")
		errs = append(errs, r.container(c, at)...)
		errs = append(errs, restartRules(c, at, true)...)
		if slices.Contains(names, name) {
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		} else if name != "" {
			names = append(names, name)
		}
		errs = append(errs, hostPortConflicts([]object.Object{c}, p)...)
		if IsSidecar(c) {
			errs = append(errs, r.lifecycleAndProbes(c, at)...)
			continue
		}
		for _, f := range []string{"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
			if c.Has(f) {
				errs = append(errs, field.Forbidden(at.Child(f), "may not be set for init containers without restartPolicy=Always"))
			}
		}
		for j, policy := range c.Objects("resizePolicy") {
			if RestartsContainer(policy) && !r.Allow.restartPlainInit {
				errs = append(errs, field.Invalid(at.Child("resizePolicy").Index(j).Child("restartPolicy"), "RestartContainer",
					"must not be set to 'RestartContainer' for non-sidecar initContainers"))
			}
		}
	}
	return errs
}

// IsSidecar reports whether an init container keeps running beside the regular ones.
func IsSidecar(c object.Object) bool { return c.String("restartPolicy") == "Always" }

// ContainerNames returns the names of containers, in order.
func ContainerNames(list []object.Object) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.String("name")
	}
	return names
}

// forbiddenInEphemeral are the fields that an ephemeral container may not set, in the order of the Go struct.
var forbiddenInEphemeral = []string{"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
	"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}

// ephemeralContainers checks the containers that were added to a running pod for debugging.
func (r *Rules) ephemeralContainers() field.ErrorList {
	p := r.Path.Child("ephemeralContainers")
	const text = "cannot be set for an Ephemeral Container"
	var errs field.ErrorList
	others := append(ContainerNames(r.Spec.Objects("containers")), ContainerNames(r.Spec.Objects("initContainers"))...)
	names := slices.Clone(others)
	for i, c := range r.Spec.Objects("ephemeralContainers") {
		at, name := p.Index(i), c.String("name")
		errs = append(errs, r.container(c, at)...)
		errs = append(errs, PaddedImage(c, at)...)
		if slices.Contains(names, name) {
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		} else {
			names = append(names, name)
		}
		if target := c.String("targetContainerName"); target != "" && !slices.Contains(others, target) {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), target))
		}
		for _, f := range forbiddenInEphemeral {
			if m := c.Map(f); c.Has(f) && !(m != nil && len(m) == 0 && f == "resources") {
				errs = append(errs, field.Forbidden(at.Child(f), text))
			}
		}
		for j, mount := range c.Objects("volumeMounts") {
			for _, f := range []string{"subPath", "subPathExpr"} {
				if mount.String(f) != "" {
					errs = append(errs, field.Forbidden(at.Child("volumeMounts").Index(j).Child(f), text))
				}
			}
		}
	}
	return errs
}

// container checks what all containers have in common.
func (r *Rules) container(c object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if name := c.String("name"); name == "" {
		errs = append(errs, field.Required(p.Child("name"), ""))
	} else {
		errs = append(errs, field.Check(p.Child("name"), name, field.DNS1123Label)...)
	}
	errs = append(errs, field.MustBeSet(p.Child("image"), c.String("image"))...)
	errs = append(errs, field.MustBeSetToOneOf(p.Child("terminationMessagePolicy"), c.String("terminationMessagePolicy"), "File", "FallbackToLogsOnError")...)
	errs = append(errs, containerPorts(c, p.Child("ports"))...)
	errs = append(errs, r.env(c, p.Child("env"))...)
	errs = append(errs, envFrom(c, p.Child("envFrom"))...)
	errs = append(errs, r.volumeMounts(c, p.Child("volumeMounts"))...)
	errs = append(errs, r.volumeDevices(c, p.Child("volumeDevices"))...)
	errs = append(errs, checkPullPolicy(p.Child("imagePullPolicy"), c.String("imagePullPolicy"))...)
	errs = append(errs, r.Resources(c.At("resources"), p.Child("resources"), ContainerResourceName)...)
	errs = append(errs, r.resizePolicy(c, p.Child("resizePolicy"))...)
	return append(errs, r.securityContext(c, p.Child("securityContext"))...)
}

func checkPullPolicy(p field.Path, policy string) field.ErrorList {
	return field.MustBeSetToOneOf(p, policy, "Always", "IfNotPresent", "Never")
}

// PaddedImage checks that an image has no blanks around it; templates may have them.
func PaddedImage(c object.Object, p field.Path) field.ErrorList {
	if image := c.String("image"); image != strings.TrimSpace(image) {
		return field.ErrorList{field.Invalid(p.Child("image"), image, "must not have leading or trailing whitespace")}
	}
	return nil
}

func containerPorts(c object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	var names []string
	for i, port := range c.Objects("ports") {
		at := p.Index(i)
		if name := port.String("name"); name != "" {
			switch msgs := field.PortName(name); {
			case len(msgs) > 0:
				errs = append(errs, field.Messages(at.Child("name"), name, msgs)...)
			case slices.Contains(names, name):
				errs = append(errs, field.Duplicate(at.Child("name"), name))
			default:
				names = append(names, name)
			}
		}
		number := port.Int64("containerPort")
		if number == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, field.Messages(at.Child("containerPort"), number, field.PortNumber(number))...)
		}
		if host := port.Int64("hostPort"); host != 0 {
			errs = append(errs, field.Messages(at.Child("hostPort"), host, field.PortNumber(host))...)
		}
		errs = append(errs, field.MustBeSetToOneOf(at.Child("protocol"), port.String("protocol"), "SCTP", "TCP", "UDP")...)
	}
	return errs
}

// hostPortConflicts reports ports of the host that two of the containers want.
func hostPortConflicts(list []object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := map[string]bool{}
	for i, c := range list {
		for j, port := range c.Objects("ports") {
			number := port.Int64("hostPort")
			if number == 0 {
				continue
			}
			key := fmt.Sprintf("%s/%s/%d", port.String("protocol"), port.String("hostIP"), number)
			if taken[key] {
				errs = append(errs, field.Duplicate(p.Index(i).Child("ports").Index(j).Child("hostPort"), key))
			}
			taken[key] = true
		}
	}
	return errs
}

// hostPorts checks the ports of a pod on the host's network: there is no mapping.
func (r *Rules) hostPorts() field.ErrorList {
	if !r.Spec.True("hostNetwork") {
		return nil
	}
	var errs field.ErrorList
	for i, c := range r.Spec.Objects("containers") {
		for j, port := range c.Objects("ports") {
			host := port.Int64("hostPort")
			if (r.isPod() || host != 0) && host != port.Int64("containerPort") {
				errs = append(errs, field.Invalid(r.Path.Child("containers").Index(i).Child("ports").Index(j).Child("hostPort"), host,
					"must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return errs
}

// resizePolicy checks what a change of resources does to a container (KEP-1287).
func (r *Rules) resizePolicy(c object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	var seen []string
	for i, policy := range c.Objects("resizePolicy") {
		name, restart := policy.String("resourceName"), policy.String("restartPolicy")
		if slices.Contains(seen, name) {
			errs = append(errs, field.Duplicate(p.Index(i), field.Enum(name)))
		}
		seen = append(seen, name)
		errs = append(errs, field.MustBeSetToOneOf(p, name, "cpu", "memory")...)
		errs = append(errs, field.MustBeSetToOneOf(p, restart, "NotRequired", "RestartContainer")...)
		if r.Spec.String("restartPolicy") == "Never" && restart != "NotRequired" {
			errs = append(errs, field.Invalid(p, field.Enum(restart), "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
	}
	return errs
}

const (
	restartRulesMax     = 20
	restartExitCodesMax = 255
)

// restartRules checks the restart policy of a container of its own and its rules by exit code (KEP-5307).
func restartRules(c object.Object, p field.Path, init bool) field.ErrorList {
	rules, set := c.Objects("restartPolicyRules"), c.Has("restartPolicy")
	var errs field.ErrorList
	at := p.Child("restartPolicy")
	switch {
	case !set && len(rules) == 0:
		return nil
	case !set:
		errs = append(errs, field.Required(at, "must specify restartPolicy when restart rules are used"))
		if init {
			return errs
		}
	default:
		errs = append(errs, field.MustBeOneOf(at, c.String("restartPolicy"), "Always", "Never", "OnFailure")...)
	}
	if len(rules) > restartRulesMax {
		errs = append(errs, field.TooMany(p.Child("restartPolicyRules"), len(rules), restartRulesMax))
	}
	for i, rule := range rules {
		at := p.Child("restartPolicyRules").Index(i)
		errs = append(errs, field.MustBeOneOf(at.Child("action"), rule.String("action"), "Restart", "RestartAllContainers")...)
		codes := rule.At("exitCodes")
		if codes == nil {
			errs = append(errs, field.Required(at.Child("exitCodes"), "must be specified"))
			continue
		}
		errs = append(errs, field.MustBeOneOf(at.Child("exitCodes", "operator"), codes.String("operator"), "In", "NotIn")...)
		if n := len(codes.List("values")); n > restartExitCodesMax {
			errs = append(errs, field.TooMany(at.Child("exitCodes", "values"), n, restartExitCodesMax))
		}
	}
	return errs
}
