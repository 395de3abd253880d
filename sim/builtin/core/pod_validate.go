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

// validatePod checks a new or changed pod.
func validatePod(ctx *resource.Context, at field.Cursor) {
	switch {
	case !at.Updates():
		validateNewPod(podRulesOf(ctx, at))
	case ctx.Subresource == "ephemeralcontainers":
		validateEphemeralUpdate(podRulesOf(ctx, at))
	case ctx.Subresource == "resize":
		validateResize(podRulesOf(ctx, at))
	default:
		validatePodUpdate(podRulesOf(ctx, at))
	}
}

// podRules are the rules that apply to a whole pod.
type podRules struct {
	*podspec.Rules
	pod, spec field.Cursor
	old       object.Object
	minor     int // minor version of the server
}

func podRulesOf(ctx *resource.Context, at field.Cursor) podRules {
	meta := at.Object().Metadata()
	if meta == nil {
		meta = map[string]any{}
	}
	r := podRules{podspec.NewRules(ctx, at.Child("spec"), meta), at, at.Child("spec"), at.Old(), ctx.Server.Minor}
	r.Allow.DeletionCost = podspec.BadDeletionCost(r.old)
	return r
}

func validateNewPod(r podRules) {
	r.annotationsAndSpec()
	r.spec.Child("ephemeralContainers").ForbidIf(r.spec.Len("ephemeralContainers") > 0, "cannot be set on create")
	r.spec.Child("nodeName").ForbidIf(r.spec.String("nodeName") != "" && r.spec.Len("schedulingGates") > 0,
		"cannot be set until all schedulingGates have been cleared")
	r.ProfilesMatchAnnotations(r.annotations().Object())
}

func (r podRules) annotations() field.Cursor { return r.pod.Child("metadata", "annotations") }

// annotationsAndSpec checks the annotations and the spec of a new or changed pod.
func (r podRules) annotationsAndSpec() {
	r.Annotations(r.annotations())
	r.All()
	if r.spec.String("serviceAccountName") == "" { // without a service account there can be no token
		for v := range r.spec.Each("volumes") {
			for source := range v.Each("projected", "sources") {
				source.ForbidAny("must not be specified when serviceAccountName is not set", "serviceAccountToken")
			}
		}
	}
	for _, list := range podContainers {
		for c := range r.spec.Each(list) {
			podspec.PaddedImage(c)
		}
	}
}

// podContainers are the lists of containers that are set when a pod is created.
var podContainers = []string{"containers", "initContainers"}

// validatePodUpdate checks that an update changes only mutable fields of a pod.
func validatePodUpdate(r podRules) {
	r.annotationsAndSpec()
	r.annotationUpdates()
	was := r.old.At("spec")
	for _, list := range podContainers {
		if r.spec.Len(list) != len(was.List(list)) {
			r.spec.Child(list).Forbidden("pod updates may not add or remove containers")
			return
		}
		for c := range r.spec.Each(list) {
			c.Require("image")
			podspec.PaddedImage(c)
		}
	}
	if !r.deadlineUpdate() {
		return
	}
	r.tolerationUpdates()
	r.gateUpdates()
	if r.pod.Object().Generation() != r.old.Generation() { // the registry increments the generation when the spec changes
		r.specUpdate(was)
	}
}

// annotationUpdates checks that immutable annotations do not change, and then checks all annotations again, as the server
// does.
func (r podRules) annotationUpdates() {
	now, before := r.annotations(), r.old.Map("metadata", "annotations")
	check := func(key, verb string) {
		now.Key(key).ForbidIf(strings.HasPrefix(key, podspec.AppArmorPrefix), "may not "+verb+" AppArmor annotations").
			ForbidIf(key == podspec.MirrorAnnotation, "may not "+verb+" mirror pod annotation")
	}
	for _, key := range object.SortedKeys(before) {
		if now.Object()[key] != before[key] {
			check(key, "remove or update")
		}
	}
	for _, key := range object.SortedKeys(now.Object()) {
		if _, ok := before[key]; !ok {
			check(key, "add")
		}
	}
	r.Annotations(now)
}

// deadlineUpdate checks that an update only sets or reduces activeDeadlineSeconds. It returns false if the remaining rules must not
// be checked.
func (r podRules) deadlineUpdate() (more bool) {
	at := r.spec.Child("activeDeadlineSeconds")
	now, set := at.Int()
	before, was := r.old.Int("spec", "activeDeadlineSeconds")
	switch {
	case set && (now < 0 || now > math.MaxInt32):
		at.Range(0, math.MaxInt32)
		return false
	case set && was && before < now:
		at.Invalid(now, "must be less than or equal to previous value")
		return false
	}
	at.InvalidIf(!set && was, "must not update from a positive integer to nil value")
	return true
}

