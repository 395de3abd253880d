package crd

import (
	"sync"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// defaultsChecker checks that the defaults of a schema are valid under that schema.
//
//	schema ─ node ─ node with a default ─▶ pruned? metadata? values? rules, with and without an old value
//	           └ x-kubernetes-embedded-resource: begins an object; a default in its metadata is checked as part of it
type defaultsChecker struct {
	*validator
	rules  func() *cel.Rules // the rules of the schema; nil if it has none
	errs   field.ErrorList
	budget int64 // remaining cost budget for the rules of all defaults together
}

// within is the position of a node in the schema and relative to the innermost enclosing object.
type within struct {
	object func() *structural.Schema // the schema of the object
	whole  bool                      // the node is that schema itself
	inMeta bool                      // the node is, or is below, kind, apiVersion or metadata
	depth  int                       // number of steps that lead to the object
	steps  []any                     // steps from the root to the node: field names, and 0 for list items
}

// objectAt returns the position of an object's schema.
func (v *validator) objectAt(schema map[string]any, steps []any) within {
	parse := sync.OnceValue(func() *structural.Schema { return structural.ParseForDefaults(schema, int(v.minor)).Root() })
	return within{object: parse, whole: true, depth: len(steps), steps: steps}
}

func (w within) step(element any, inMeta bool) within {
	w.steps = append(w.steps[:len(w.steps):len(w.steps)], element)
	w.inMeta, w.whole = w.inMeta || inMeta, false
	return w
}

// around returns a minimal object that contains v at the position. It returns false if that is not an object, because v is at the
// root and has another type.
func (w within) around(v any) (object.Object, bool) {
	for i := len(w.steps) - 1; i >= w.depth; i-- {
		if name, ok := w.steps[i].(string); ok {
			v = map[string]any{name: v}
		} else {
			v = []any{v}
		}
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	obj["kind"], obj["apiVersion"] = "Validation", "validation/v1"
	return obj, true
}

// checkDefaults checks all defaults in the schema of a resource.
func (v *validator) checkDefaults(schema map[string]any, p field.Path) field.ErrorList {
	c := &defaultsChecker{validator: v, budget: expr.RuleBudget}
	c.rules = sync.OnceValue(func() *cel.Rules {
		rules, _ := cel.CompileVersion(expr.Environment{Minor: int(v.minor), Stored: true}, schema, expr.Known{}, field.Path{}, nil) // rules that do not compile fail when they are applied
		return rules
	})
	c.walk(schema, p, v.objectAt(schema, nil))
	return c.errs
}

// walk checks the nodes in the structural part of the schema. Defaults below additionalProperties are not checked.
func (c *defaultsChecker) walk(node object.Object, p field.Path, w within) {
	embedded := node.True("x-kubernetes-embedded-resource")
	if embedded {
		w = c.objectAt(node, w.steps)
	}
	if node["default"] != nil {
		c.check(node, p.Child("default"), w)
	}
	if items, ok := node["items"].(map[string]any); ok && c.budget >= 0 {
		c.walk(items, p.Child("items"), w.step(0, false))
	}
	props := node.Map("properties")
	for _, name := range object.SortedKeys(props) {
		if c.budget < 0 {
			return
		}
		meta := w.whole && (name == "metadata" || name == "apiVersion" || name == "kind")
		c.walk(object.As(props[name]), p.Child("properties").Key(name), w.step(name, meta))
	}
}

// check checks the default at path p.
func (c *defaultsChecker) check(node object.Object, p field.Path, w within) {
	def, s := object.Copy(node["default"]), structural.ParseForDefaults(node, int(c.minor))
	if w.whole {
		s = s.Root()
	}
	var bad field.ErrorList
	if w.inMeta {
		bad = c.checkMetadata(def, p, w)
	} else {
		pruned := object.Copy(def)
		if s.Prune(pruned); !object.Equal(pruned, def) {
			c.errs = append(c.errs, field.Invalid(p, def, "must not have unknown fields"))
		}
		bad = c.checkEmbedded(s, def, p)
	}
	if len(bad) == 0 {
		bad = s.Validate(def, p)
	}
	if len(bad) == 0 {
		bad = c.judge(def, s, p, w.steps)
	}
	c.errs = append(c.errs, bad...)
}

// checkMetadata checks a default within metadata. It does so in a minimal object that contains the default.
func (c *defaultsChecker) checkMetadata(def any, p field.Path, w within) field.ErrorList {
	obj, ok := w.around(object.Copy(def))
	if !ok {
		return nil
	}
	bad := c.checkEmbedded(w.object(), map[string]any(obj), field.Path{})
	if len(bad) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(p, def, "must result in valid metadata: "+bad.Text())}
}

// checkEmbedded checks kind, apiVersion and metadata of the resources in a value.
func (c *defaultsChecker) checkEmbedded(s *structural.Schema, v any, p field.Path) field.ErrorList {
	if _, err := s.Coerce(v, p, c.meta, false); err != nil {
		return field.ErrorList{err}
	}
	return s.CheckEmbedded(v, p, c.meta, c.minor)
}

// judge applies the CEL rules of a node to a default, both as an unchanged and as a new value. s is the schema of the node.
func (c *defaultsChecker) judge(def any, s *structural.Schema, p field.Path, steps []any) field.ErrorList {
	rules := c.rules().At(steps)
	left := c.budget
	errs, same := rules.Validate(def, structural.Correlate(s, def, def), p, &left)
	if errs = append(errs, same...); len(errs) > 0 {
		c.budget = left
		return errs
	}
	fresh := c.budget
	errs, _ = rules.Validate(def, nil, p, &fresh)
	c.budget = min(left, fresh)
	return errs
}
