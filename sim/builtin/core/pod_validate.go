package core

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

var (
	podSpecPath        = field.Root("spec")
	podAnnotationsPath = field.Root("metadata").Child("annotations")
)

// validateNewPod returns what is wrong with a pod that is created.
func validateNewPod(ctx *resource.Context, obj object.Object) field.ErrorList {
	r := podRulesOf(ctx, obj, nil)
	errs := r.pod(obj)
	if len(obj.List("spec", "ephemeralContainers")) > 0 {
		errs = append(errs, field.Forbidden(podSpecPath.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if obj.String("spec", "nodeName") != "" && len(obj.List("spec", "schedulingGates")) > 0 {
		errs = append(errs, field.Forbidden(podSpecPath.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return append(errs, r.ProfilesMatchAnnotations(obj.Annotations())...)
}

// podRules are the rules for a whole pod.
type podRules struct{ *podspec.Rules }

// podRulesOf returns the rules for a pod; old is the pod before an update.
func podRulesOf(ctx *resource.Context, obj, old object.Object) podRules {
	meta := obj.Metadata()
	if meta == nil {
		meta = map[string]any{}
	}
	r := podRules{podspec.NewRules(ctx, obj.Map("spec"), old.Map("spec"), meta, podSpecPath)}
	r.Allow.DeletionCost = podspec.BadDeletionCost(old.Annotations())
	return r
}

// pod returns what is wrong with annotations and spec of a pod, new or changed.
func (r podRules) pod(obj object.Object) field.ErrorList {
	errs := r.Annotations(obj.Annotations(), podAnnotationsPath)
	errs = append(errs, r.All()...)
	if r.Spec.String("serviceAccountName") == "" {
		errs = append(errs, r.tokensWithoutAccount()...)
	}
	for _, list := range []string{"containers", "initContainers"} {
		for i, c := range r.Spec.Objects(list) {
			errs = append(errs, podspec.PaddedImage(c, r.Path.Child(list).Index(i))...)
		}
	}
	return errs
}

// tokensWithoutAccount reports tokens of a service account that the pod does not have.
func (r podRules) tokensWithoutAccount() field.ErrorList {
	var errs field.ErrorList
	for i, v := range r.Spec.Objects("volumes") {
		for j, source := range v.Objects("projected", "sources") {
			if source.Has("serviceAccountToken") {
				errs = append(errs, field.Forbidden(r.Path.Child("volumes").Index(i).Child("projected", "sources").Index(j).Child("serviceAccountToken"),
					"must not be specified when serviceAccountName is not set"))
			}
		}
	}
	return errs
}

// validatePod returns what is wrong with a changed pod.
func validatePod(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	switch ctx.Subresource {
	case "status":
		return validatePodStatus(ctx, obj, old)
	case "ephemeralcontainers":
		return validateEphemeralUpdate(ctx, obj, old)
	case "resize":
		return validateResize(ctx, obj, old)
	}
	r := podRulesOf(ctx, obj, old)
	errs := append(r.pod(obj), r.annotationUpdates(obj, old)...)
	for _, list := range []string{"containers", "initContainers"} {
		found, stop := containerUpdates(obj.List("spec", list), old.List("spec", list), podSpecPath.Child(list))
		if errs = append(errs, found...); stop {
			return errs
		}
	}
	found, stop := deadlineUpdate(obj.At("spec"), old.At("spec"))
	if errs = append(errs, found...); stop {
		return errs
	}
	errs = append(errs, r.tolerationUpdates(old)...)
	errs = append(errs, gateUpdates(obj, old)...)
	if podSpecChanged(obj, old) {
		errs = append(errs, specUpdate(ctx, obj.At("spec"), old.At("spec"))...)
	}
	return errs
}

// annotationUpdates checks the annotations that a pod keeps for life, then all of them once more, as the server does.
func (r podRules) annotationUpdates(obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	now, before := obj.Annotations(), old.Annotations()
	check := func(key, verb string) {
		if strings.HasPrefix(key, podspec.AppArmorPrefix) {
			errs = append(errs, field.Forbidden(podAnnotationsPath.Key(key), "may not "+verb+" AppArmor annotations"))
		}
		if key == podspec.MirrorAnnotation {
			errs = append(errs, field.Forbidden(podAnnotationsPath.Key(key), "may not "+verb+" mirror pod annotation"))
		}
	}
	for _, key := range object.SortedKeys(before) {
		if value, ok := now[key]; !ok || value != before[key] {
			check(key, "remove or update")
		}
	}
	for _, key := range object.SortedKeys(now) {
		if _, ok := before[key]; !ok {
			check(key, "add")
		}
	}
	return append(errs, r.Annotations(now, podAnnotationsPath)...)
}

// containerUpdates checks that there are as many containers as before, with images. stop says that nothing more makes
// sense.
func containerUpdates(list, old []any, p field.Path) (errs field.ErrorList, stop bool) {
	if len(list) != len(old) {
		return field.ErrorList{field.Forbidden(p, "pod updates may not add or remove containers")}, true
	}
	for i, c := range object.ObjectsOf(list) {
		errs = append(errs, field.MustBeSet(p.Index(i).Child("image"), c.String("image"))...)
		errs = append(errs, podspec.PaddedImage(c, p.Index(i))...)
	}
	return errs, false
}

// deadlineUpdate checks that activeDeadlineSeconds is set, or made smaller, only.
func deadlineUpdate(spec, old object.Object) (errs field.ErrorList, stop bool) {
	p := podSpecPath.Child("activeDeadlineSeconds")
	now, set := spec.Int("activeDeadlineSeconds")
	before, was := old.Int("activeDeadlineSeconds")
	switch {
	case set && (now < 0 || now > math.MaxInt32):
		return field.Messages(p, now, field.InRange(now, 0, math.MaxInt32)), true
	case set && was && before < now:
		return field.ErrorList{field.Invalid(p, now, "must be less than or equal to previous value")}, true
	case !set && was:
		return field.ErrorList{field.Invalid(p, nil, "must not update from a positive integer to nil value")}, false
	}
	return nil, false
}

// tolerationUpdates checks that tolerations were only added, or given other seconds.
func (r podRules) tolerationUpdates(old object.Object) field.ErrorList {
	p := r.Path.Child("tolerations")
	now := r.Spec.Objects("tolerations")
	for _, before := range old.Objects("spec", "tolerations") {
		if !slices.ContainsFunc(now, func(t object.Object) bool { return sameToleration(t, before) }) {
			return field.ErrorList{field.Forbidden(p, "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return r.ValidateTolerations(now, p)
}

func sameToleration(a, b object.Object) bool {
	for _, name := range []string{"key", "operator", "value", "effect"} {
		if a.String(name) != b.String(name) {
			return false
		}
	}
	return true
}

// gateUpdates checks that scheduling gates were only removed.
func gateUpdates(obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	before, now := podspec.ContainerNames(old.Objects("spec", "schedulingGates")), podspec.ContainerNames(obj.Objects("spec", "schedulingGates"))
	for i, name := range now {
		if !slices.Contains(before, name) && !slices.Contains(now[i+1:], name) {
			errs = append(errs, field.Forbidden(podSpecPath.Child("schedulingGates").Index(i).Child("name"),
				"only deletion is allowed, but found new scheduling gate '"+name+"'"))
		}
	}
	return errs
}

const podUpdateText = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"

// specUpdate checks that nothing else of the spec changed. What may change is set back to what it was, then the rest
// must be the same.
func specUpdate(ctx *resource.Context, spec, old object.Object) field.ErrorList {
	rest := spec.Copy()
	for _, list := range []string{"containers", "initContainers"} {
		if len(rest.List(list)) == 0 {
			delete(rest, list)
		}
		before := old.Objects(list)
		for i, c := range rest.Objects(list) {
			c["image"] = before[i]["image"]
		}
	}
	for _, name := range []string{"activeDeadlineSeconds", "schedulingGates", "tolerations"} {
		delete(rest, name)
		if v, ok := old[name]; ok {
			rest[name] = v
		}
	}
	if grace, ok := old.Int("terminationGracePeriodSeconds"); ok && grace < 0 && rest.Int64("terminationGracePeriodSeconds") == 1 {
		rest["terminationGracePeriodSeconds"] = grace
	}
	var errs field.ErrorList
	if len(old.List("schedulingGates")) > 0 {
		errs = gatedUpdate(rest, old)
	}
	if t := gotext.PodSpec.In(ctx.Server.Minor); !gotext.Same(t, rest, old) {
		errs = append(errs, field.Forbidden(podSpecPath, podUpdateText+gotext.Diff(t, old, rest)))
	}
	return errs
}

// gatedUpdate lets a pod that is not scheduled yet ask for fewer nodes (KEP-3838). It sets back in rest what may change.
func gatedUpdate(rest, old object.Object) field.ErrorList {
	var errs field.ErrorList
	if !object.SemanticEqual(rest["nodeSelector"], old["nodeSelector"]) {
		errs = nodeSelectorUpdate(rest, old)
		delete(rest, "nodeSelector")
		if v, ok := old["nodeSelector"]; ok {
			rest["nodeSelector"] = v
		}
	}
	now, before := rest.At("affinity", "nodeAffinity"), old.At("affinity", "nodeAffinity")
	if (now == nil) == (before == nil) && gotext.Same("NodeAffinity", now, before) {
		return errs
	}
	errs = append(errs, nodeAffinityUpdate(now, before)...)
	affinity := rest.At("affinity")
	switch {
	case affinity == nil && before == nil:
	case affinity == nil:
		rest["affinity"] = map[string]any{"nodeAffinity": map[string]any(before)}
	case !old.Has("affinity") && !affinity.Has("podAffinity") && !affinity.Has("podAntiAffinity"):
		delete(rest, "affinity")
	case before == nil:
		delete(affinity, "nodeAffinity")
	default:
		affinity["nodeAffinity"] = map[string]any(before)
	}
	return errs
}

func nodeSelectorUpdate(spec, old object.Object) field.ErrorList {
	now := object.StringMap(spec.Map("nodeSelector"))
	for name, value := range object.StringMap(old.Map("nodeSelector")) { // order does not matter
		if v, ok := now[name]; !ok || v != value {
			return field.ErrorList{field.Invalid(podSpecPath.Child("nodeSelector"), now, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")}
		}
	}
	return nil
}

// nodeAffinityUpdate checks that required terms for nodes were only made narrower.
func nodeAffinityUpdate(now, before object.Object) field.ErrorList {
	p := podSpecPath.Child("affinity", "nodeAffinity", podspec.RequiredTerms, "nodeSelectorTerms")
	old, list := before.Objects(podspec.RequiredTerms, "nodeSelectorTerms"), now.Objects(podspec.RequiredTerms, "nodeSelectorTerms")
	if len(old) == 0 {
		return nil
	}
	if len(old) != len(list) {
		return field.ErrorList{field.Invalid(p, gotext.Values("NodeSelectorTerm", now.List(podspec.RequiredTerms, "nodeSelectorTerms")),
			"no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	var errs field.ErrorList
	for i := range old {
		if !onlyNarrower(list[i], old[i]) {
			errs = append(errs, field.Invalid(p.Index(i), gotext.Value("NodeSelectorTerm", list[i]), "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}

// onlyNarrower reports whether a term has the requirements it had, in front, and perhaps more. A term without any selects
// nothing and may not get one.
func onlyNarrower(term, old object.Object) bool {
	if len(old.List("matchExpressions"))+len(old.List("matchFields")) == 0 {
		return len(term.List("matchExpressions")) == 0
	}
	for _, name := range []string{"matchExpressions", "matchFields"} {
		before, now := old.List(name), term.List(name)
		if len(now) < len(before) || !object.SemanticEqual(now[:len(before)], before) {
			return false
		}
	}
	return true
}

// warnPod warns about a new pod, or about the addresses of a written status. Other updates get no warnings: people
// rarely make them.
func warnPod(ctx *resource.Context, obj, old object.Object) {
	if old == nil {
		if msgs := field.DNS1123Label(obj.Name()); len(msgs) > 0 {
			ctx.Warn(fmt.Sprintf("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", msgs))
		}
		kind.WarnAll(ctx, podspec.Warnings(ctx, obj.At("spec"), obj.Annotations(), field.Path{}))
		return
	}
	if ctx.Subresource != "status" {
		return
	}
	for _, list := range []string{"podIPs", "hostIPs"} {
		for i, ip := range obj.Objects("status", list) {
			kind.WarnIP(ctx, podStatusPath.Child(list).Index(i).Child("ip"), ip.String("ip"))
		}
	}
}
