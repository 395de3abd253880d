// Package metadata checks metadata, the part that all objects share.
//
//	create: Validate        name generateName namespace generation labels annotations ownerReferences finalizers managedFields
//	update: ValidateUpdate  finalizers while deleting, resourceVersion, generation, immutable fields, then the fields that users may change
//
// The server runs these rules once itself and most kinds run them again, so errors of an update may occur twice in the causes of a
// Status: a caller of both keeps both. Kinds of the core API groups use ValidateCore and CoreFinalizers, which want
// domain-qualified finalizer names; custom resources get warnings instead. Texts and order follow ObjectMeta validation of the API
// server (API conventions, "Metadata").
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

// Rules are those of a Kubernetes minor: 36 is 1.36.
type Rules int

// annotationsMax is the greatest size of all annotation keys and values together, in bytes.
const annotationsMax = 256 * 1024

// Validate checks the metadata at p of an object of which the name has been generated already. nameRule checks
// generateName as a prefix, then name.
func (r Rules) Validate(meta map[string]any, namespaced bool, nameRule func(name string, prefix bool) []string, p field.Path) field.ErrorList {
	return append(Names(meta, nameRule, p), r.ValidateRest(meta, namespaced, p)...)
}

// Names is the part of Validate that hangs on the rule for names: generateName and name.
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

// ValidateRest is the part of Validate that is the same for all kinds.
func (r Rules) ValidateRest(meta map[string]any, namespaced bool, p field.Path) field.ErrorList {
	return rest(meta, namespaced, r.free(meta, p), p)
}

// freeErrors are the errors in the fields that users may change, by field.
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

// ValidateCore is Validate for the built-in kinds whose finalizers must have standard or domain-qualified names.
func (r Rules) ValidateCore(meta map[string]any, namespaced bool, nameRule func(name string, prefix bool) []string, p field.Path) field.ErrorList {
	return append(r.Validate(meta, namespaced, nameRule, p), CoreFinalizers(meta, p)...)
}

// ValidateUpdate checks the metadata at p of an object that is about to replace one with the metadata old. own is the result of
// ValidateRest, and changed the errors of the update. Both include the errors in fields that users may change.
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

// checkLabels checks labels and annotations.
func checkLabels(m object.Object, p field.Path) field.ErrorList {
	errs := field.CheckLabels(p.Child("labels"), m.Map("labels"))
	return append(errs, Annotations(m.Map("annotations"), p.Child("annotations"))...)
}

// Annotations checks the annotations at p: keys are label keys in any case, and the total size is limited. Keys are
// looked at in sorted order; the real server's order is random.
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

// immutable checks the fields that no update changes.
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

// timestamp returns the time s as the server prints it, or nil when there is none: +00:00 and Z are the same.
func timestamp(s string) any {
	if s == "" {
		return nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return object.Time(t)
	}
	return s
}

// Limits of names in managedFields, in bytes.
const (
	fieldManagerMax = 128
	subresourceMax  = 256
)

// ManagedFields checks the entries at p that a client sent, not the fields they own.
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

// FieldManager checks the name of a field manager, in an entry of managedFields or in the fieldManager parameter.
// Empty is fine.
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
