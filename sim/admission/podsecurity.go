package admission

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// The labels of namespaces that say how their pods are checked.
const (
	podSecurityPrefix = "pod-security.kubernetes.io/"
	privileged        = "privileged"
	baseline          = "baseline"
	restricted        = "restricted"
)

// podsChecked is how many pods of a namespace are looked at when its level changes.
const podsChecked = 3000

// latest is the newest version of the checks.
const latest = 1 << 30

// security is a level in one of its versions: restricted:v1.30.
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

// strictness orders the levels.
func strictness(level string) int {
	return slices.Index([]string{privileged, baseline, restricted}, level)
}

// securityPolicy is what the labels of a namespace say.
type securityPolicy struct{ enforce, warn security }

var securityVersion = regexp.MustCompile(`^v1\.([0-9]|[1-9][0-9]*)$`)

// securityOf reads the labels of a namespace. Nothing is enforced without them, and what is enforced is warned about, too.
func securityOf(labels map[string]string) (p securityPolicy, errs field.ErrorList) {
	read := func(mode, onError string) (s security, leveled, versioned bool) {
		s = security{privileged, latest}
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
	p.enforce, enforced, _ = read("enforce", restricted)
	read("audit", privileged) // nobody audits here, but what is wrong is told
	p.warn, _, versioned = read("warn", privileged)
	if _, given := labels[podSecurityPrefix+"warn"]; !given && enforced && strictness(p.enforce.level) > 0 {
		p.warn.level = p.enforce.level
		if !versioned {
			p.warn.minor = p.enforce.minor
		}
	}
	return p, errs
}

// templates are the paths of the pod templates in resources that make pods.
var templates = map[string]string{
	"podtemplates": "template", "replicationcontrollers": "spec.template", "replicasets.apps": "spec.template",
	"deployments.apps": "spec.template", "daemonsets.apps": "spec.template", "statefulsets.apps": "spec.template",
	"jobs.batch": "spec.template", "cronjobs.batch": "spec.jobTemplate.spec.template",
}

// harmless are the subresources of pods that change nothing which is checked.
var harmless = []string{"exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"}

// checkSecurity refuses pods that are less secure than the labels of their namespace demand, and warns about templates of
// such pods (Kubernetes documentation, "Pod Security Admission").
func checkSecurity(a *Attributes) *status.Status {
	if a.Operation != Create && a.Operation != Update {
		return nil
	}
	switch storage := a.Definition.Storage; {
	case storage == namespaces:
		return namespaceSecurity(a)
	case storage == pods:
		if slices.Contains(harmless, a.Subresource) || a.Operation == Update && !newImages(a.Object, a.Old) {
			return nil
		}
		return checkPodSecurity(a, a.Object, true)
	case templates[storage] != "" && a.Subresource == "":
		return checkPodSecurity(a, a.Object.At(object.Path(templates[storage])...), false)
	}
	return nil
}

// policyOf returns what a namespace demands.
func policyOf(namespace object.Object) securityPolicy {
	p, _ := securityOf(namespace.Labels())
	return p
}

func checkPodSecurity(a *Attributes, pod object.Object, enforce bool) *status.Status {
	if pod.Map("spec") == nil {
		return nil
	}
	var p securityPolicy
	if namespace := a.Objects.Item(namespaces, "", a.Namespace); namespace != nil {
		p = resource.Derived(namespace, policyOf)
	} else {
		p = policyOf(nil)
	}
	if enforce {
		if _, detail := evaluate(p.enforce, pod); detail != "" {
			return a.refuse("violates PodSecurity %q: %s", p.enforce, detail)
		}
	}
	if _, detail := evaluate(p.warn, pod); detail != "" {
		a.Warn(fmt.Sprintf("would violate PodSecurity %q: %s", p.warn, detail))
	}
	return nil
}

// newImages reports whether an update of a pod changes more than the checks can let pass: containers or their images.
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

// namespaceSecurity refuses labels that cannot be read, and warns about pods that a stricter level would not let in.
func namespaceSecurity(a *Attributes) *status.Status {
	if a.Subresource != "" {
		return nil
	}
	p, errs := securityOf(a.Object.Labels())
	old, oldErrs := securityOf(a.Old.Labels())
	if len(errs) > 0 && (a.Operation == Create || errs.Text() != oldErrs.Text()) {
		return status.Invalid(a.Definition.Kinded(), a.Object.Name(), errs)
	}
	relaxed := p.enforce.minor == old.enforce.minor && strictness(p.enforce.level) <= strictness(old.enforce.level)
	if a.Operation == Create || p.enforce == old.enforce || p.enforce.level == privileged || relaxed {
		return nil
	}
	for _, text := range violations(a, p.enforce) {
		a.Warn(text)
	}
	return nil
}

// violations says which pods of a namespace a level would not let in, pods with the same faults together.
func violations(a *Attributes, level security) []string {
	type group struct {
		name  string
		count int
	}
	groups := map[string]group{}
	all := a.Objects.All(pods, a.Object.Name())
	for _, pod := range all[:min(len(all), podsChecked)] {
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
