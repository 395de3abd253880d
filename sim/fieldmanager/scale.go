package fieldmanager

import (
	"strings"
)

// scaleVersion is the apiVersion of a Scale, and replicasOfScale the path of its replicas.
const (
	scaleVersion    = "autoscaling/v1"
	replicasOfScale = "spec.replicas"
)

// Replicas maps each apiVersion of a resource to the path of the number of replicas, such as "spec.replicas". The path is empty for
// a version without a scale subresource.
type Replicas map[string]string

// ToScale returns the managedFields of an object's Scale: the owners of the object's replicas own the replicas of the Scale. If the
// managedFields are invalid, the result is empty.
func ToScale(parent []any, replicas Replicas) []any {
	entries, err := decode(parent)
	if err != nil {
		return nil
	}
	var out managed
	for _, e := range entries {
		path := replicas[e.apiVersion]
		if path == "" || !has(e.fields, path) {
			continue
		}
		e.fields, e.apiVersion, e.raw = setOf(replicasOfScale), scaleVersion, nil
		out = append(out, e)
	}
	return out.list()
}

// FromScale returns the managedFields of an object, in the version apiVersion, after a write of its Scale. Owners of the replicas
// that are no longer in the Scale lose them, and new ones are added. New entries have no time, as in the real server.
func FromScale(parent, scale []any, apiVersion string, replicas Replicas) []any {
	entries, err := decode(parent)
	if err != nil {
		return parent
	}
	scaled, err := decode(scale)
	if err != nil {
		return parent
	}
	var out managed
	for _, e := range entries {
		path, served := replicas[e.apiVersion]
		if !served {
			continue
		}
		if path == "" || !has(e.fields, path) {
			out = append(out, e)
			continue
		}
		if same := scaled.find(e.id()); same != nil {
			out, scaled = append(out, e), scaled.drop(same)
			continue
		}
		if e.fields, _ = minus(e.fields, setOf(path)); len(e.fields) > 0 {
			e.raw = nil
			out = append(out, e)
		}
	}
	for _, e := range scaled {
		if !has(e.fields, replicasOfScale) {
			continue
		}
		time := ""
		if old := entries.find(e.id()); old != nil {
			time, out = old.time, out.drop(old)
		}
		out = append(out, &entry{manager: e.manager, operation: e.operation, subresource: e.subresource, time: time,
			apiVersion: apiVersion, fields: setOf(replicas[apiVersion])})
	}
	return out.list()
}

// setOf returns the set that contains one dotted path.
func setOf(path string) map[string]any {
	set := leaf
	parts := strings.Split(path, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		set = map[string]any{"f:" + parts[i]: set}
	}
	return set
}

// has reports whether a set contains a dotted path.
func has(set map[string]any, path string) bool {
	for _, name := range strings.Split(path, ".") {
		node, ok := below(set, "f:"+name)
		if !ok {
			return false
		}
		set = node
	}
	return isMember(set)
}
