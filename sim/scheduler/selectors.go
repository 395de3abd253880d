package scheduler

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// selectors caches the selectors of Services and workloads by item.
type selectors map[*resource.Item]selects

// selects is one selector, parsed and as expressions of a LabelSelector.
type selects struct {
	expressions []any
	parsed      selector.Labels
}

// selectorsKept is the maximum number of cached selectors.
const selectorsKept = 1024

// of returns the selector of an object. plain reports that the selector is a map of labels, not a LabelSelector. The selector of an
// object that has none selects nothing.
func (all *selectors) of(it *resource.Item, plain bool) selects {
	if x, kept := (*all)[it]; kept {
		return x
	}
	if len(*all) >= selectorsKept || *all == nil {
		*all = selectors{}
	}
	obj := it.Object()
	x := selects{parsed: selector.Nothing()}
	labels := obj.Map("spec", "selector")
	if !plain {
		labels = obj.Map("spec", "selector", "matchLabels")
		x.expressions = append(x.expressions, obj.List("spec", "selector", "matchExpressions")...)
	}
	for _, key := range object.SortedKeys(labels) {
		x.expressions = append(x.expressions, map[string]any{"key": key, "operator": "In", "values": []any{labels[key]}})
	}
	if obj.Has("spec", "selector") {
		x.parsed, _ = selector.FromLabelSelector(map[string]any{"matchExpressions": x.expressions})
	}
	(*all)[it] = x
	return x
}
