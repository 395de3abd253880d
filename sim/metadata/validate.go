// Package metadata validates the metadata that all objects have.
//
//	create: Validate        name generateName namespace generation labels annotations ownerReferences finalizers managedFields
//	update: ValidateUpdate  finalizers while deleting, resourceVersion, generation, immutable fields, then the fields that users may change
//
// The server applies these rules once itself, and most kinds apply them again, so errors of an update may occur twice in the causes
// of a Status. A caller of both returns both. Kinds of the core API groups use ValidateCore and CoreFinalizers, which require
// domain-qualified finalizer names; custom resources get warnings instead. Messages and order follow the API server's ObjectMeta
// validation (API conventions, "Metadata").
package metadata

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Rules selects the rules of a Kubernetes minor version: 36 stands for 1.36.
type Rules int

// annotationsMax is the maximum total size of annotation keys and values in bytes.
const annotationsMax = 256 * 1024

// Validate validates the metadata of an object whose name has already been generated. p is the path of the metadata. nameRule
// validates generateName, as a prefix, and name.
func (r Rules) Validate(meta map[string]any, namespaced bool, nameRule func(name string, prefix bool) []string, p field.Path) field.ErrorList {
	return append(Names(meta, nameRule, p), r.ValidateRest(meta, namespaced, p)...)
}

// Names is that part of Validate which depends on the rule for names. It validates generateName and name.
func Names(meta map[string]any, nameRule func(name string, prefix bool) []string, p field.Path) field.ErrorList {
	m := object.Object(meta)
	var errs field.ErrorList
	if prefix := m.String("generateName"); prefix != "" {
		errs = append(errs, field.Messages(p.Child("generateName"), prefix, nameRule(prefix, true))...)
	}
	if name := m.String("name"); name == "" {
		errs = append(errs, field.Required(p.Child("name"), "name or generateName is required"))
	} else {
		errs = append(errs, field.Check(p.Child("name"), name, func(name string) []string { return nameRule(name, false) })...)
	}
	return errs
}

// ValidateRest is that part of Validate which is the same for all kinds.
func (r Rules) ValidateRest(meta map[string]any, namespaced bool, p field.Path) field.ErrorList {
	return rest(meta, namespaced, r.free(meta, p), p)
}

// freeErrors contains the errors in those fields that users may change, by field.
type freeErrors struct{ labels, owners, managers field.ErrorList }

func (r Rules) free(m object.Object, p field.Path) freeErrors {
	return freeErrors{checkLabels(m, p), r.OwnerReferences(m.List("ownerReferences"), p.Child("ownerReferences")),
		r.ManagedFields(m.List("managedFields"), p.Child("managedFields"))}
}

func rest(m object.Object, namespaced bool, free freeErrors, p field.Path) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, checkNamespace(m.String("namespace"), namespaced, p.Child("namespace"))...)
	generation, _ := m.Int("generation")
	errs = append(errs, field.NonNegative(generation, p.Child("generation"))...)
	errs = append(append(errs, free.labels...), free.owners...)
	errs = append(errs, Finalizers(object.Strings(m.List("finalizers")), p.Child("finalizers"))...)
	return append(errs, free.managers...)
}

// ValidateCore is like Validate, but also requires that finalizers are standard or domain-qualified, as some built-in kinds do.
func (r Rules) ValidateCore(meta map[string]any, namespaced bool, nameRule func(name string, prefix bool) []string, p field.Path) field.ErrorList {
	return append(r.Validate(meta, namespaced, nameRule, p), CoreFinalizers(meta, p)...)
}

// ValidateUpdate validates the metadata of an object that replaces another one. old is the metadata of the replaced object,
// and p is the path of the metadata. own is the result of ValidateRest, and changed contains the errors of the update. Both
// include the errors in fields that users may change.
func (r Rules) ValidateUpdate(meta, old map[string]any, namespaced bool, p field.Path) (own, changed field.ErrorList) {
	free := r.free(meta, p)
	return rest(meta, namespaced, free, p), update(meta, old, free, p)
}

func update(m, o object.Object, free freeErrors, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.String("deletionTimestamp") != "" {
		errs = append(errs, noNewFinalizers(m, o, p.Child("finalizers"))...)
	}
	if m.String("resourceVersion") == "" {
		errs = append(errs, field.Invalid(p.Child("resourceVersion"), "", "must be specified for an update"))
	}
	generation, _ := m.Int("generation")
	if before, _ := o.Int("generation"); generation < before {
		errs = append(errs, field.Invalid(p.Child("generation"), generation, "must not be decremented"))
	}
	errs = append(errs, immutable(m, o, p)...)
	errs = append(append(errs, free.labels...), free.owners...)
	return append(errs, free.managers...)
}

