package patch

import (
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// applyElementOrders merges the lists for which the patch has a $setElementOrder directive. It removes these lists and the
// directives from the patch. It returns an error if a directive is malformed.
func applyElementOrders(old, patch map[string]any, t *schema.Type) *status.Status {
	for _, key := range object.SortedKeys(patch) {
		if !strings.HasPrefix(key, setElementOrder) {
			continue
		}
		v := patch[key]
		delete(patch, key)
		order, ok := v.([]any)
		if !ok {
			return badArgument("[]interface {}", v)
		}
		name, ok := strings.CutPrefix(key, setElementOrder+"/")
		if !ok {
			return status.BadRequest("invalid patch format of setElementOrder list")
		}
		if s := applyElementOrder(old, patch, name, order, t); s != nil {
			return s
		}
	}
	return nil
}

func applyElementOrder(old, patch map[string]any, name string, order []any, t *schema.Type) *status.Status {
	have, inOld, s := listAt(old, name)
	if s != nil {
		return s
	}
	add, inPatch, s := listAt(patch, name)
	if s != nil {
		return s
	}
	l, s := lookupList(t, name)
	if s != nil {
		return s
	}
	if s := l.checkOrder(add, order); s != nil {
		return s
	}
	var merged []any
	switch {
	case inOld && !inPatch:
		merged = have
	case inPatch && !inOld:
		clean, _ := withoutDirectives(add)
		merged = clean.([]any)
	case inOld && l.merges:
		if merged, s = l.merge(have, add, false); s != nil {
			return s
		}
	case inOld:
		merged = add
	default:
		return nil
	}
	named, others, s := l.partition(merged, order)
	if s != nil {
		return s
	}
	ofMaps, s := elementsAreMaps(have, add)
	if s != nil {
		return s
	}
	if old[name], s = l.arrange(named, others, order, have, ofMaps); s != nil {
		return s
	}
	delete(patch, name)
	return nil
}

func listAt(m map[string]any, name string) (items []any, found bool, s *status.Status) {
	v, found := m[name]
	if !found {
		return nil, false, nil
	}
	items, ok := v.([]any)
	if !ok {
		return nil, true, badArgument("[]interface {}", v)
	}
	return items, true, nil
}

// checkOrder returns an error if a $setElementOrder directive does not contain all elements of the patch, in order.
func (l *list) checkOrder(patch, order []any) *status.Status {
	if len(patch) == 0 || len(order) == 0 {
		return nil
	}
	left := patch
	if l.key != "" {
		left = nil
		for _, v := range patch {
			m, ok := v.(map[string]any)
			if !ok {
				return badArgument("map[string]interface {}", v)
			}
			if m[directive] != "delete" {
				left = append(left, v)
			}
		}
	}
	rest := order
	for len(left) > 0 && len(rest) > 0 {
		if m, ok := left[0].(map[string]any); ok {
			if _, ok := m[directive]; ok {
				left = left[1:]
				continue
			}
		}
		equal, s := l.equal(left[0], rest[0])
		if s != nil {
			return s
		}
		if equal {
			left = left[1:]
		}
		rest = rest[1:]
	}
	if len(left) > 0 && len(rest) == 0 {
		return status.Plain("The order in patch list:\n%v\n doesn't match %s list:\n%v\n", patch, setElementOrder, order)
	}
	return nil
}

// equal reports whether two elements are equal. Objects are compared by merge key.
func (l *list) equal(a, b any) (bool, *status.Status) {
	if l.key == "" {
		return same(a, b), nil
	}
	x, s := l.keyOf(a)
	if s != nil {
		return false, s
	}
	y, s := l.keyOf(b)
	return s == nil && same(x, y), s
}
