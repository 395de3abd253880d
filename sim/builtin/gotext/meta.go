package gotext

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// metaFields are the fields of a metav1.ObjectMeta in the order of the Go struct, and so are those of the structs in its
// lists.
var (
	metaFields = []string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences",
		"finalizers", "managedFields"}
	metaLists = map[string]wireStruct{
		"ownerReferences": {[]string{"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}, 4},
		"managedFields":   {[]string{"manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"}, 0},
	}
)

// wireStruct is a struct that looks in memory as it does on the wire: its fields, of which the first are printed when they
// are empty, too.
type wireStruct struct {
	fields []string
	always int
}

// appendMeta prints metadata, which looks in memory as it does on the wire, with a comma behind each field.
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

// appendList prints a list of such structs.
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

// SelectorString prints a metav1.LabelSelector as its String method does: Tables and events show it so. nil is a nil pointer.
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
