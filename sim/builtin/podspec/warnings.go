package podspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// TemplateWarnings returns the warnings about the pod template at path.
func TemplateWarnings(ctx *resource.Context, template map[string]any, path field.Path) []string {
	if template == nil {
		return nil
	}
	t := object.Object(template)
	return Warnings(ctx, t.Map("spec"), t.Annotations(), path)
}

// podWarner collects the warnings about one pod spec. path is that of the template, "" for a pod.
type podWarner struct {
	spec        object.Object
	annotations map[string]string
	path        field.Path
	warnings    []string
	ctx         *resource.Context
}

// Warnings returns the warnings about a pod spec with the annotations of its pod; path is that of the template, "" for a pod.
func Warnings(ctx *resource.Context, spec object.Object, annotations map[string]string, path field.Path) []string {
	w := &podWarner{ctx: ctx, spec: spec, annotations: annotations, path: path}
	w.nodes()
	w.spread()
	w.deprecatedAnnotations()
	w.volumes()
	w.overlappingPaths()
	w.repeatedNames()
	for _, name := range []string{"memory", "ephemeral-storage"} {
		w.fraction(spec.Map("overhead"), name, w.at("overhead"))
	}
	w.containers()
	w.ports()
	w.portNames()
	if grace, ok := spec.Int("terminationGracePeriodSeconds"); ok && grace < 0 {
		w.add(w.at("terminationGracePeriodSeconds"), "must be >= 0; negative values are invalid and will be treated as 1")
	}
	w.affinity()
	w.addresses()
	return w.warnings
}

// at returns the path of a field of the spec.
func (w *podWarner) at(names ...string) field.Path { return w.path.Child("spec").Child(names...) }

func (w *podWarner) add(p field.Path, text string) {
	w.warnings = append(w.warnings, p.String()+": "+text)
}

// DeprecatedNodeLabels are labels of nodes with what to use instead.
var DeprecatedNodeLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

func (w *podWarner) nodes() {
	for _, key := range object.SortedKeys(w.spec.Map("nodeSelector")) {
		if text, ok := DeprecatedNodeLabels[key]; ok {
			w.add(w.at("nodeSelector").Key(key), text)
		}
	}
	node, p := w.spec.At("affinity", "nodeAffinity"), w.at("affinity", "nodeAffinity")
	for i, term := range node.Objects(RequiredTerms, "nodeSelectorTerms") {
		w.warnings = append(w.warnings, nodeSelectorTermWarnings(term, p.Child(RequiredTerms, "nodeSelectorTerms").Index(i), false)...)
	}
	for i, term := range node.Objects(preferredTerms) {
		w.warnings = append(w.warnings, nodeSelectorTermWarnings(term.At("preference"), p.Child(preferredTerms).Index(i).Child("preference"), true)...)
	}
}

// nodeSelectorTermWarnings returns the warnings about a term of a NodeSelector. values says whether bad values are
// warned about: where they are errors they are not.
func nodeSelectorTermWarnings(term object.Object, p field.Path, values bool) []string {
	var warnings []string
	for i, e := range term.Objects("matchExpressions") {
		at, key := p.Child("matchExpressions").Index(i), e.String("key")
		if text, ok := DeprecatedNodeLabels[key]; ok {
			warnings = append(warnings, fmt.Sprintf("%s: %s is %s", at.Child("key"), key, text))
		}
		for j, value := range e.Strings("values") {
			for _, msg := range field.LabelValue(value) {
				if values {
					warnings = append(warnings, fmt.Sprintf("%s: %s is invalid, %s", at.Child("values").Index(j), value, msg))
				}
			}
		}
	}
	return warnings
}

const nullSelectorText = "a null labelSelector results in matching no pod"

func (w *podWarner) spread() {
	for i, c := range w.spec.Objects("topologySpreadConstraints") {
		p, key := w.at("topologySpreadConstraints").Index(i), c.String("topologyKey")
		if text, ok := DeprecatedNodeLabels[key]; ok {
			w.add(p.Child("topologyKey"), key+" is "+text)
		}
		if !c.Has("labelSelector") {
			w.add(p.Child("labelSelector"), nullSelectorText)
		}
	}
}

