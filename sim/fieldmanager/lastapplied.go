package fieldmanager

import (
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"

	"github.com/kubesim/kubesim/sim/object"
)

// kubectl is the manager whose client-side apply records the applied configuration in an annotation.
const (
	kubectl        = "kubectl"
	lastApplied    = "kubectl.kubernetes.io/last-applied-configuration"
	annotationsMax = 256 << 10 // bytes of all annotations (TotalAnnotationSizeLimitB)
)

// overLastApplied merges the configuration. If kubectl may take over the conflicting fields, because it managed them before
// server-side apply, it merges again with force.
func (a *application) overLastApplied(force bool) (merged object.Object, entries managed, err error) {
	merged, entries, err = a.structuredMerge(force)
	conflicts, ok := err.(merge.Conflicts)
	if !ok || a.by.Name != kubectl {
		return merged, entries, err
	}
	allowed := a.lastAppliedSet()
	if allowed == nil {
		return nil, nil, conflicts
	}
	conflicts = slices.DeleteFunc(conflicts, func(c merge.Conflict) bool { return allowed.Has(c.Path) })
	if len(conflicts) > 0 {
		return nil, nil, conflicts
	}
	return a.structuredMerge(true)
}

// lastAppliedSet returns the fields of the annotation that have the same value in the live object, or nil if the annotation is
// missing or unusable.
func (a *application) lastAppliedSet() *fieldpath.Set {
	text := a.live.Annotations()[lastApplied]
	if text == "" {
		return nil
	}
	applied, err := object.Parse([]byte(text))
	if err != nil || applied.APIVersion() != a.d.GV() || applied.Kind() != a.d.Kind {
		return nil
	}
	model := a.m.model(typeOf(a.d), a.d.Custom)
	live, err := untyped(a.liveTyped)
	if err != nil || model.root.invalid(map[string]any(applied)) != "" || model.root.invalid(map[string]any(live)) != "" { // repeated items are not allowed either
		return nil
	}
	was := model.typed(applied)
	set, err := was.ToFieldSet()
	if err != nil {
		return nil
	}
	differ, err := was.Compare(a.liveTyped)
	if err != nil {
		return nil
	}
	return set.Difference(differ.Modified).Difference(differ.Added).Difference(differ.Removed)
}

// refreshLastApplied updates the annotation of obj, if it has one, with the configuration, for a later client-side apply.
func refreshLastApplied(obj, config object.Object) {
	annotations := obj.Map("metadata", "annotations")
	if text, _ := annotations[lastApplied].(string); text == "" {
		return
	}
	if own, ok := config.Metadata()["annotations"]; ok {
		meta := without(config.Metadata(), "annotations")
		if own, ok := own.(map[string]any); ok {
			meta["annotations"] = texts(without(own, lastApplied))
		}
		config = replaced(config, "metadata", meta)
	}
	annotations = maps.Clone(annotations)
	annotations[lastApplied] = string(object.JSON(map[string]any(config))) + "\n"
	size := 0
	for name, v := range annotations { // order does not matter
		s, _ := v.(string)
		size += len(name) + len(s)
	}
	if size > annotationsMax {
		delete(annotations, lastApplied)
	}
	obj.Set(annotations, "metadata", "annotations")
}

// texts returns a copy of annotations in which null is replaced by "".
func texts(annotations map[string]any) map[string]any {
	out := make(map[string]any, len(annotations))
	for name, v := range annotations { // order does not matter
		if out[name] = v; v == nil {
			out[name] = ""
		}
	}
	return out
}
