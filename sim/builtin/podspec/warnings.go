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

// WarnTemplate warns about the pod template at path.
func WarnTemplate(ctx *resource.Context, template map[string]any, path field.Path) {
	if template != nil {
		at := field.CursorOn(path, template)
		Warn(ctx, at)
	}
}

// podWarner warns about a pod or a template.
type podWarner struct {
	whole, at   field.Cursor // cursors at the object and at its spec
	spec        object.Object
	annotations object.Object
	profiles    bool           // the pod has seccomp or AppArmor annotations
	portsOfAll  []field.Cursor // ports of all containers
	ctx         *resource.Context
}

// Warn warns about a pod or a template.
func Warn(ctx *resource.Context, at field.Cursor) {
	spec := at.Child("spec")
	w := &podWarner{ctx: ctx, whole: at, at: spec, spec: spec.Object(), annotations: at.Child("metadata", "annotations").Object()}
	w.profiles = NameProfiles(w.annotations)
	w.nodes()
	w.spread()
	w.deprecatedAnnotations()
	w.volumes()
	w.overlappingPaths()
	w.repeatedNames()
	w.fractions(spec, "overhead", "memory")
	w.fractions(spec, "overhead", "ephemeral-storage")
	w.containers()
	w.ports()
	w.portNames()
	if spec.Int64("terminationGracePeriodSeconds") < 0 {
		w.add(spec.Child("terminationGracePeriodSeconds"), "must be >= 0; negative values are invalid and will be treated as 1")
	}
	w.affinity()
	for server := range spec.Each("dnsConfig", "nameservers") {
		kind.WarnIP(ctx, server.Path(), server.String())
	}
	for alias := range spec.Each("hostAliases") {
		kind.WarnIP(ctx, alias.Path("ip"), alias.String("ip"))
	}
}

func (w *podWarner) add(at field.Cursor, text string) {
	w.ctx.Warn(at.Path().String() + ": " + text)
}

// DeprecatedNodeLabels maps deprecated node labels to the text of the warning about them.
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
	for key, label := range w.at.EachKey("nodeSelector") {
		if text, ok := DeprecatedNodeLabels[key]; ok {
			w.add(label, text)
		}
	}
	if !w.spec.Has("affinity") {
		return
	}
	node := w.at.Child("affinity", "nodeAffinity")
	for term := range node.Each(RequiredTerms, "nodeSelectorTerms") {
		w.nodeSelectorTerm(term, false)
	}
	for term := range node.Each(preferredTerms) {
		w.nodeSelectorTerm(term.Child("preference"), true)
	}
}

// nodeSelectorTerm warns about a term of a NodeSelector. If values is true, it also warns about invalid label values, which
// are rejected in other places.
func (w *podWarner) nodeSelectorTerm(term field.Cursor, values bool) {
	for e := range term.Each("matchExpressions") {
		key := e.Child("key")
		if text, ok := DeprecatedNodeLabels[key.String()]; ok {
			w.add(key, key.String()+" is "+text)
		}
		for value := range e.Each("values") {
			for _, msg := range field.LabelValue(value.String()) {
				if values {
					w.add(value, value.String()+" is invalid, "+msg)
				}
			}
		}
	}
}

const nullSelectorText = "a null labelSelector results in matching no pod"

func (w *podWarner) nullSelector(at field.Cursor) {
	if !at.Has() {
		w.add(at, nullSelectorText)
	}
}

func (w *podWarner) spread() {
	for c := range w.at.Each("topologySpreadConstraints") {
		key := c.Child("topologyKey")
		if text, ok := DeprecatedNodeLabels[key.String()]; ok {
			w.add(key, key.String()+" is "+text)
		}
		w.nullSelector(c.Child("labelSelector"))
	}
}