func (w *podWarner) deprecatedAnnotations() {
	for _, d := range [][2]string{
		{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
		{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
		{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	} {
		w.annotation(d[0], d[1])
	}
}

// annotation warns about an annotation if the pod has it.
func (w *podWarner) annotation(key, text string) {
	if _, ok := w.annotations[key]; ok {
		w.add(w.path.Child("metadata", "annotations").Key(key), text)
	}
}

// deprecatedVolumes are kinds of volumes, in the order in which the server looks for them.
var deprecatedVolumes = [][3]string{ // the source, its name in the warning, since when
	{"photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
	{"gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
	{"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
	{"flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"},
	{"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
	{"quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
	{"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
	{"ephemeral", "ephemeral", ""},
	{"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
	{"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
}

func (w *podWarner) volumes() {
	for i, v := range w.spec.Objects("volumes") {
		p := w.at("volumes").Index(i)
		for _, d := range deprecatedVolumes {
			source := v.At(d[0])
			switch {
			case source == nil:
			case d[0] == "ephemeral":
				resources, at := source.At("volumeClaimTemplate", "spec", "resources"), p.Child("ephemeral", "volumeClaimTemplate", "spec", "resources")
				w.fraction(resources.Map("requests"), "storage", at.Child("requests"))
				w.fraction(resources.Map("limits"), "storage", at.Child("limits"))
			default:
				w.add(p.Child(d[1]), d[2])
			}
		}
	}
}

// fraction warns about a part of a byte.
func (w *podWarner) fraction(list map[string]any, name string, p field.Path) {
	if text, ok := list[name].(string); ok {
		if q, err := quantity.Parse(text); err == nil && q.MilliValue()%1000 != 0 {
			w.add(p.Key(name), fmt.Sprintf("fractional byte value %q is invalid, must be an integer", text))
		}
	}
}

func (w *podWarner) repeatedNames() {
	repeated := func(list, name, text string) {
		var seen []string
		for i, o := range w.spec.Objects(list) {
			if value := o.String(name); slices.Contains(seen, value) {
				w.add(w.at(list).Index(i).Child(name), fmt.Sprintf("duplicate %s %q", text, value))
			} else {
				seen = append(seen, value)
			}
		}
	}
	repeated("hostAliases", "ip", "ip")
	repeated("imagePullSecrets", "name", "name")
	for i, secret := range w.spec.Objects("imagePullSecrets") {
		if secret.String("name") == "" {
			w.add(w.at("imagePullSecrets").Index(i).Child("name"), `invalid empty name ""`)
		}
	}
}

func (w *podWarner) containers() {
	const seccompText = `non-functional in v1.27+; use the "seccompProfile" field instead`
	if !w.spec.Has("securityContext", "seccompProfile") {
		w.annotation(seccompPodAnnotation, seccompText)
	}
	EachContainer(w.spec, w.at(), func(c object.Object, p field.Path) {
		if !c.Has("securityContext", "seccompProfile") {
			w.annotation(seccompPrefix+c.String("name"), seccompText)
		}
		w.appArmor(c)
		for _, name := range []string{"memory", "ephemeral-storage"} {
			for _, list := range []string{"limits", "requests"} {
				w.fraction(c.Map("resources", list), name, p.Child("resources", list))
			}
		}
		w.env(c, p.Child("env"))
	})
}

// appArmor warns about the annotation in a template; in a pod syncAppArmor does.
func (w *podWarner) appArmor(c object.Object) {
	key := AppArmorPrefix + c.String("name")
	if w.path.IsRoot() || c.Has("securityContext", "appArmorProfile") {
		return
	}
	whole := w.spec.Map("securityContext", "appArmorProfile")
	if profile := AppArmorOf(w.annotations[key]); whole == nil || profile == nil || !object.SemanticEqual(whole, profile) {
		w.annotation(key, `deprecated since v1.30; use the "appArmorProfile" field instead`)
	}
}

// env warns about variables that hide one of the same name without using it.
func (w *podWarner) env(c object.Object, p field.Path) {
	var seen []string
	for i, v := range c.Objects("env") {
		name, value := v.String("name"), v.String("value")
		if !slices.Contains(seen, name) {
			seen = append(seen, name)
			continue
		}
		ref := "$(" + name + ")"
		if v.Has("valueFrom") || value == ref || !strings.Contains(value, ref) {
			w.add(p.Index(i), fmt.Sprintf("hides previous definition of %q, which may be dropped when using apply", name))
		}
	}
}

func (w *podWarner) affinity() {
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		terms, p := w.spec.At("affinity", name), w.at("affinity", name)
		for i, term := range terms.Objects(RequiredTerms) {
			if !term.Has("labelSelector") {
				w.add(p.Child(RequiredTerms).Index(i).Child("labelSelector"), nullSelectorText)
			}
		}
		for i, term := range terms.Objects(preferredTerms) {
			if !term.Has("podAffinityTerm", "labelSelector") {
				w.add(p.Child(preferredTerms).Index(i).Child("podAffinityTerm", "labelSelector"), nullSelectorText)
			}
		}
	}
}

func (w *podWarner) addresses() {
	for i, server := range w.spec.Strings("dnsConfig", "nameservers") {
		w.warnings = append(w.warnings, kind.IPWarnings(w.ctx, w.at("dnsConfig", "nameservers").Index(i), server)...)
	}
	for i, alias := range w.spec.Objects("hostAliases") {
		w.warnings = append(w.warnings, kind.IPWarnings(w.ctx, w.at("hostAliases").Index(i).Child("ip"), alias.String("ip"))...)
	}
}
