package fieldmanager

import (
	"maps"

	"github.com/kubesim/kubesim/sim/object"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
)

// kubectl is the manager that comes from client-side apply, which noted in an annotation what it had applied.
const (
	kubectl        = "kubectl"
	lastApplied    = "kubectl.kubernetes.io/last-applied-configuration"
	annotationsMax = 256 << 10 // bytes of all annotations (TotalAnnotationSizeLimitB)
)

// notLastApplied returns the conflicts about fields that the annotation does not list with their present value. ok is
// false where the annotation does not help.
func (a *application) notLastApplied(conflicts merge.Conflicts) (left merge.Conflicts, ok bool) {
	owned := a.lastAppliedSet()
	if owned == nil {
		return conflicts, false
	}
	for _, c := range conflicts {
		if !owned.Has(c.Path) {
			left = append(left, c)
		}
	}
	return left, true
}

// lastAppliedSet returns the fields of the annotation that have the same value in the live object.
func (a *application) lastAppliedSet() *fieldpath.Set {
	text := a.live.Annotations()[lastApplied]
	if text == "" {
		return nil
	}
	applied, err := object.Parse([]byte(text))
	if err != nil || applied.APIVersion() != a.d.GV() || applied.Kind() != a.d.Kind {
		return nil
	}
	root := a.model.root
	if root.invalid(map[string]any(applied)) != "" || root.invalid(a.whole) != "" { // no repeated items either
		return nil
	}
	was := a.model.typed(applied)
	set, err := was.ToFieldSet()
	if err != nil {
		return nil
	}
	differ, err := was.Compare(a.model.typed(a.whole))
	if err != nil {
		return nil
	}
	set = set.Difference(differ.Modified).Difference(differ.Added).Difference(differ.Removed)
	if len(a.model.gaps) == 0 {
		return set
	}
	return toSet(a.model.emptied(fromSet(set)))
}

// refreshLastApplied notes the configuration in the annotation of obj, if it has one, for a later client-side apply.
func refreshLastApplied(obj, config object.Object) {
	annotations := obj.Map("metadata", "annotations")
	if text, _ := annotations[lastApplied].(string); text == "" {
		return
	}
	if own := config.Map("metadata", "annotations"); own != nil {
		meta := replaced(config.Metadata(), "annotations", without(own, lastApplied))
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