func (w *podWarner) deprecatedAnnotations() {
	w.annotation("scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`)
	w.annotation("security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`)
	w.annotation("security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`)
}

// annotation warns about an annotation if the pod has it.
func (w *podWarner) annotation(key, text string) {
	if _, ok := w.annotations[key]; ok {
		w.add(w.whole.Child("metadata", "annotations").Key(key), text)
	}
}

// deprecatedVolumes are types of volumes, in the order in which the server checks them.
var deprecatedVolumes = [][3]string{ // the source, its name in the warning, the text of the warning
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

// DeprecatedVolume returns the name that warnings use for a volume type, and the text about its deprecation.
func DeprecatedVolume(source string) (shown, since string) {
	i := slices.IndexFunc(deprecatedVolumes, func(d [3]string) bool { return d[0] == source })
	return deprecatedVolumes[i][1], deprecatedVolumes[i][2]
}

func (w *podWarner) volumes() {
	for v := range w.at.Each("volumes") {
		for _, d := range deprecatedVolumes {
			switch {
			case !v.Has(d[0]):
			case d[0] == "ephemeral":
				resources := v.Child("ephemeral", "volumeClaimTemplate", "spec", "resources")
				w.fractions(resources, "requests", "storage")
				w.fractions(resources, "limits", "storage")
			default:
				w.add(v.Child(d[1]), d[2])
			}
		}
	}
}

// fractions warns about an amount in a resource list that contains a fraction of a byte. Such an amount has a point, a
// negative exponent or one of three suffixes. The server also warns about an amount whose product with 1000 overflows to
// a number that is not a multiple of 1000.
func (w *podWarner) fractions(at field.Cursor, path ...string) {
	text := at.String(path...)
	const whole = 15 // the maximum number of digits without an overflow
	if len(text) <= whole && !strings.ContainsAny(text, ".-munGTPEe") {
		return
	}
	if q, err := quantity.Parse(text); err == nil && q.MilliValue()%1000 != 0 {
		list, name := path[:len(path)-1], path[len(path)-1]
		w.add(at.Child(list...).Key(name), fmt.Sprintf("fractional byte value %q is invalid, must be an integer", text))
	}
}

func (w *podWarner) repeatedNames() {
	repeated := func(list, name, text string) {
		if w.at.Len(list) < 2 {
			return
		}
		seen := field.Seen{}
		for o := range w.at.Each(list) {
			if value := o.String(name); seen.Again(value) {
				w.add(o.Child(name), fmt.Sprintf("duplicate %s %q", text, value))
			}
		}
	}
	repeated("hostAliases", "ip", "ip")
	repeated("imagePullSecrets", "name", "name")
	for secret := range w.at.Each("imagePullSecrets") {
		if name := secret.Child("name"); name.String() == "" {
			w.add(name, `invalid empty name ""`)
		}
	}
}

func (w *podWarner) containers() {
	const seccompText = `non-functional in v1.27+; use the "seccompProfile" field instead`
	if !w.spec.Has("securityContext", "seccompProfile") {
		w.annotation(seccompPodAnnotation, seccompText)
	}
	for c := range containersOf(w.at) {
		if w.profiles && !c.Has("securityContext", "seccompProfile") {
			w.annotation(seccompPrefix+c.String("name"), seccompText)
		}
		w.appArmor(c.Object())
		if resources := c.Child("resources"); resources.Len() > 0 {
			for _, name := range []string{"memory", "ephemeral-storage"} {
				w.fractions(resources, "limits", name)
				w.fractions(resources, "requests", name)
			}
		}
		w.env(c)
		for port := range c.Each("ports") {
			w.portsOfAll = append(w.portsOfAll, port)
		}
	}
}

// appArmor warns about the AppArmor annotation of a template. For pods, syncAppArmor does so.
func (w *podWarner) appArmor(c object.Object) {
	if !w.profiles || w.whole.Path().IsRoot() || c.Has("securityContext", "appArmorProfile") {
		return
	}
	key := AppArmorPrefix + c.String("name")
	whole := w.spec.Map("securityContext", "appArmorProfile")
	if profile := AppArmorOf(w.annotations.String(key)); whole == nil || profile == nil || !object.SemanticEqual(whole, profile) {
		w.annotation(key, `deprecated since v1.30; use the "appArmorProfile" field instead`)
	}
}

// env warns about variables that hide another one of the same name without using its value.
func (w *podWarner) env(c field.Cursor) {
	if c.Len("env") < 2 {
		return
	}
	seen := field.Seen{}
	for v := range c.Each("env") {
		name, value := v.String("name"), v.String("value")
		ref := "$(" + name + ")"
		if seen.Again(name) && (v.Has("valueFrom") || value == ref || !strings.Contains(value, ref)) {
			w.add(v, fmt.Sprintf("hides previous definition of %q, which may be dropped when using apply", name))
		}
	}
}

func (w *podWarner) affinity() {
	if !w.spec.Has("affinity") {
		return
	}
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		for term := range w.at.Each("affinity", name, RequiredTerms) {
			w.nullSelector(term.Child("labelSelector"))
		}
		for term := range w.at.Each("affinity", name, preferredTerms) {
			w.nullSelector(term.Child("podAffinityTerm", "labelSelector"))
		}
	}
}
