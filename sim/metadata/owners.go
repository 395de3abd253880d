package metadata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// OwnerReferences checks the owner references at p. Before 1.37 errors carry no index. Whether an owner exists is not checked:
// the garbage collector finds out.
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

// checkBanned refuses events as owners (apimachinery validation.BannedOwners).
func checkBanned(ref object.Object, p field.Path) field.ErrorList {
	if ref.APIVersion() != "v1" || ref.Kind() != "Event" {
		return nil
	}
	return field.ErrorList{field.Invalid(p, printOwner(ref), "/v1, Kind=Event is disallowed from being an owner")}
}

// versionOf returns the version in an apiVersion; "" for one with two slashes.
func versionOf(apiVersion string) string {
	if strings.Count(apiVersion, "/") > 1 {
		return ""
	}
	return apiVersion[strings.IndexByte(apiVersion, '/')+1:]
}

// printOwner prints an owner reference with its fields in the order of the Go type.
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

// DedupOwnerReferences removes owner references that are equal to an earlier one from obj and returns their uids, one
// for each that is gone. The list in obj is replaced, not changed.
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

// DuplicateOwnersWarning is the warning about owner references that DedupOwnerReferences removed. It names the request
// or, when they were found afterMutation, the mutating admission that sent them.
func DuplicateOwnersWarning(uids []string, afterMutation bool) string {
	when := ""
	if afterMutation {
		when = " after mutating admission happens"
	}
	return ".metadata.ownerReferences contains duplicate entries" + when + "; API server dedups owner references in 1.20+, " +
		"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " +
		strings.Join(uids, ", ")
}
