package fieldmanager

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/kubesim/kubesim/sim/resource"
)

// resets returns the fields that a write through a subresource resets and therefore cannot own.
func resets(d *resource.Definition, subresource string) []string {
	strategy := d.Hub.Strategy
	if fields, ok := strategy.ResetFields[subresource]; ok {
		return fields
	}
	switch {
	case !strategy.HasStatus:
	case subresource == "":
		return []string{"status"}
	case subresource == "status" && (strategy.CustomStatus || strategy.StatusKeeps != nil):
		return []string{"spec", "metadata"}
	case subresource == "status":
		return []string{"spec"}
	}
	return nil
}

// resetsIn reports whether the fields that a write of d resets cannot be owned in the version v either. For custom resources, this
// is only the case for their own version and for writes of the status.
func resetsIn(d, v *resource.Definition, subresource string) bool {
	return v == d || v.StorageCodec == nil || subresource == "status"
}

// resetFilter returns structured-merge-diff's filter for the paths that a write can own.
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

// owned returns a set without the paths that a write resets.
func owned(set map[string]any, resets []string) map[string]any {
	for _, path := range resets {
		set = cut(set, path)
	}
	return set
}

// cut returns set without the paths that begin with path, which consists of field names separated by dots.
func cut(set map[string]any, path string) map[string]any {
	name, path, deeper := strings.Cut(path, ".")
	element := "f:" + name
	node, ok := below(set, element)
	if !ok {
		return set
	}
	if !deeper {
		return without(set, element)
	}
	rest := cut(node, path)
	if _, dot := rest["."]; dot && len(rest) == 1 {
		rest = leaf
	} else if len(rest) == 0 && len(node) > 0 {
		return without(set, element)
	}
	return replaced(set, element, rest)
}
