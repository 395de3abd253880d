package admission

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// The prefix of the namespace labels that configure Pod Security, and the levels.
const (
	podSecurityPrefix = "pod-security.kubernetes.io/"
	privileged        = "privileged"
	baseline          = "baseline"
	restricted        = "restricted"
)

// podsChecked is the maximum number of existing pods that are checked when the level of a namespace changes.
const podsChecked = 3000

// latest represents the newest version of the checks.
const latest = 1 << 30

// security is a level in one of its versions, such as restricted:v1.30.
type security struct {
	level string
	minor int
}

func (s security) String() string {
	if s.minor == latest {
		return s.level + ":latest"
	}
	return s.level + ":v1." + strconv.Itoa(s.minor)
}

// strictness returns a number that increases with the strictness of a level, or -1 for an unknown level.
func strictness(level string) int {
	return slices.Index([]string{privileged, baseline, restricted}, level)
}

// securityPolicy contains the levels in the labels of a namespace.
type securityPolicy struct {
	enforce, audit, warn security
	wrong                string // the errors of the labels
}

var securityVersion = regexp.MustCompile(`^v1\.([0-9]|[1-9][0-9]*)$`)

// policy parses the labels of a namespace. Missing labels have defaults. If the warn level is not set, it is at least the
// enforced level.
func (config PodSecurity) policy(labels map[string]string) (p securityPolicy, errs field.ErrorList) {
	if len(config.Defaults) > 0 {
		defaults := map[string]string{}
		for name, value := range config.Defaults { // order does not matter
			defaults[podSecurityPrefix+name] = value
		}
		defaults[podSecurityPrefix+"warn"] = cmp.Or(config.Defaults["warn"], privileged) // so that warn does not default to the enforced level
		p, _ = PodSecurity{}.policy(defaults)
	} else {
		p.enforce, p.audit, p.warn = security{privileged, latest}, security{privileged, latest}, security{privileged, latest}
	}
	read := func(mode, onError string, s security) (_ security, leveled, versioned bool) {
		at := field.Root("metadata").Child("labels")
		if level, ok := labels[podSecurityPrefix+mode]; ok {
			if s.level = level; strictness(level) < 0 {
				s.level = onError
				errs = append(errs, field.Invalid(at.Key(podSecurityPrefix+mode), level, "must be one of privileged, baseline, restricted"))
			} else {
				leveled = true
			}
		}
		version, ok := labels[podSecurityPrefix+mode+"-version"]
		if ok && version != "latest" {
			var err error
			m := securityVersion.FindStringSubmatch(version)
			if m != nil {
				s.minor, err = strconv.Atoi(m[1])
			}
			if m == nil || err != nil {
				s.minor = latest
				errs = append(errs, field.Invalid(at.Key(podSecurityPrefix+mode+"-version"), version, `must be "latest" or "v1.x"`))
			}
		}
		return s, leveled, ok
	}
	var enforced, versioned bool
	p.enforce, enforced, _ = read("enforce", restricted, p.enforce)
	p.audit, _, _ = read("audit", privileged, p.audit)
	p.warn, _, versioned = read("warn", privileged, p.warn)
	if _, given := labels[podSecurityPrefix+"warn"]; !given && enforced && strictness(p.enforce.level) > strictness(p.warn.level) {
		p.warn.level = p.enforce.level
		if !versioned {
			p.warn.minor = p.enforce.minor
		}
	}
	return p, errs
}

// templates contains the paths of the pod templates in resources that create pods, by storage name.
var templates = map[string]string{
	"podtemplates": "template", "replicationcontrollers": "spec.template", "replicasets.apps": "spec.template",
	"deployments.apps": "spec.template", "daemonsets.apps": "spec.template", "statefulsets.apps": "spec.template",
	"jobs.batch": "spec.template", "cronjobs.batch": "spec.jobTemplate.spec.template",
}

// harmless are the subresources of pods that do not change any checked field.
var harmless = []string{"exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"}

// check rejects pods that violate the level in the labels of their namespace, and warns about templates of such pods
// (Kubernetes documentation, "Pod Security Admission").
func (config *PodSecurity) check(a *Attributes) *status.Status {
	if a.Operation != Create && a.Operation != Update {
		return nil
	}
	switch storage := a.Definition.Storage; {
	case storage == namespaces:
		return config.namespace(a)
	case storage == pods:
		if slices.Contains(harmless, a.Subresource) {
			return nil
		}
		return config.pod(a, a.Object, true)
	case templates[storage] != "" && a.Subresource == "":
		return config.pod(a, a.Object.At(object.Path(templates[storage])...), false)
	}
	return nil
}

// demands returns the security policy that the labels of a namespace specify.
func (config *PodSecurity) demands(namespace object.Object) securityPolicy {
	p, errs := config.policy(namespace.Labels())
	if len(errs) > 0 {
		p.wrong = errs.Text()
	}
	return p
}