func checkNamespace(namespace string, namespaced bool, p field.Path) field.ErrorList {
	switch {
	case namespaced && namespace == "":
		return field.ErrorList{field.Required(p, "")}
	case namespaced:
		return field.Check(p, namespace, field.DNS1123Label)
	case namespace != "":
		return field.ErrorList{field.Forbidden(p, "not allowed on this type")}
	}
	return nil
}

// checkLabels validates labels and annotations.
func checkLabels(m object.Object, p field.Path) field.ErrorList {
	errs := field.CheckLabels(p.Child("labels"), m.Map("labels"))
	return append(errs, Annotations(m.Map("annotations"), p.Child("annotations"))...)
}

// Annotations validates annotations, whose path is p: keys must be valid label keys in any case, and the total size is limited.
// Keys are checked in alphabetical order; the real server's order is random.
func Annotations(annotations map[string]any, p field.Path) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for _, key := range object.SortedKeys(annotations) {
		if value, ok := annotations[key].(string); ok {
			errs = append(errs, field.Check(p, key, func(key string) []string { return field.QualifiedName(strings.ToLower(key)) })...)
			size += len(key) + len(value)
		}
	}
	if size > annotationsMax {
		errs = append(errs, field.TooLong(p, annotationsMax))
	}
	return errs
}

func noNewFinalizers(m, old object.Object, p field.Path) field.ErrorList {
	before := object.Strings(old.List("finalizers"))
	var added []string
	for _, f := range object.Strings(m.List("finalizers")) {
		if !slices.Contains(before, f) && !slices.Contains(added, f) {
			added = append(added, f)
		}
	}
	if added == nil {
		return nil
	}
	slices.Sort(added)
	return field.ErrorList{field.Forbidden(p, fmt.Sprintf(
		"no new finalizers can be added if the object is being deleted, found new finalizers %#v", added))}
}

// immutable checks that an update does not change any of the immutable fields.
func immutable(m, old object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	changed := func(name string, value any) {
		errs = append(errs, field.Invalid(p.Child(name), value, field.TextImmutable))
	}
	for _, name := range []string{"name", "namespace"} {
		if value := m.String(name); value != old.String(name) {
			changed(name, value)
		}
	}
	if uid := m.String("uid"); uid != old.String("uid") {
		changed("uid", field.Enum(uid))
	}
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		now, before := m.String(name), old.String(name)
		if now != before && timestamp(now) != timestamp(before) {
			changed(name, timestamp(now))
		}
	}
	const grace = "deletionGracePeriodSeconds"
	if !object.SemanticEqual(m[grace], old[grace]) {
		changed(grace, m[grace])
	}
	return errs
}

// timestamp converts the time s to the server's format, so that +00:00 equals Z. If s is empty, it returns nil.
func timestamp(s string) any {
	if s == "" {
		return nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return object.Time(t)
	}
	return s
}

// Limits for the length of names in managedFields, in bytes.
const (
	fieldManagerMax = 128
	subresourceMax  = 256
)

// ManagedFields validates the managedFields in a request, except for the fields that the entries own. p is the path of the list.
func (r Rules) ManagedFields(list []any, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, v := range list {
		entry, p := object.As(v), p.Index(i)
		op := entry.String("operation")
		if op == "" && r >= 37 {
			errs = append(errs, field.Required(p.Child("operation"), "must not be empty"))
		} else if op != "Apply" && op != "Update" {
			errs = append(errs, field.Invalid(p.Child("operation"), field.Enum(op), "must be `Apply` or `Update`"))
		}
		if t := entry.String("fieldsType"); t != "" && t != "FieldsV1" {
			errs = append(errs, field.Invalid(p.Child("fieldsType"), t, "must be `FieldsV1`"))
		}
		errs = append(errs, FieldManager(entry.String("manager"), p.Child("manager"))...)
		if len(entry.String("subresource")) > subresourceMax {
			errs = append(errs, field.TooLong(p.Child("subresource"), subresourceMax))
		}
	}
	return errs
}

// FieldManager validates the name of a field manager in managedFields or in the fieldManager parameter. An empty name is valid.
func FieldManager(name string, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(name) > fieldManagerMax {
		errs = append(errs, field.TooLong(p, fieldManagerMax))
	}
	for i, r := range name {
		if !unicode.IsPrint(r) {
			errs = append(errs, field.Invalid(p, name, fmt.Sprintf("invalid character %#U (at position %d)", r, i)))
		}
	}
	return errs
}
