package fieldmanager

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/kubesim/kubesim/sim/resource"
)

// resets returns the fields that a write through a subresource puts back, and so cannot own.
func resets(d *resource.Definition, subresource string) []string {
	strategy := d.Hub.Strategy
	if fields, ok := strategy.ResetFields[subresource]; ok {
		return fields
	}
	switch {
	case !strategy.HasStatus:
	case subresource == "":
		return []string{"status"}
	case subresource == "status" && strategy.CustomStatus:
		return []string{"spec", "metadata"}
	case subresource == "status":
		return []string{"spec"}
	}
	return nil
}

// resetsIn reports whether the fields that a write of d resets cannot be owned in the version v either. For custom resources,
// except for writes of the status, this holds for their own version only.
func resetsIn(d, v *resource.Definition, subresource string) bool {
	return v == d || v.StorageCodec == nil || subresource == "status"
}

// resetFilter returns the filter of the paths that a write can own, for structured-merge-diff.
func resetFilter(resets []string) fieldpath.Filter {
	set := fieldpath.NewSet()
	for _, path := range resets {
		set.Insert(pathOf(strings.Split(path, ".")...))
	}
	return fieldpath.NewExcludeSetFilter(set)
}

// pathOf returns the path of a field.
func pathOf(names ...string) (path fieldpath.Path) {
	for _, name := range names {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}

// owned returns the paths of a set that a write can own, which puts back some fields.
func owned(set map[string]any, resets []string) map[string]any {
	for _, path := range resets {
		set = cut(set, strings.Split(path, "."))
	}
	return set
}

// cut returns a set without the paths that begin with path.
func cut(set map[string]any, path []string) map[string]any {
	element := "f:" + path[0]
	node, ok := below(set, element)
	if !ok {
		return set
	}
	if len(path) == 1 {
		return without(set, element)
	}
	rest := cut(node, path[1:])
	if _, dot := rest["."]; dot && len(rest) == 1 {
		rest = leaf
	} else if len(rest) == 0 && len(node) > 0 {
		return without(set, element)
	}
	return replaced(set, element, rest)
}
