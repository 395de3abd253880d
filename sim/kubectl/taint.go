//go:build !js || !nocel

package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
)

// effects lists the valid effects of taints.
var effects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

// runTaint changes the taints of nodes. Each change has the form key=value:effect, key:effect- or key-.
func runTaint(c *call) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	args, edits, err := splitArguments(c.Args, "taint", func(a string) bool { return isChange(a) || strings.Contains(a, ":") })
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return fmt.Errorf("one or more resources must be specified as <resource> <name>")
	case len(edits) == 0:
		return fmt.Errorf("at least one taint update is required")
	}
	set, gone, err := parseTaints(edits)
	if err != nil {
		return c.usage("%s", err)
	}
	m, err := c.Find(args[0])
	if err != nil {
		return client.PlainError(err.Error())
	}
	if m.Kind != "Node" {
		return fmt.Errorf("invalid resource type %s, only node types are supported", args[0])
	}
	if err := checkTaints(set, gone); err != nil {
		return err
	}
	switch {
	case c.On("all") && c.Given("selector"):
		return fmt.Errorf("setting 'all' parameter with a non empty selector is prohibited")
	case !c.On("all") && !c.Given("selector") && len(args) < 2:
		return fmt.Errorf("at least one resource name must be specified since 'all' parameter is not set")
	case c.On("all") || c.Given("selector"):
		args = args[:1]
	}
	return c.visit(args, client.Selection{}, func(info *client.Info) error { return c.taintOne(info, set, gone) })
}

// parseTaints parses the changes of taints: those to set and those to remove.
func parseTaints(edits []string) (set, gone []object.Object, err error) {
	for _, e := range edits {
		body, remove := strings.CutSuffix(e, "-")
		t, err := parseTaint(body)
		if err != nil {
			return nil, nil, err
		}
		if remove {
			delete(t, "value")
			gone = append(gone, t)
			continue
		}
		if !t.Has("effect") {
			return nil, nil, fmt.Errorf("invalid taint spec: %s", e)
		}
		if slices.ContainsFunc(set, func(x object.Object) bool { return sameTaint(x, t) }) {
			return nil, nil, fmt.Errorf("duplicated taints with the same key and effect: {%s %s %s <nil>}", t.String("key"), t.String("value"), t.String("effect"))
		}
		set = append(set, t)
	}
	return set, gone, nil
}

// parseTaint parses a taint of the form key=value:effect, key:effect or key.
func parseTaint(text string) (object.Object, error) {
	key, effect, has := strings.Cut(text, ":")
	t := object.Object{}
	if has {
		if !slices.Contains(effects, effect) {
			return nil, fmt.Errorf("invalid taint effect: %s, unsupported taint effect", effect)
		}
		t["effect"] = effect
		var value string
		if key, value, _ = strings.Cut(key, "="); value != "" {
			if errs := field.LabelValue(value); len(errs) > 0 {
				return nil, fmt.Errorf("invalid taint spec: %s, %s", text, strings.Join(errs, "; "))
			}
			t["value"] = value
		}
	}
	if errs := field.QualifiedName(key); len(errs) > 0 {
		return nil, fmt.Errorf("invalid taint spec: %s, %s", text, strings.Join(errs, "; "))
	}
	t["key"] = key
	return t, nil
}

// sameTaint reports whether two taints have the same key and, if b has an effect, the same effect.
func sameTaint(a, b object.Object) bool {
	return a.String("key") == b.String("key") && (!b.Has("effect") || a.String("effect") == b.String("effect"))
}

// checkTaints returns an error if a taint is both set and removed.
func checkTaints(set, gone []object.Object) error {
	var both []string
	for _, s := range set {
		for _, g := range gone {
			if sameTaint(s, g) {
				both = append(both, g.String("key")+"="+g.String("effect"))
			}
		}
	}
	if len(both) > 0 {
		return fmt.Errorf("can not both modify and remove the following taint(s) in the same command: %s", strings.Join(both, ", "))
	}
	return nil
}

func (c *call) taintOne(info *client.Info, set, gone []object.Object) error {
	now, err := changedTaints(info, set, gone, c.On("overwrite"))
	if err != nil {
		return err
	}
	taints := make([]any, len(now))
	for i, x := range now {
		taints[i] = map[string]any(x)
	}
	changed := info.Object.Copy()
	changed.Set(taints, "spec", "taints")
	if c.dryRun() != dryClient {
		p, contentType := patches.Between(info.Object, changed, info.Object)
		if changed, err = c.helper("kubectl-taint").Patch(info, "", contentType, object.JSON(p)); err != nil {
			return err
		}
	}
	info.Object = changed
	done := "tainted"
	switch {
	case len(set) > 0 && len(gone) > 0 || c.On("overwrite"):
		done = "modified"
	case len(set) == 0:
		done = "untainted"
	}
	return c.print(info, done)
}

// changedTaints returns the taints of a node after the taints in gone are removed and those in set are added. It returns an error
// if a taint to remove does not exist, or if a taint to add exists and overwrite is false.
func changedTaints(info *client.Info, set, gone []object.Object, overwrite bool) ([]object.Object, error) {
	now := info.Object.Objects("spec", "taints")
	for _, g := range gone {
		before := len(now)
		now = slices.DeleteFunc(slices.Clone(now), func(x object.Object) bool { return sameTaint(x, g) })
		if len(now) == before {
			name := g.String("key")
			if e := g.String("effect"); e != "" {
				name += ":" + e
			}
			return nil, fmt.Errorf("taint %q not found", name)
		}
	}
	for _, s := range set {
		at := slices.IndexFunc(now, func(x object.Object) bool { return sameTaint(x, s) })
		switch {
		case at < 0:
			now = append(slices.Clone(now), s)
		case !overwrite:
			return nil, fmt.Errorf("node %s already has %s taint(s) with same effect(s) and --overwrite is false", info.Name, s.String("key"))
		default:
			now = slices.Clone(now)
			now[at] = s
		}
	}
	return now, nil
}
