package admission

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/object"
)

// securityCheck is one row of the Pod Security Standards (Kubernetes documentation, page of that name). Versions are
// minor versions of Kubernetes. A namespace selects the version that applies to its pods.
//
//	level       baseline ──────────────── a baseline row holds for restricted pods, too,
//	                └──▶ restricted       until a stricter row takes its place
type securityCheck struct {
	fault  string // description of the violation
	level  string
	since  int                        // first version with this check
	yields int                        // first version in which restricted pods are exempt; 0 means none
	spares func(evaluatedPod) bool    // reports whether a pod is exempt; nil exempts none
	find   func(evaluatedPod) finding // finds violations
}

// always is a value of yields: restricted pods are exempt in all versions.
const always = 1

// finding is the result of a check. The zero value means no violation.
type finding struct {
	detail string
	many   bool // the fault must be in the plural
}

// securityChecks are all checks, in the order in which violations are reported.
var securityChecks = []securityCheck{
	{fault: "forbidden AppArmor profile", level: baseline, find: findAppArmor},
	{fault: "non-default capabilities", level: baseline, yields: 22, find: findAddedCapabilities},
	{fault: "host namespaces", level: baseline, find: findHostNamespaces},
	{fault: "hostPath volumes", level: baseline, yields: always, find: findHostPaths},
	{fault: "hostPort", level: baseline, find: findHostPorts},
	{fault: "probe or lifecycle host", level: baseline, since: 34, find: findProbeHosts},
	{fault: "privileged", level: baseline, find: findPrivileged},
	{fault: "procMount", level: baseline, yields: 35, spares: evaluatedPod.hasOwnUsers, find: findProcMount},
	{fault: "seLinuxOptions", level: baseline, find: findSELinux},
	{fault: "seccompProfile", level: baseline, yields: 19, find: findSeccomp},
	{fault: "forbidden sysctls", level: baseline, find: findSysctls},
	{fault: "hostProcess", level: baseline, find: findHostProcess},

	{fault: "allowPrivilegeEscalation != false", level: restricted, since: 8, spares: evaluatedPod.isWindows, find: findEscalation},
	{fault: "unrestricted capabilities", level: restricted, since: 22, spares: evaluatedPod.isWindows, find: findKeptCapabilities},
	{fault: "procMount", level: restricted, since: 35, find: findProcMount},
	{fault: "restricted volume types", level: restricted, find: findVolumes},
	{fault: "runAsNonRoot != true", level: restricted, spares: evaluatedPod.hasOwnUsers, find: findRoot},
	{fault: "runAsUser=0", level: restricted, since: 23, spares: evaluatedPod.hasOwnUsers, find: findUserZero},
	{fault: "seccompProfile", level: restricted, since: 19, spares: evaluatedPod.isWindows, find: findMissingSeccomp},
}

// holds reports whether the check applies to a level in one of its versions.
func (c *securityCheck) holds(s security) bool {
	if s.minor < c.since || strictness(s.level) < strictness(c.level) {
		return false
	}
	return s.level == c.level || c.yields == 0 || s.minor < c.yields && c.yields != always
}

// evaluate returns the violations of a level by a pod, without details and with them. Both are "" if the pod complies.
func evaluate(level security, pod object.Object) (faults, details string) {
	if level.level == privileged {
		return "", ""
	}
	var short, long []string
	p := evaluatedPod{pod, level.minor}
	for i := range securityChecks {
		c := &securityChecks[i]
		if !c.holds(level) || c.spares != nil && c.spares(p) {
			continue
		}
		found := c.find(p)
		if found.detail == "" {
			continue
		}
		fault := c.fault
		if found.many {
			fault += "s"
		}
		short = append(short, fault)
		long = append(long, fault+" ("+found.detail+")")
	}
	return strings.Join(short, ", "), strings.Join(long, ", ")
}

// evaluatedPod is a pod or a pod template, and the version of the checks.
type evaluatedPod struct {
	pod   object.Object
	minor int
}

// isWindows reports whether the pod runs on Windows, which has no capabilities, seccomp profiles or privilege escalation
// (since 1.25).
func (p evaluatedPod) isWindows() bool {
	return p.minor >= 25 && p.pod.String("spec", "os", "name") == "windows"
}

// hasOwnUsers reports whether the pod has its own user namespace, in which root has no privileges on the host (since
// 1.35).
func (p evaluatedPod) hasOwnUsers() bool {
	host, ok := p.pod.Bool("spec", "hostUsers")
	return p.minor >= 35 && ok && !host
}

// containers returns all containers, in the order in which messages list them.
func (p evaluatedPod) containers() []object.Object {
	return slices.Collect(podspec.Containers(p.pod.At("spec")))
}

// violators collects the pod and the containers that violate a rule.
type violators struct {
	pod         bool
	containers  []string
	annotations int
}

// of adds a container to the violators if keeps is false.
func (b *violators) of(container object.Object, keeps bool) {
	if !keeps {
		b.containers = append(b.containers, container.String("name"))
	}
}

// String lists the violators: pod and containers "a", "b". It returns "" if there are none.
func (b *violators) String() string {
	var who []string
	if b.pod {
		who = append(who, "pod")
	}
	if len(b.containers) > 0 {
		who = append(who, numbered("container", len(b.containers))+" "+listed(b.containers))
	}
	if b.annotations > 0 {
		who = append(who, numbered("annotation", b.annotations))
	}
	return strings.Join(who, " and ")
}

// says returns a finding whose detail consists of the violators and the given text, or the zero finding if there are no violators.
func (b *violators) says(detail string) finding {
	if who := b.String(); who != "" {
		return finding{detail: who + " " + detail}
	}
	return finding{}
}

// numbered returns the noun in the singular or plural for n items.
func numbered(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// verb returns the verb in the form for n subjects.
func verb(plural string, n int) string {
	if n == 1 {
		return plural + "s"
	}
	return plural
}

// listed returns the values in quotes, separated by commas.
func listed(values []string) string { return `"` + strings.Join(values, `", "`) + `"` }

// sorted returns the values sorted and without duplicates.
func sorted(values []string) []string { return slices.Compact(slices.Sorted(slices.Values(values))) }
