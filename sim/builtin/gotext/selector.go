package gotext

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
)

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
