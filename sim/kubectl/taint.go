package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
)

// effects are what a taint can do to pods.
var effects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

// runTaint sets and removes taints: key=value:effect, key:effect-, key-.
func runTaint(c *call) error {
	args, edits := splitArguments(c.Args, func(a string) bool { return isChange(a) || strings.Contains(a, ":") })
	if len(edits) == 0 {
		return c.usage("at least one taint update is required")
	}
	if len(args) == 0 || !slices.Contains([]string{"node", "nodes", "no"}, strings.Split(args[0], "/")[0]) {
		return fmt.Errorf("invalid resource type %s, only node types are supported", strings.Join(args, " "))
	}
	var set, gone []object.Object
	for _, e := range edits {
		t, remove, err := taintOf(e)
		if err != nil {
			return c.usage("%s", err)
		}
		if remove {
			gone = append(gone, t)
		} else {
			set = append(set, t)
		}
	}
	return c.visit(args, client.Selection{}, func(info *client.Info) error { return c.taintOne(info, set, gone) })
}

// taintOf reads a taint, and whether it is to be removed.
func taintOf(text string) (t object.Object, remove bool, err error) {
	body, remove := strings.CutSuffix(text, "-")
	body, effect, has := strings.Cut(body, ":")
	key, value, _ := strings.Cut(body, "=")
	t = object.Object{"key": key}
	if has {
		if !slices.Contains(effects, effect) {
			return nil, false, fmt.Errorf("invalid taint effect: %s, unsupported taint effect", effect)
		}
		t["effect"] = effect
	} else if !remove {
		return nil, false, fmt.Errorf("invalid taint spec: %s", text)
	}
	if value != "" {
		t["value"] = value
	}
	return t, remove, nil
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
		if _, err := c.helper("kubectl-taint").Patch(info, "", contentType, object.JSON(p)); err != nil {
			return err
		}
	}
	done := "tainted"
	switch {
	case len(set) > 0 && len(gone) > 0:
		done = "modified"
	case len(set) == 0:
		done = "untainted"
	}
	return c.printObj(info, done)
}

// changedTaints returns the taints of a node after gone are removed and set are added.
func changedTaints(info *client.Info, set, gone []object.Object, overwrite bool) ([]object.Object, error) {
	same := func(a, b object.Object) bool {
		return a.String("key") == b.String("key") && (!b.Has("effect") || a.String("effect") == b.String("effect"))
	}
	now := info.Object.Objects("spec", "taints")
	for _, g := range gone {
		before := len(now)
		now = slices.DeleteFunc(slices.Clone(now), func(x object.Object) bool { return same(x, g) })
		if len(now) == before {
			name := g.String("key")
			if e := g.String("effect"); e != "" {
				name += ":" + e
			}
			return nil, fmt.Errorf("taint %q not found", name)
		}
	}
	for _, s := range set {
		at := slices.IndexFunc(now, func(x object.Object) bool { return same(x, s) })
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
