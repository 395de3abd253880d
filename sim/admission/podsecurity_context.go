package admission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// The checks of the security contexts of pods and containers.

// scope selects the security contexts that a check examines.
type scope int

const (
	everywhere scope = iota
	inContainers
)

// contexts returns the violators of a rule among the security contexts in the scope. For each one that has a value at the path,
// fine reports whether the value is allowed.
func (p evaluatedPod) contexts(in scope, path string, fine func(v any) bool) *violators {
	steps := append([]string{"securityContext"}, object.Path(path)...)
	keeps := func(o object.Object) bool {
		v, _ := o.Get(steps...)
		return v == nil || fine(v)
	}
	b := &violators{pod: in == everywhere && !keeps(p.pod.Map("spec"))}
	for _, c := range p.containers() {
		b.of(c, keeps(c))
	}
	return b
}

// without returns the containers for whose security context has returns false.
func (p evaluatedPod) without(has func(context object.Object) bool) *violators {
	b := &violators{}
	for _, c := range p.containers() {
		b.of(c, has(c.Map("securityContext")))
	}
	return b
}

// isNot returns a rule that accepts every value except bad.
func isNot(bad any) func(any) bool { return func(v any) bool { return v != bad } }

// oneOf returns a rule that accepts the allowed strings. It adds all other values to collected.
func oneOf(collected *[]string, allowed ...string) func(any) bool {
	return func(v any) bool {
		s, _ := v.(string)
		if slices.Contains(allowed, s) {
			return true
		}
		*collected = append(*collected, s)
		return false
	}
}

func findPrivileged(p evaluatedPod) finding {
	return p.contexts(inContainers, "privileged", isNot(true)).says("must not set securityContext.privileged=true")
}

func findHostProcess(p evaluatedPod) finding {
	const path = "windowsOptions.hostProcess"
	return p.contexts(everywhere, path, isNot(true)).says("must not set securityContext." + path + "=true")
}

func findUserZero(p evaluatedPod) finding {
	return p.contexts(everywhere, "runAsUser", isNot(int64(0))).says("must not set runAsUser=0")
}

func findProcMount(p evaluatedPod) finding {
	var bad []string
	b := p.contexts(inContainers, "procMount", oneOf(&bad, "Default"))
	return b.says("must not set securityContext.procMount to " + listed(sorted(bad)))
}

func findEscalation(p evaluatedPod) finding {
	b := p.without(func(context object.Object) bool {
		allowed, said := context.Bool("allowPrivilegeEscalation")
		return said && !allowed
	})
	return b.says("must set securityContext.allowPrivilegeEscalation=false")
}

func findRoot(p evaluatedPod) finding {
	if bad := p.contexts(everywhere, "runAsNonRoot", isNot(false)).says("must not set securityContext.runAsNonRoot=false"); bad.detail != "" {
		return bad
	}
	if p.pod.True("spec", "securityContext", "runAsNonRoot") {
		return finding{}
	}
	silent := p.without(func(context object.Object) bool { _, said := context.Bool("runAsNonRoot"); return said })
	return podOr(silent, "must set securityContext.runAsNonRoot=true")
}

// podOr returns the finding for containers that lack a setting which the pod could also provide: "pod or containers …
// must set …".
func podOr(silent *violators, detail string) finding {
	found := silent.says(detail)
	if found.detail != "" {
		found.detail = "pod or " + found.detail
	}
	return found
}

const seccompAnnotation = "seccomp.security.alpha.kubernetes.io/pod"

// findSeccomp checks the seccomp profiles that are set. Before 1.19 they were set in annotations.
func findSeccomp(p evaluatedPod) finding {
	if p.minor >= 19 {
		return findSeccompTypes(p)
	}
	keys := []string{seccompAnnotation}
	for _, c := range p.containers() {
		keys = append(keys, "container.seccomp.security.alpha.kubernetes.io/"+c.String("name"))
	}
	given := p.pod.Annotations()
	var bad []string
	for _, key := range sorted(keys) {
		if v, ok := given[key]; ok && v != "runtime/default" && v != "docker/default" && !strings.HasPrefix(v, "localhost/") {
			bad = append(bad, fmt.Sprintf("%s=%q", key, v))
		}
	}
	if len(bad) == 0 {
		return finding{}
	}
	return finding{detail: "forbidden " + numbered("annotation", len(bad)) + " " + strings.Join(sorted(bad), ", ")}
}

