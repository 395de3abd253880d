package gotext

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// metaFields are the fields of a metav1.ObjectMeta in the order of the Go struct. metaLists are its lists of structs,
// with their fields in the same order.
var (
	metaFields = []string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences",
		"finalizers", "managedFields"}
	metaLists = map[string]wireStruct{
		"ownerReferences": {[]string{"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}, 4},
		"managedFields":   {[]string{"manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"}, 0},
	}
)

// conditions are the fields of a metav1.Condition, whose in-memory form equals its JSON encoding.
var conditions = wireStruct{[]string{"type", "status", "observedGeneration", "lastTransitionTime", "reason", "message"}, 2}

// wireStruct is a struct whose in-memory form equals its JSON encoding. always is the number of leading fields that are printed
// even if they are empty.
type wireStruct struct {
	fields []string
	always int
}

// appendMeta appends the fields of metadata, whose in-memory form equals its JSON encoding, each followed by a comma.
func appendMeta(b []byte, meta object.Object) []byte {
	for _, name := range metaFields {
		v, pointer := meta[name], name == "deletionGracePeriodSeconds"
		if v == nil || !pointer && object.Blank(v) {
			continue
		}
		b = append(object.AppendString(b, name), ':')
		if s, ok := metaLists[name]; ok {
			b = append(s.appendList(b, meta.Objects(name)), ',')
			continue
		}
		b = append(object.AppendJSON(b, v), ',')
	}
	return b
}

// appendList appends a list of structs to b.
func (s *wireStruct) appendList(b []byte, list []object.Object) []byte {
	b = append(b, '[')
	for i, o := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for n, name := range s.fields {
			v := o[name]
			if v == nil && n < s.always {
				v = ""
			}
			if list, ok := v.([]any); v != nil && (!ok || len(list) > 0) {
				b = append(object.AppendJSON(append(object.AppendString(b, name), ':'), v), ',')
			}
		}
		b = closed(b)
	}
	return append(b, ']')
}

// Meta returns the struct of an object's metadata for an error message.
func Meta(meta object.Object) field.Raw {
	return field.Raw(closed(appendMeta([]byte{'{'}, meta)))
}

// OnlyLabelsAndAnnotations rejects all fields except labels and annotations in the metadata of a template. An empty list counts as
// set.
func OnlyLabelsAndAnnotations(p field.Path, meta object.Object) field.ErrorList {
	var errs field.ErrorList
	for _, name := range metaFields {
		v := meta[name]
		if name == "labels" || name == "annotations" || v == nil || v == "" || v == int64(0) && name == "generation" {
			continue
		}
		if name == "uid" {
			name = "uID" // the real server's spelling
		}
		errs = append(errs, field.Forbidden(p.Child(name), "cannot be set"))
	}
	return errs
}

// SelectorString formats a metav1.LabelSelector like its String method, whose output appears in Tables and events. If s is nil,
// the result is that of a nil pointer.
func SelectorString(s object.Object) string {
	if s == nil {
		return "nil"
	}
	text := "&LabelSelector{MatchLabels:map[string]string{"
	labels := object.StringMap(s.Map("matchLabels"))
	for _, k := range object.SortedKeys(labels) {
		text += k + ": " + labels[k] + ","
	}
	text += "},MatchExpressions:[]LabelSelectorRequirement{"
	for _, e := range s.Objects("matchExpressions") {
		text += fmt.Sprintf("LabelSelectorRequirement{Key:%s,Operator:%s,Values:%v,},", e.String("key"), e.String("operator"), e.Strings("values"))
	}
	return text + "},}"
}
