package metadata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// OwnerReferences validates the owner references of an object. p is the path of the list. Before 1.37, field paths in errors
// contain no index. It does not check whether an owner exists, which is up to the garbage collector.
func (r Rules) OwnerReferences(list []any, p field.Path) field.ErrorList {
	var errs field.ErrorList
	controller := ""
	for i, v := range list {
		ref := object.As(v)
		if r >= 37 {
			errs = append(errs, checkOwner(ref, p.Index(i))...)
		} else {
			errs = append(errs, checkOwnerBefore37(ref, p)...)
		}
		if is, _ := ref.Bool("controller"); !is {
			continue
		}
		this := ref.Kind() + "/" + ref.String("name")
		if controller == "" {
			controller = this
			continue
		}
		errs = append(errs, field.Invalid(p, printOwners(list), fmt.Sprintf("Only one reference can have Controller set to true. "+
			`Found "true" in references for %s and %s`, controller, this)))
	}
	return errs
}

func checkOwner(ref object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if versionOf(ref.APIVersion()) == "" && ref.APIVersion() != "" {
		errs = append(errs, field.Invalid(p.Child("apiVersion"), ref.APIVersion(), "must be <group>/<version> or <version>"))
	}
	for _, name := range []string{"apiVersion", "kind", "name", "uid"} {
		if ref.String(name) == "" {
			errs = append(errs, field.Required(p.Child(name), "must not be empty"))
		}
	}
	return append(errs, checkBanned(ref, p)...)
}

func checkOwnerBefore37(ref object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if versionOf(ref.APIVersion()) == "" {
		errs = append(errs, field.Invalid(p.Child("apiVersion"), ref.APIVersion(), "version must not be empty"))
	}
	for _, name := range []string{"kind", "name", "uid"} {
		if ref.String(name) == "" {
			errs = append(errs, field.Invalid(p.Child(name), "", "must not be empty"))
		}
	}
	return append(errs, checkBanned(ref, p)...)
}

// checkBanned rejects events as owners (apimachinery validation.BannedOwners).
func checkBanned(ref object.Object, p field.Path) field.ErrorList {
	if ref.APIVersion() != "v1" || ref.Kind() != "Event" {
		return nil
	}
	return field.ErrorList{field.Invalid(p, printOwner(ref), "/v1, Kind=Event is disallowed from being an owner")}
}

// versionOf returns the version in an apiVersion. If the apiVersion contains two slashes, it returns "".
func versionOf(apiVersion string) string {
	if strings.Count(apiVersion, "/") > 1 {
		return ""
	}
	return apiVersion[strings.IndexByte(apiVersion, '/')+1:]
}

// printOwner returns the JSON of an owner reference with its fields in the order of the Go type.
func printOwner(ref object.Object) field.Raw {
	b := []byte("{")
	for i, name := range []string{"apiVersion", "kind", "name", "uid"} {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(object.AppendString(b, name), ':')
		b = object.AppendString(b, ref.String(name))
	}
	for _, name := range []string{"controller", "blockOwnerDeletion"} {
		if value, ok := ref.Bool(name); ok {
			b = append(object.AppendString(append(b, ','), name), ':')
			b = object.AppendJSON(b, value)
		}
	}
	return field.Raw(append(b, '}'))
}

func printOwners(list []any) field.Raw {
	texts := make([]string, len(list))
	for i, v := range list {
		m, _ := v.(map[string]any)
		texts[i] = string(printOwner(m))
	}
	return field.Raw("[" + strings.Join(texts, ",") + "]")
}

// DedupOwnerReferences removes duplicate owner references from obj and returns their uids, one per removed reference. It replaces
// the list in obj, but does not modify the old list.
func DedupOwnerReferences(obj object.Object) (duplicateUIDs []string) {
	list := obj.List("metadata", "ownerReferences")
	if len(list) < 2 {
		return nil
	}
	kept := make([]any, 0, len(list))
	seen := make(map[string]bool, len(list))
	for _, ref := range list {
		uid := object.As(ref).String("uid")
		same := func(k any) bool { return object.SemanticEqual(k, ref) }
		if seen[uid] && slices.ContainsFunc(kept, same) {
			duplicateUIDs = append(duplicateUIDs, uid)
			continue
		}
		seen[uid] = true
		kept = append(kept, ref)
	}
	if duplicateUIDs != nil {
		obj.Set(kept, "metadata", "ownerReferences")
	}
	return duplicateUIDs
}

// DuplicateOwnersWarning returns the warning about owner references that DedupOwnerReferences removed. The warning says that the
// request contained them or, if afterMutation is true, that mutating admission added them.
func DuplicateOwnersWarning(uids []string, afterMutation bool) string {
	when := ""
	if afterMutation {
		when = " after mutating admission happens"
	}
	return ".metadata.ownerReferences contains duplicate entries" + when + "; API server dedups owner references in 1.20+, " +
		"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " +
		strings.Join(uids, ", ")
}

// Finalizers without a domain. The first two are handled by the garbage collector before an object is removed.
const (
	Orphan             = "orphan"
	ForegroundDeletion = "foregroundDeletion"
	Kubernetes         = "kubernetes"
)

// Finalizers validates the finalizers of any object. p is the path of the list, which all errors contain.
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

// coreFinalizer validates a finalizer of a built-in kind, which must be a standard finalizer or domain-qualified. p is its path.
func coreFinalizer(name string, p field.Path) field.ErrorList {
	if strings.Contains(name, "/") || isStandard(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, name, "name is neither a standard finalizer name nor is it fully qualified")}
}

// CoreFinalizers validates the finalizers of a built-in kind. p is the path of the metadata.
func CoreFinalizers(meta map[string]any, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range object.Strings(object.Object(meta).List("finalizers")) {
		errs = append(errs, coreFinalizer(name, p.Child("finalizers").Index(i))...)
	}
	return errs
}

// FinalizerWarnings returns the warnings about finalizers that are in meta but not in old, sorted. They are for custom resources;
// for built-in kinds, such finalizers are errors. On create, old is nil.
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
