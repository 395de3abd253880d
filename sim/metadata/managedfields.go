package metadata

import (
	"fmt"
	"unicode"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

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
