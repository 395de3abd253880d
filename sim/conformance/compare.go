package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// difference returns the differences between want and got, one line each, with JSON paths.
func difference(want, got any, path string) []string {
	switch w := want.(type) {
	case *Object:
		if g, ok := got.(*Object); ok {
			return objectDifference(w, g, path)
		}
	case *List:
		if g, ok := got.(*List); ok {
			return listDifference(w, g, path)
		}
	default:
		if want == got { // Int, float64, string, bool and nil also differ in type
			return nil
		}
	}
	if path == "" {
		path = "."
	}
	return []string{fmt.Sprintf("%s: want %s, got %s", path, short(want), short(got))}
}

func objectDifference(want, got *Object, path string) []string {
	var out []string
	for _, k := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(want.Keys, got.Keys)))) {
		switch at := path + "." + k; {
		case !got.Has(k):
			out = append(out, fmt.Sprintf("%s: missing, want %s", at, short(want.Members[k])))
		case !want.Has(k):
			out = append(out, fmt.Sprintf("%s: unexpected %s", at, short(got.Members[k])))
		default:
			out = append(out, difference(want.Members[k], got.Members[k], at)...)
		}
	}
	return out
}

func listDifference(want, got *List, path string) []string {
	w, g := want.Items, got.Items
	if strings.HasSuffix(path, ".managedFields") { // the order depends on whether two writes fall into the same second
		w, g = byManager(w), byManager(g)
	}
	var out []string
	for i := range max(len(w), len(g)) {
		switch at := fmt.Sprintf("%s[%d]", path, i); {
		case i >= len(g):
			out = append(out, fmt.Sprintf("%s: missing, want %s", at, short(w[i])))
		case i >= len(w):
			out = append(out, fmt.Sprintf("%s: unexpected %s", at, short(g[i])))
		default:
			out = append(out, difference(w[i], g[i], at)...)
		}
	}
	return out
}

// byManager returns managedFields entries sorted by operation, manager, subresource and apiVersion.
func byManager(entries []any) []any {
	key := func(v any) string {
		o, ok := v.(*Object)
		if !ok {
			return ""
		}
		return Encode(&List{Items: []any{o.Get("operation"), o.Get("manager"), o.Get("subresource"), o.Get("apiVersion")}}, true)
	}
	out := slices.Clone(entries)
	slices.SortStableFunc(out, func(a, b any) int { return strings.Compare(key(a), key(b)) })
	return out
}

// short encodes a value as JSON, truncated to 160 characters.
func short(v any) string {
	s := []rune(Encode(v, false))
	if len(s) < 160 {
		return string(s)
	}
	return string(s[:157]) + "..."
}