func findSeccompTypes(p evaluatedPod) finding {
	var bad []string
	rule := oneOf(&bad, "RuntimeDefault", "Localhost")
	b := p.contexts(everywhere, "seccompProfile", func(v any) bool {
		profile, _ := v.(map[string]any)
		return rule(profile["type"])
	})
	return b.says("must not set securityContext.seccompProfile.type to " + listed(sorted(bad)))
}

func findMissingSeccomp(p evaluatedPod) finding {
	if bad := findSeccompTypes(p); bad.detail != "" || p.pod.Map("spec", "securityContext", "seccompProfile") != nil {
		return bad
	}
	silent := p.without(func(context object.Object) bool { return context.Map("seccompProfile") != nil })
	return podOr(silent, `must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`)
}

func findAppArmor(p evaluatedPod) finding {
	var bad []string
	b := p.contexts(everywhere, "appArmorProfile.type", oneOf(&bad, "RuntimeDefault", "Localhost"))
	bad = sorted(bad)
	given := p.pod.Annotations()
	for _, key := range object.SortedKeys(given) {
		v := given[key]
		if !strings.HasPrefix(key, "container.apparmor.security.beta.kubernetes.io/") || v == "" || v == "runtime/default" || strings.HasPrefix(v, "localhost/") {
			continue
		}
		b.annotations++
		bad = append(bad, fmt.Sprintf("%s=%q", key, v))
	}
	found := b.says("must not set AppArmor profile type to " + listed(bad))
	found.many = len(bad) > 1
	return found
}

// seLinuxTypes are the allowed SELinux types, each with the first version that allows it.
var seLinuxTypes = map[string]int{"": 0, "container_t": 0, "container_init_t": 0, "container_kvm_t": 0, "container_engine_t": 31}

func findSELinux(p evaluatedPod) finding {
	var types []string
	named := map[string]bool{} // fields that must not be set
	b := p.contexts(everywhere, "seLinuxOptions", func(v any) bool {
		options, fine := object.As(v), true
		if since, ok := seLinuxTypes[options.String("type")]; !ok || p.minor < since {
			types, fine = append(types, options.String("type")), false
		}
		for _, name := range []string{"user", "role"} {
			if options.String(name) != "" {
				named[name], fine = true, false
			}
		}
		return fine
	})
	var details []string
	if types = sorted(types); len(types) > 0 {
		details = append(details, numbered("type", len(types))+" "+listed(types))
	}
	for _, name := range []string{"user", "role"} {
		if named[name] {
			details = append(details, name+" may not be set")
		}
	}
	return b.says("set forbidden securityContext.seLinuxOptions: " + strings.Join(details, "; "))
}

// defaultCapabilities are the capabilities that a container runtime grants by default.
var defaultCapabilities = strings.Fields("AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT")

// added returns the finding for containers that add capabilities which are not allowed.
func (p evaluatedPod) added(allowed []string) finding {
	var bad []string
	b := p.without(func(context object.Object) bool {
		fine := true
		for _, name := range context.Strings("capabilities", "add") {
			fine = oneOf(&bad, allowed...)(name) && fine
		}
		return fine
	})
	return b.says("must not include " + listed(sorted(bad)) + " in securityContext.capabilities.add")
}

func findAddedCapabilities(p evaluatedPod) finding { return p.added(defaultCapabilities) }

func findKeptCapabilities(p evaluatedPod) finding {
	kept := p.without(func(context object.Object) bool {
		return slices.Contains(context.Strings("capabilities", "drop"), "ALL")
	}).says(`must set securityContext.capabilities.drop=["ALL"]`)
	added := p.added([]string{"NET_BIND_SERVICE"})
	if kept.detail != "" && added.detail != "" {
		return finding{detail: kept.detail + "; " + added.detail}
	}
	return finding{detail: kept.detail + added.detail}
}
