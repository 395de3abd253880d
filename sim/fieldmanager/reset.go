package fieldmanager

import (
	"strings"

	"github.com/kubesim/kubesim/sim/resource"
)

// The rules that hold for every resource.
var (
	resetNothing    = resource.Reset{}
	resetStatus     = resource.Reset{Fields: []string{"status"}}
	resetSpec       = resource.Reset{Fields: []string{"spec"}}
	resetAllButStat = resource.Reset{Fields: []string{"spec", "metadata"}}
)

// reset returns what a write through a subresource cannot own.
func reset(d *resource.Definition, subresource string) resource.Reset {
	if r, ok := d.Hub.Strategy.Resets[subresource]; ok {
		return r
	}
	switch strategy := d.Hub.Strategy; {
	case !strategy.HasStatus:
		return resetNothing
	case subresource == "":
		return resetStatus
	case subresource != "status":
		return resetNothing
	case strategy.CustomStatus:
		return resetAllButStat
	}
	return resetSpec
}

// owned returns the paths of a set that a write can own.
func owned(set map[string]any, r resource.Reset) map[string]any {
	for _, path := range r.Fields {
		set = cut(set, strings.Split(path, "."))
	}
	if r.Only == nil {
		return set
	}
	var kept map[string]any
	for _, path := range r.Only {
		kept = plus(kept, pick(set, strings.Split(path, ".")))
	}
	return kept
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

// pick returns the paths of a set that begin with path. "*" stands for any element of a list.
func pick(set map[string]any, path []string) map[string]any {
	if len(path) == 0 {
		return set
	}
	var out map[string]any
	for element := range set { // order does not matter
		node, _ := below(set, element)
		if element == "." || element != "f:"+path[0] && (path[0] != "*" || element[0] == 'f') {
			continue
		}
		if len(path) > 1 {
			if len(node) == 0 {
				continue
			}
			if node = pick(node, path[1:]); len(node) == 0 {
				continue
			}
		}
		out = add(out, element, "", node)
	}
	return out
}
