package admission

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// podCheck is one rule of the Pod Security Standards. run returns a reason and details, "" for a pod that keeps it.
type podCheck struct {
	id        string
	since     int    // minor version
	overrides string // id of a baseline check that it takes the place of
	run       func(podView) (reason, detail string)
}

// baselineChecks and restrictedChecks are in the order in which their results are printed.
var (
	baselineChecks = []podCheck{
		{id: "appArmorProfile", run: appArmorProfile},
		{id: "capabilities_baseline", run: capabilitiesBaseline},
		{id: "hostNamespaces", run: hostNamespaces},
		{id: "hostPathVolumes", run: hostPathVolumes},
		{id: "hostPorts", run: hostPorts},
		{id: "hostProbesAndHostLifecycle", since: 34, run: hostProbes},
		{id: "privileged", run: privilegedContainers},
		{id: "procMount", run: procMountBaseline},
		{id: "seLinuxOptions", run: seLinuxOptions},
		{id: "seccompProfile_baseline", run: seccompBaseline},
		{id: "sysctls", run: sysctls},
		{id: "windowsHostProcess", run: hostProcess},
	}
	restrictedChecks = []podCheck{
		{id: "allowPrivilegeEscalation", since: 8, run: privilegeEscalation},
		{id: "capabilities_restricted", since: 22, overrides: "capabilities_baseline", run: capabilitiesRestricted},
		{id: "procMount_restricted", since: 35, overrides: "procMount", run: procMount},
		{id: "restrictedVolumes", overrides: "hostPathVolumes", run: restrictedVolumes},
		{id: "runAsNonRoot", run: runAsNonRoot},
		{id: "runAsUser", since: 23, run: runAsUser},
		{id: "seccompProfile_restricted", since: 19, overrides: "seccompProfile_baseline", run: seccompRestricted},
	}
)

// podView is a pod, or a template of one, as a version of the checks sees it.
type podView struct {
	pod   object.Object
	minor int
}

// containers are all containers, in the order in which they are named.
func (p podView) containers() []object.Object {
	return slices.Concat(containersOf(p.pod, "initContainers"), containersOf(p.pod, "containers"), containersOf(p.pod, "ephemeralContainers"))
}

// windows: pods of Windows have no capabilities, seccomp profiles and privilege escalation (since 1.25).
func (p podView) windows() bool {
	return p.minor >= 25 && p.pod.String("spec", "os", "name") == "windows"
}

// ownUsers: what root is inside a user namespace does not matter outside (since 1.35).
func (p podView) ownUsers() bool {
	host, ok := p.pod.Bool("spec", "hostUsers")
	return p.minor >= 35 && ok && !host
}

// bad returns the names of the containers for which f is true.
func (p podView) bad(f func(object.Object) bool) []string {
	var names []string
	for _, c := range p.containers() {
		if f(c) {
			names = append(names, c.String("name"))
		}
	}
	return names
}

func joinQuote(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = `"` + s + `"`
	}
	return strings.Join(quoted, ", ")
}

func plural(one, many string, n int) string {
	if n == 1 {
		return one
	}
	return many
}

func named(names []string) string {
	return plural("container", "containers", len(names)) + " " + joinQuote(names)
}

// set is values without repetition, sorted.
func set(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// setters names what sets something: the pod, containers, or both.
func setters(pod bool, containers []string) string {
	var who []string
	if pod {
		who = append(who, "pod")
	}
	if len(containers) > 0 {
		who = append(who, named(containers))
	}
	return strings.Join(who, " and ")
}

// valueAt calls f for the value at a path in the security contexts of the pod and its containers, where there is one.
func (p podView) valueAt(f func(v any) (ok bool), path ...string) (pod bool, containers []string) {
	if v, found := p.pod.Get(append([]string{"spec", "securityContext"}, path...)...); found && v != nil && !f(v) {
		pod = true
	}
	containers = p.bad(func(c object.Object) bool {
		v, found := c.Get(append([]string{"securityContext"}, path...)...)
		return found && v != nil && !f(v)
	})
	return pod, containers
}

func appArmorProfile(p podView) (string, string) {
	var values, annotations []string
	pod, containers := p.valueAt(func(v any) bool {
		s, _ := v.(string)
		if s == "RuntimeDefault" || s == "Localhost" {
			return true
		}
		values = append(values, s)
		return false
	}, "appArmorProfile", "type")
	given := p.pod.Annotations()
	for _, key := range object.SortedKeys(given) {
		v := given[key]
		if strings.HasPrefix(key, "container.apparmor.security.beta.kubernetes.io/") && v != "" && v != "runtime/default" && !strings.HasPrefix(v, "localhost/") {
			annotations = append(annotations, fmt.Sprintf("%s=%q", key, v))
		}
	}
	who := setters(pod, containers)
	if len(annotations) > 0 {
		if who != "" {
			who += " and "
		}
		who += plural("annotation", "annotations", len(annotations))
	}
	if who == "" {
		return "", ""
	}
	values = append(set(values), annotations...)
	return plural("forbidden AppArmor profile", "forbidden AppArmor profiles", len(values)),
		who + " must not set AppArmor profile type to " + joinQuote(values)
}

var defaultCapabilities = strings.Fields("AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT")

// added returns the containers that add a capability which is not allowed, and those capabilities.
func (p podView) added(allowed []string) (containers, capabilities []string) {
	containers = p.bad(func(c object.Object) bool {
		bad := false
		for _, name := range object.Strings(c.List("securityContext", "capabilities", "add")) {
			if !slices.Contains(allowed, name) {
				capabilities, bad = append(capabilities, name), true
			}
		}
		return bad
	})
	return containers, set(capabilities)
}

func addedText(containers, capabilities []string) string {
	return named(containers) + " must not include " + joinQuote(capabilities) + " in securityContext.capabilities.add"
}

func capabilitiesBaseline(p podView) (string, string) {
	containers, capabilities := p.added(defaultCapabilities)
	if len(containers) == 0 {
		return "", ""
	}
	return "non-default capabilities", addedText(containers, capabilities)
}

func capabilitiesRestricted(p podView) (string, string) {
	if p.windows() {
		return "", ""
	}
	var details []string
	if kept := p.bad(func(c object.Object) bool {
		return !slices.Contains(object.Strings(c.List("securityContext", "capabilities", "drop")), "ALL")
	}); len(kept) > 0 {
		details = append(details, named(kept)+` must set securityContext.capabilities.drop=["ALL"]`)
	}
	if containers, capabilities := p.added([]string{"NET_BIND_SERVICE"}); len(containers) > 0 {
		details = append(details, addedText(containers, capabilities))
	}
	if len(details) == 0 {
		return "", ""
	}
	return "unrestricted capabilities", strings.Join(details, "; ")
}

func hostNamespaces(p podView) (string, string) {
	var used []string
	for _, name := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if on, _ := p.pod.Bool("spec", name); on {
			used = append(used, name+"=true")
		}
	}
	if len(used) == 0 {
		return "", ""
	}
	return "host namespaces", strings.Join(used, ", ")
}

