package structural

import "github.com/kubesim/kubesim/sim/object"

// Correlation pairs a value with the old value that it replaces: fields with the field of the same name, and items of a
// list map with the item that has the same keys. Items of other lists have no counterpart (KEP-4008,
// cel/common.CorrelatedObject). A value without a counterpart has a nil Correlation.
type Correlation struct {
	schema   *Schema
	now, old any

	compared, same bool           // whether equal was computed, and its result
	byKey          map[string]any // items of old by their keys, for a list map
}

// Correlate pairs a value with its old value. s is the schema of both.
func Correlate(s *Schema, now, old any) *Correlation {
	return &Correlation{schema: s, now: now, old: old}
}

// Old returns the old value. It returns nil if c is nil.
func (c *Correlation) Old() any {
	if c == nil {
		return nil
	}
	return c.old
}

// Field returns the correlation of a field, or nil if there is none.
func (c *Correlation) Field(name string) *Correlation {
	if c == nil || c.schema == nil {
		return nil
	}
	now, ok := c.now.(map[string]any)
	old, ok2 := c.old.(map[string]any)
	if !ok || !ok2 {
		return nil
	}
	x, ok := now[name]
	y, ok2 := old[name]
	child, _ := c.schema.child(name)
	if !ok || !ok2 || child == nil {
		return nil
	}
	return Correlate(child, x, y)
}

// Item returns the correlation of a list item, or nil if there is none.
func (c *Correlation) Item(i int) *Correlation {
	if c == nil || c.schema == nil || c.schema.ListType != "map" || c.schema.Items == nil {
		return nil
	}
	now, _ := c.now.([]any)
	old, ok := c.old.([]any)
	if !ok || i >= len(now) {
		return nil
	}
	if c.byKey == nil {
		c.byKey = make(map[string]any, len(old))
		for _, x := range old {
			if key, ok := c.schema.keyOf(x); ok {
				if _, twice := c.byKey[key]; !twice {
					c.byKey[key] = x
				}
			}
		}
	}
	key, ok := c.schema.keyOf(now[i])
	if !ok {
		return nil
	}
	if x, ok := c.byKey[key]; ok {
		return Correlate(c.schema.Items, now[i], x)
	}
	return nil
}

// keyOf returns the key of an item: its key fields encoded as JSON. If the item lacks one of the key fields, keyOf returns false.
func (s *Schema) keyOf(item any) (key string, ok bool) {
	m, _ := item.(map[string]any)
	keys := make([]any, len(s.ListKeys))
	for i, name := range s.ListKeys {
		switch v := m[name].(type) {
		case bool, string, int64:
			keys[i] = v
		case float64:
			keys[i] = []any{v} // 1 and 1.0 are different values
		default:
			return "", false
		}
	}
	return string(object.JSON(keys)), true
}

// Unchanged reports whether the value did not change. It ignores the order of list maps. An object that contains an undeclared
// field counts as changed. If c is nil, the value has no counterpart and counts as changed, too.
func (c *Correlation) Unchanged() bool {
	if c == nil {
		return false
	}
	if !c.compared {
		c.compared, c.same = true, c.compare()
	}
	return c.same
}

func (c *Correlation) compare() bool {
	switch now := c.now.(type) {
	case map[string]any:
		old, ok := c.old.(map[string]any)
		if !ok || len(old) != len(now) {
			return false
		}
		for name := range now { // order does not matter
			if !c.Field(name).Unchanged() {
				return false
			}
		}
		return true
	case []any:
		old, ok := c.old.([]any)
		if !ok || len(old) != len(now) {
			return false
		}
		if c.schema == nil || c.schema.ListType != "map" {
			return object.Equal(now, old)
		}
		for i := range now {
			if !c.Item(i).Unchanged() {
				return false
			}
		}
		return true
	}
	return object.Equal(c.now, c.old)
}