// tolerationUpdates checks that an update only adds tolerations or changes tolerationSeconds.
func (r podRules) tolerationUpdates() {
	at := r.spec.Child("tolerations")
	now := r.Spec.List("tolerations")
	for _, before := range r.old.List("spec", "tolerations") {
		if !slices.ContainsFunc(now, func(t any) bool { return sameToleration(object.As(t), object.As(before)) }) {
			at.Forbidden("existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
	if r.BadTolerations { // the server reports the error twice
		r.CheckTolerations(at)
	}
}

func sameToleration(a, b object.Object) bool {
	for _, name := range []string{"key", "operator", "value", "effect"} {
		if a.String(name) != b.String(name) {
			return false
		}
	}
	return true
}

// gateUpdates checks that an update only removes scheduling gates.
func (r podRules) gateUpdates() {
	before := kind.Texts(r.old.Objects("spec", "schedulingGates"), "name")
	now := kind.Texts(r.Spec.Objects("schedulingGates"), "name")
	for i, name := range now {
		r.spec.Child("schedulingGates").Index(i).Child("name").ForbidIf(!slices.Contains(before, name) && !slices.Contains(now[i+1:], name),
			"only deletion is allowed, but found new scheduling gate '"+name+"'")
	}
}

const podUpdateText = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"

// specUpdate checks that the rest of the spec is unchanged. It resets the mutable fields in a copy, which must then equal
// the old spec.
func (r podRules) specUpdate(old object.Object) {
	rest := r.Spec.Copy()
	for _, list := range podContainers {
		if len(rest.List(list)) == 0 {
			delete(rest, list)
		}
		before := old.Objects(list)
		for i, c := range rest.Objects(list) {
			c["image"] = before[i]["image"]
		}
	}
	kind.KeepOld(rest, old, "activeDeadlineSeconds", "schedulingGates", "tolerations")
	if grace, ok := old.Int("terminationGracePeriodSeconds"); ok && grace < 0 && rest.Int64("terminationGracePeriodSeconds") == 1 {
		rest["terminationGracePeriodSeconds"] = grace
	}
	if len(old.List("schedulingGates")) > 0 {
		r.gatedUpdate(rest, old)
	}
	if t := gotext.PodSpec.In(r.minor); !gotext.Same(t, rest, old) {
		r.spec.Forbidden(podUpdateText + gotext.Diff(t, old, rest))
	}
}

// gatedUpdate allows an update to restrict the nodes of a pod that has scheduling gates (KEP-3838). It resets those fields in rest
// that may change.
func (r podRules) gatedUpdate(rest, old object.Object) {
	if !object.SemanticEqual(rest["nodeSelector"], old["nodeSelector"]) {
		selector := r.spec.Child("nodeSelector")
		for name, value := range old.Map("nodeSelector") { // order does not matter
			if selector.Object()[name] != value {
				selector.Invalid(object.StringMap(selector.Object()), "only additions to spec.nodeSelector are allowed (no mutations or deletions)")
				break
			}
		}
		kind.KeepOld(rest, old, "nodeSelector")
	}
	now, before := rest.At("affinity", "nodeAffinity"), old.At("affinity", "nodeAffinity")
	if (now == nil) == (before == nil) && gotext.Same(gotext.NodeAffinity, now, before) {
		return
	}
	r.nodeAffinityUpdate(now, before)
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
}

// nodeAffinityUpdate checks that required node selector terms only become narrower.
func (r podRules) nodeAffinityUpdate(now, before object.Object) {
	at := r.spec.Child("affinity", "nodeAffinity", podspec.RequiredTerms, "nodeSelectorTerms")
	old, list := before.Objects(podspec.RequiredTerms, "nodeSelectorTerms"), now.List(podspec.RequiredTerms, "nodeSelectorTerms")
	switch {
	case len(old) == 0:
	case len(old) != len(list):
		at.Invalid(gotext.Values(gotext.NodeSelectorTerm, list), "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
	default:
		for i, term := range object.ObjectsOf(list) {
			if !onlyNarrower(term, old[i]) {
				at.Index(i).Invalid(gotext.Value(gotext.NodeSelectorTerm, term), "only additions are allowed (no mutations or deletions)")
			}
		}
	}
}

// onlyNarrower reports whether a term begins with all of its old requirements. It may have additional ones, unless it had
// none: such a term selects nothing and must not change.
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

// warnPod warns about a new pod, or about the addresses in a status update. It does not warn about other updates, which are
// rarely made by people.
func warnPod(ctx *resource.Context, obj, old object.Object) {
	if old == nil {
		if msgs := field.DNS1123Label(obj.Name()); len(msgs) > 0 {
			ctx.Warn(fmt.Sprintf("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", msgs))
		}
		field.Collect(obj, nil, func(at field.Cursor) { podspec.Warn(ctx, at) })
		return
	}
	if ctx.Subresource != "status" {
		return
	}
	for _, list := range []string{"podIPs", "hostIPs"} {
		for i, ip := range obj.Objects("status", list) {
			kind.WarnIP(ctx, field.Root("status").Child(list).Index(i).Child("ip"), ip.String("ip"))
		}
	}
}