func hostPathVolumes(p podView) (string, string) {
	var names []string
	for _, v := range p.pod.List("spec", "volumes") {
		volume, _ := v.(map[string]any)
		if volume["hostPath"] != nil {
			names = append(names, object.Object(volume).String("name"))
		}
	}
	if len(names) == 0 {
		return "", ""
	}
	return "hostPath volumes", plural("volume", "volumes", len(names)) + " " + joinQuote(names)
}

func hostPorts(p podView) (string, string) {
	var ports []string
	containers := p.bad(func(c object.Object) bool {
		bad := false
		for _, v := range c.List("ports") {
			port, _ := v.(map[string]any)
			if n, _ := object.Object(port).Int("hostPort"); n != 0 {
				ports, bad = append(ports, strconv.FormatInt(n, 10)), true
			}
		}
		return bad
	})
	if len(containers) == 0 {
		return "", ""
	}
	ports = set(ports)
	return "hostPort", fmt.Sprintf("%s %s %s %s", named(containers), plural("uses", "use", len(containers)),
		plural("hostPort", "hostPorts", len(ports)), strings.Join(ports, ", "))
}

// probeHosts are the places in a container that can name a host.
var probeHosts = []string{"livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop"}

func hostProbes(p podView) (string, string) {
	var hosts []string
	containers := set(p.bad(func(c object.Object) bool {
		bad := false
		for _, at := range probeHosts {
			for _, kind := range []string{"httpGet", "tcpSocket"} {
				if host := c.String(append(object.Path(at), kind, "host")...); host != "" {
					hosts, bad = append(hosts, host), true
				}
			}
		}
		return bad
	}))
	if len(containers) == 0 {
		return "", ""
	}
	hosts = set(hosts)
	return "probe or lifecycle host", fmt.Sprintf("%s %s %s %s", named(containers), plural("uses", "use", len(containers)),
		plural("probe or lifecycle host", "probe or lifecycle hosts", len(hosts)), joinQuote(hosts))
}

func privilegedContainers(p podView) (string, string) {
	_, containers := p.valueAt(func(v any) bool { return v != true }, "privileged")
	if len(containers) == 0 {
		return "", ""
	}
	return "privileged", named(containers) + " must not set securityContext.privileged=true"
}

func procMountBaseline(p podView) (string, string) {
	if p.ownUsers() {
		return "", ""
	}
	return procMount(p)
}

func procMount(p podView) (string, string) {
	var values []string
	_, containers := p.valueAt(func(v any) bool {
		s, _ := v.(string)
		if s != "Default" {
			values = append(values, s)
		}
		return s == "Default"
	}, "procMount")
	if len(containers) == 0 {
		return "", ""
	}
	return "procMount", named(containers) + " must not set securityContext.procMount to " + joinQuote(set(values))
}

func hostProcess(p podView) (string, string) {
	pod, containers := p.valueAt(func(v any) bool { return v != true }, "windowsOptions", "hostProcess")
	if who := setters(pod, containers); who != "" {
		return "hostProcess", who + " must not set securityContext.windowsOptions.hostProcess=true"
	}
	return "", ""
}

func privilegeEscalation(p podView) (string, string) {
	if p.windows() {
		return "", ""
	}
	containers := p.bad(func(c object.Object) bool {
		allow, ok := c.Bool("securityContext", "allowPrivilegeEscalation")
		return allow || !ok
	})
	if len(containers) == 0 {
		return "", ""
	}
	return "allowPrivilegeEscalation != false", named(containers) + " must set securityContext.allowPrivilegeEscalation=false"
}
