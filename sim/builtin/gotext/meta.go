package gotext

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// metaFields are the fields of a metav1.ObjectMeta in the order of the Go struct, and so are those of the structs in its
// lists.
var (
	metaFields = []string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences",
		"finalizers", "managedFields"}
	metaLists = map[string][]string{
		"ownerReferences": {"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"},
		"managedFields":   {"manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"},
	}
)

// appendMeta prints metadata, which looks in memory as it does on the wire, with a comma behind each field.
func appendMeta(b []byte, meta object.Object) []byte {
	for _, name := range metaFields {
		v, pointer := meta[name], name == "deletionGracePeriodSeconds"
		if v == nil || !pointer && object.Blank(v) {
			continue
		}
		b = append(object.AppendString(b, name), ':')
		if order := metaLists[name]; order != nil {
			b = append(appendStructs(b, meta.Objects(name), order, name == "ownerReferences"), ',')
			continue
		}
		b = append(object.AppendJSON(b, v), ',')
	}
	return b
}

// appendStructs prints a list of structs with their fields in the order.
func appendStructs(b []byte, list []object.Object, order []string, owners bool) []byte {
	b = append(b, '[')
	for i, o := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for _, name := range order {
			v := o[name]
			if v == nil && owners && name != "controller" && name != "blockOwnerDeletion" {
				v = "" // of an owner these are printed when they are empty, too
			}
			if v != nil {
				b = append(object.AppendJSON(append(object.AppendString(b, name), ':'), v), ',')
			}
		}
		b = closed(b)
	}
	return append(b, ']')
}

// Meta returns metadata for the text of an error.
func Meta(meta object.Object) field.Raw {
	return field.Raw(closed(appendMeta([]byte{'{'}, meta)))
}

// OnlyLabelsAndAnnotations refuses all else in the metadata of a template. An empty list counts as something.
func OnlyLabelsAndAnnotations(p field.Path, meta object.Object) field.ErrorList {
	var errs field.ErrorList
	for _, name := range metaFields {
		v := meta[name]
		if name == "labels" || name == "annotations" || v == nil || v == "" || v == int64(0) && name == "generation" {
			continue
		}
		if name == "uid" {
			name = "uID" // as the real server spells it
		}
		errs = append(errs, field.Forbidden(p.Child(name), "cannot be set"))
	}
	return errs
}
