package scenario

import (
	"cmp"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// decide looks at the next rule for the object. It reports false when there is none.
func (c *controller) decide(w *World) bool {
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
		list, err := c.plan(w, rule, obj)
		if err != nil {
			w.say("%s: rule %s: %v", c.name, rule.Name, err)
			continue
		}
		if len(list) > 0 {
			w.say("%s: rule %s for %s", c.name, rule.Name, shortRef(refOf(r.def, obj.Namespace(), obj.Name())))
			j.rest = list
			return true
		}
	}
	return false
}

// plan returns the requests of a rule for an object, none when it does not apply.
func (c *controller) plan(w *World, rule *Rule, obj object.Object) ([]work, error) {
	n := 1
	if rule.Range != "" {
		o, err := condition.ParseValue(rule.Range, 0)
		if err != nil {
			return nil, err
		}
		v, err := o.Of(c.scope(w, obj))
		if err != nil {
			return nil, err
		}
		f, _ := condition.Number(v)
		const most = 1000
		n = min(int(f), most)
	}
	var out []work
	for i := range max(n, 0) {
		ok, err := c.applies(w, rule, obj, i)
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

func (c *controller) applies(w *World, rule *Rule, obj object.Object, i int) (bool, error) {
	s := c.scope(w, obj)
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

// scope returns what conditions of a rule are about.
func (c *controller) scope(w *World, obj object.Object) condition.Scope {
	return condition.Scope{World: view{w}, Objects: cacheReader{w, c}, Revision: w.cluster.Revision(), Self: map[string]any(obj),
		Namespace: cmp.Or(obj.Namespace(), "default"), Now: w.clock.Now().Add(c.client.jump)}
}

// objects is cacher's.
func (c *controller) objects(d *resource.Definition, namespace, name string) ([]object.Object, error) {
	for _, r := range c.caches {
		if r.def != nil && r.def.Storage == d.Storage {
			return r.find(namespace, name), nil
		}
	}
	return nil, fmt.Errorf("%s has no cache of %s: add it to watch", c.name, d.Resourced())
}

// fill replaces placeholders. What is not there becomes an empty text.
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
