package actor

import (
	"cmp"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// decide evaluates the rules for the current object until one applies, and plans its requests. It returns false if no rule is left.
func (c *controller) decide() bool {
	j := c.job
	for j.rule < len(c.rules.Rules) {
		rule := &c.rules.Rules[j.rule]
		j.rule++
		if rule.For != j.item.resource {
			continue
		}
		r := c.cacheFor(rule.For)
		obj := r.store[j.item.key]
		if obj == nil {
			continue
		}
		list, err := c.plan(rule, obj)
		if err != nil {
			c.w.Say("%s: rule %s: %v", c.name, rule.Name, err)
			continue
		}
		if len(list) > 0 {
			c.w.Say("%s: rule %s for %s", c.name, rule.Name, ShortRef(Ref(r.def, obj.Namespace(), obj.Name())))
			j.rest = list
			return true
		}
	}
	return false
}

// plan returns the requests of a rule for an object, or none if the rule does not apply.
func (c *controller) plan(rule *Rule, obj object.Object) ([]work, error) {
	n := 1
	if rule.Range != "" {
		o, err := condition.ParseValue(rule.Range, 0)
		if err != nil {
			return nil, err
		}
		v, err := o.Of(c.scope(obj))
		if err != nil {
			return nil, err
		}
		f, _ := condition.Number(v)
		const most = 1000
		n = min(int(f), most)
	}
	var out []work
	for i := range max(n, 0) {
		ok, err := c.applies(rule, obj, i)
		if err != nil {
			return nil, err
		}
		for _, line := range rule.Do {
			if ok {
				out = append(out, work{line, obj, i})
			}
		}
	}
	return out, nil
}

func (c *controller) applies(rule *Rule, obj object.Object, i int) (bool, error) {
	s := c.scope(obj)
	for _, text := range rule.When {
		text, err := c.fill(s, text, i)
		if err != nil {
			return false, err
		}
		cond, err := condition.Parse(text, 0)
		if err != nil {
			return false, fmt.Errorf("when %s: %w", text, err)
		}
		if ok, _, err := cond.Holds(s); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// scope returns the scope of a rule's conditions.
func (c *controller) scope(obj object.Object) condition.Scope {
	s := c.w.Scope(c.name)
	s.Objects, s.Self, s.Namespace = c, map[string]any(obj), cmp.Or(obj.Namespace(), "default")
	return s
}

// Objects implements condition.Reader.
func (c *controller) Objects(resource, namespace, name string) ([]object.Object, error) {
	return readCache(c.w, c.name, ": add it to watch", resource, namespace, name, c.caches...)
}

// fill replaces the placeholders in text. A missing value is replaced with the empty string. i is the number in the rule's range.
func (c *controller) fill(s condition.Scope, text string, i int) (string, error) {
	return replacePlaceholders(text, func(inner string) (string, error) {
		switch {
		case inner == "i":
			return fmt.Sprint(i), nil
		case inner == "me":
			return c.name, nil
		case inner == "now":
			return s.Now.UTC().Format("2006-01-02T15:04:05.000000Z"), nil
		case shorts[inner] != "":
			inner = shorts[inner]
		}
		o, err := condition.ParseValue(inner, 0)
		if err != nil {
			return "", err
		}
		v, err := o.Of(s)
		if v == nil || err != nil {
			return "", err
		}
		return condition.Show(v), nil
	})
}
