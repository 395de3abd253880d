package admission

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/object"
)

// securityCheck is one row of the Pod Security Standards (Kubernetes documentation, page of that name). Versions are minor
// versions of Kubernetes; a namespace chooses the one by which its pods are judged.
//
//	level       baseline ──────────────── a baseline row holds for restricted pods, too,
//	                └──▶ restricted       until a stricter row takes its place
type securityCheck struct {
	fault  string // what a pod has that breaks the rule
	level  string
	since  int                        // version
	yields int                        // version from which restricted pods are exempt; 0 means never
	spares func(evaluatedPod) bool    // pods that the rule exempts; nil for none
	find   func(evaluatedPod) finding // finds violations
}

// always is a version for yields: restricted pods are never held to the row.
const always = 1

// finding is the result of a check. The zero value is no violation.
type finding struct {
	detail string
	many   bool // the fault is in the plural
}

// securityChecks holds all rows, in the order in which faults are reported.
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

// holds reports whether the rule is one of a level in one of its versions.
func (c *securityCheck) holds(s security) bool {
	if s.minor < c.since || strictness(s.level) < strictness(c.level) {
		return false
	}
	return s.level == c.level || c.yields == 0 || s.minor < c.yields && c.yields != always
}

// evaluate returns why a pod is less secure than a level: the faults alone, and the faults with details. Both are "" for
// a pod that is as secure.
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

// evaluatedPod is a pod, or a template of one, and the version by which it is judged.
type evaluatedPod struct {
	pod   object.Object
	minor int
}

// isWindows reports whether the pod is for Windows, which has no capabilities, seccomp profiles and privilege escalation (since
// 1.25).
func (p evaluatedPod) isWindows() bool {
	return p.minor >= 25 && p.pod.String("spec", "os", "name") == "windows"
}

// hasOwnUsers reports whether the pod has a user namespace: root inside of it has no rights outside (since 1.35).
func (p evaluatedPod) hasOwnUsers() bool {
	host, ok := p.pod.Bool("spec", "hostUsers")
	return p.minor >= 35 && ok && !host
}

// containers are all containers, in the order in which they are named.
func (p evaluatedPod) containers() []object.Object {
	return slices.Collect(podspec.Containers(p.pod.At("spec")))
}

// violators collects the parts of a pod that violate a rule.
type violators struct {
	pod         bool
	containers  []string
	annotations int
}

// of adds the container to the violators unless it keeps the rule.
func (b *violators) of(container object.Object, keeps bool) {
	if !keeps {
		b.containers = append(b.containers, container.String("name"))
	}
}

// String names the guilty: pod and containers "a", "b"; "" when there are none.
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

// says returns the finding with detail for the parts that violate the rule.
func (b *violators) says(detail string) finding {
	if who := b.String(); who != "" {
		return finding{detail: who + " " + detail}
	}
	return finding{}
}

// numbered returns a noun for n things.
func numbered(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// verb returns a verb for n things.
func verb(plural string, n int) string {
	if n == 1 {
		return plural + "s"
	}
	return plural
}

// listed prints values between quotes.
func listed(values []string) string { return `"` + strings.Join(values, `", "`) + `"` }

// sorted returns values in order, each once.
func sorted(values []string) []string { return slices.Compact(slices.Sorted(slices.Values(values))) }