// pod checks a pod or a pod template against the Pod Security levels of its namespace. Violations of the audit and warn levels are
// only reported; those of the enforce level reject the write if enforce is true.
func (config *PodSecurity) pod(a *Attributes, pod object.Object, enforce bool) *status.Status {
	if exempt := config.exempts(a); exempt != "" {
		a.Annotate(podSecurityPrefix+"exempt", exempt)
		return nil
	}
	var p securityPolicy
	if namespace := a.Objects.Item(namespaces, "", a.Namespace); namespace != nil {
		p = resource.Derived(namespace, config.demands)
	} else {
		p = config.demands(nil)
	}
	if p.wrong == "" && p.warn.level == privileged && p.audit.level == privileged && (!enforce || p.enforce.level == privileged) {
		if enforce {
			a.Annotate(podSecurityPrefix+"enforce-policy", privileged+":latest")
		}
		return nil
	}
	if enforce && a.Operation == Update && !newImages(pod, a.Old) || pod.Map("spec") == nil {
		return nil
	}
	if class := pod.String("spec", "runtimeClassName"); class != "" && slices.Contains(config.RuntimeClasses, class) {
		a.Annotate(podSecurityPrefix+"exempt", "runtimeClass")
		return nil
	}
	if p.wrong != "" {
		a.Annotate(podSecurityPrefix+"error", "Failed to parse policy: "+p.wrong)
	}
	if _, detail := evaluate(p.audit, pod); detail != "" {
		a.Annotate(podSecurityPrefix+"audit-violations", fmt.Sprintf("would violate PodSecurity %q: %s", p.audit, detail))
	}
	if enforce {
		a.Annotate(podSecurityPrefix+"enforce-policy", p.enforce.String())
		if _, detail := evaluate(p.enforce, pod); detail != "" {
			return a.refuse("violates PodSecurity %q: %s", p.enforce, detail)
		}
	}
	if _, detail := evaluate(p.warn, pod); detail != "" {
		a.Warn(fmt.Sprintf("would violate PodSecurity %q: %s", p.warn, detail))
	}
	return nil
}

// newImages reports whether an update of a pod changes its containers or their images, so that the pod must be checked
// again.
func newImages(pod, old object.Object) bool {
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		before := map[string]string{}
		for _, c := range old.Objects("spec", list) {
			before[c.String("name")] = c.String("image")
		}
		now := pod.Objects("spec", list)
		if list != "ephemeralContainers" && len(now) != len(before) {
			return true
		}
		for _, c := range now {
			if image, ok := before[c.String("name")]; !ok || image != c.String("image") {
				return true
			}
		}
	}
	return false
}

// namespace rejects invalid labels of a namespace, and warns about existing pods that violate a stricter level.
func (config *PodSecurity) namespace(a *Attributes) *status.Status {
	if a.Subresource != "" {
		return nil
	}
	p, errs := config.policy(a.Object.Labels())
	old, oldErrs := config.policy(a.Old.Labels())
	if len(errs) > 0 && (a.Operation == Create || errs.Text() != oldErrs.Text()) {
		return status.Invalid(a.Definition.GroupKind(), a.Object.Name(), errs)
	}
	relaxed := p.enforce.minor == old.enforce.minor && strictness(p.enforce.level) <= strictness(old.enforce.level)
	exempt := slices.Contains(config.Namespaces, a.Object.Name())
	if exempt && a.Operation == Create {
		config.exemption(a, p)
	}
	if a.Operation == Create || p.enforce == old.enforce || p.enforce.level == privileged || relaxed {
		return nil
	}
	if exempt {
		config.exemption(a, p)
		return nil
	}
	for _, text := range violations(a, p.enforce, config.RuntimeClasses) {
		a.Warn(text)
	}
	return nil
}

// violations returns warnings about the pods of a namespace that violate a level, one for each distinct set of
// violations.
func violations(a *Attributes, level security, exempt []string) []string {
	type group struct {
		name  string
		count int
	}
	groups := map[string]group{}
	all := a.Objects.All(pods, a.Object.Name())
	for _, pod := range all[:min(len(all), podsChecked)] {
		if slices.Contains(exempt, pod.String("spec", "runtimeClassName")) {
			continue
		}
		if reason, _ := evaluate(level, pod); reason != "" {
			g := groups[reason]
			if g.count == 0 || pod.Name() < g.name {
				g.name = pod.Name()
			}
			groups[reason] = group{g.name, g.count + 1}
		}
	}
	var lines, out []string
	for _, reason := range object.SortedKeys(groups) {
		g := groups[reason]
		switch g.count {
		case 1:
			lines = append(lines, g.name+": "+reason)
		case 2:
			lines = append(lines, g.name+" (and 1 other pod): "+reason)
		default:
			lines = append(lines, fmt.Sprintf("%s (and %d other pods): %s", g.name, g.count-1, reason))
		}
	}
	if total := len(all); total > podsChecked {
		out = append(out, fmt.Sprintf("new PodSecurity enforce level only checked against the first %d of %d existing pods", podsChecked, total))
	}
	if len(lines) > 0 {
		out = append(out, fmt.Sprintf("existing pods in namespace %q violate the new PodSecurity enforce level %q", a.Object.Name(), level))
	}
	slices.Sort(lines)
	return append(out, lines...)
}
