package metadata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Finalizers without a domain. The first two make the garbage collector act before the object goes.
const (
	Orphan             = "orphan"
	ForegroundDeletion = "foregroundDeletion"
	Kubernetes         = "kubernetes"
)

// Finalizers checks the finalizers of any object; p is the path of the list and of every error.
func Finalizers(names []string, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range names {
		errs = append(errs, field.Check(p, name, field.QualifiedName)...)
	}
	if slices.Contains(names, Orphan) && slices.Contains(names, ForegroundDeletion) {
		errs = append(errs, field.Invalid(p, names, "finalizer orphan and foregroundDeletion cannot be both set"))
	}
	return errs
}

// coreFinalizer checks one finalizer, at p, of a built-in kind: it must be a standard one or domain-qualified.
func coreFinalizer(name string, p field.Path) field.ErrorList {
	if strings.Contains(name, "/") || isStandard(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, name, "name is neither a standard finalizer name nor is it fully qualified")}
}

// CoreFinalizers checks the finalizers of a built-in kind in the metadata at p.
func CoreFinalizers(meta map[string]any, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range object.Strings(object.Object(meta).List("finalizers")) {
		errs = append(errs, coreFinalizer(name, p.Child("finalizers").Index(i))...)
	}
	return errs
}

// FinalizerWarnings returns the warnings about finalizers that meta has and old has not, in sorted order. Custom
// resources give them where built-in kinds give errors. On create old is nil.
func FinalizerWarnings(meta, old map[string]any) []string {
	const path = "metadata.finalizers"
	before := object.Strings(object.Object(old).List("finalizers"))
	names := object.Strings(object.Object(meta).List("finalizers"))
	slices.Sort(names)
	var warnings []string
	for _, name := range slices.Compact(names) {
		if slices.Contains(before, name) {
			continue
		}
		for _, m := range field.QualifiedName(name) {
			warnings = append(warnings, fmt.Sprintf("%s: %q: %s", path, name, m))
		}
		if strings.Contains(name, "/") || isStandard(name) {
			continue
		}
		hint := ""
		if strings.Contains(name, ".") {
			hint = " including a path (/)"
		}
		warnings = append(warnings, fmt.Sprintf("%s: %q: prefer a domain-qualified finalizer name%s"+
			" to avoid accidental conflicts with other finalizer writers", path, name, hint))
	}
	return warnings
}

func isStandard(name string) bool {
	return name == Kubernetes || name == Orphan || name == ForegroundDeletion
}
