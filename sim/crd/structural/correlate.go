package structural

import "github.com/kubesim/kubesim/sim/object"

// correlation pairs a value with the one it takes the place of: fields with the field of the same name, items of a list
// map with the item of the same keys. Items of other lists have no counterpart (KEP-4008).
type correlation struct {
	schema   *Schema
	now, old any

	compared, same bool           // equal has been asked, and what it said
	byKey          map[string]any // items of old by their keys, of a list map
}

func correlate(s *Schema, now, old any) *correlation {
	return &correlation{schema: s, now: now, old: old}
}

// key returns the correlation of a field, or nil when there is none.
func (c *correlation) key(name string) *correlation {
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
	return correlate(child, x, y)
}

// item returns the correlation of an item of a list, or nil when there is none.
func (c *correlation) item(i int) *correlation {
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
		return correlate(c.schema.Items, now[i], x)
	}
	return nil
}

// keyOf returns the values of the key fields of an item as text. ok is false for an item that lacks one of them.
func (s *Schema) keyOf(item any) (key string, ok bool) {
	m, _ := item.(map[string]any)
	keys := make([]any, len(s.ListKeys))
	for i, name := range s.ListKeys {
		switch v := m[name].(type) {
		case bool, string, int64:
			keys[i] = v
		case float64:
			keys[i] = []any{v} // 1 and 1.0 are two values
		default:
			return "", false
		}
	}
	return string(object.JSON(keys)), true
}

// equal reports whether the value did not change; the order of a list map does not count.
func (c *correlation) equal() bool {
	if !c.compared {
		c.compared, c.same = true, c.compare()
	}
	return c.same
}

func (c *correlation) compare() bool {
	switch now := c.now.(type) {
	case map[string]any:
		old, ok := c.old.(map[string]any)
		if !ok || len(old) != len(now) {
			return false
		}
		for name := range now { // order does not matter
			if below := c.key(name); below == nil || !below.equal() {
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
			if below := c.item(i); below == nil || !below.equal() {
				return false
			}
		}
		return true
	}
	return object.Equal(c.now, c.old)
}
