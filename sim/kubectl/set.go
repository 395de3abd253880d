package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/generate"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// splitArguments separates the resources from the changes among the arguments, such as a=b and a-.
func splitArguments(args []string, isOther func(string) bool) (resources, others []string) {
	for _, a := range args {
		if isOther(a) {
			others = append(others, a)
		} else {
			resources = append(resources, a)
		}
	}
	return resources, others
}

// isPair reports whether an argument has the form a=b.
func isPair(arg string) bool { return strings.Contains(arg, "=") }

// update applies change to the objects of a set command and sends the resulting patches.
func (c *call) update(args []string, done string, change func(m *client.Mapping, obj object.Object) error) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	one := func(info *client.Info) error { return c.updateOne(info, done, change) }
	if !c.On("local") {
		return c.visit(args, client.Selection{}, one)
	}
	list, err := c.Infos(args, client.Selection{})
	if err != nil {
		return err
	}
	return each(list, one)
}

func (c *call) updateOne(info *client.Info, done string, change func(m *client.Mapping, obj object.Object) error) error {
	changed := info.Object.Copy()
	if err := change(info.Mapping, changed); err != nil {
		return err
	}
	always := c.verb.name == "serviceaccount" || c.verb.name == "selector" || c.On("local")
	if !always && object.Equal(map[string]any(changed), map[string]any(info.Object)) {
		return nil
	}
	c.record(changed)
	if c.dryRun() != dryClient && !c.On("local") {
		p, contentType := patches.Between(info.Object, changed, info.Object)
		obj, err := c.helper("kubectl-set").Patch(info, "", contentType, object.JSON(p))
		if err != nil {
			return fmt.Errorf("failed to patch %s update to pod template: %w", strings.Fields(done)[0], err)
		}
		changed = obj
	}
	info.Object = changed
	return c.printObj(info, done)
}

// updatePods applies change to the pod specs of the objects of a set command. It returns an error for an object without
// a pod spec.
func (c *call) updatePods(args []string, done string, change func(spec object.Object) error) error {
	return c.update(args, done, func(m *client.Mapping, obj object.Object) error {
		spec := client.PodSpec(obj)
		if spec == nil {
			return fmt.Errorf("the object is not a pod or does not have a pod template: %s", m.Kind)
		}
		return change(spec)
	})
}

func runSetImage(c *call) error {
	args, images := splitArguments(c.Args, isPair)
	if len(images) == 0 {
		if len(args) > 1 && strings.Contains(args[0], "/") {
			return client.ErrMixed
		}
		return fmt.Errorf("at least one image update is required")
	}
	return c.updatePods(args, "image updated", func(spec object.Object) error {
		for _, pair := range images {
			name, image, _ := strings.Cut(pair, "=")
			some := false
			for _, one := range client.Containers(spec) {
				if name == "*" || one.String("name") == name {
					one["image"], some = image, true
				}
			}
			if !some {
				return fmt.Errorf("unable to find container named %q", name)
			}
		}
		return nil
	})
}

// matchesContainer reports whether a value of --containers matches a container's name.
func matchesContainer(pattern, name string) bool {
	if pattern == "" || pattern == "*" {
		return true
	}
	if start, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, start)
	}
	return pattern == name
}

func runSetEnv(c *call) error {
	args, edits := splitArguments(c.Args, isChange)
	edits = append(edits, c.List("env")...)
	if c.On("list") {
		return c.listEnv(args)
	}
	var entries []map[string]any
	if from := c.Text("from"); from != "" {
		var err error
		if entries, err = c.envFrom(from); err != nil {
			return err
		}
	}
	var gone []string
	for _, e := range edits {
		name, value, ok := strings.Cut(e, "=")
		if ok {
			entries = append(entries, map[string]any{"name": name, "value": value})
		} else {
			gone = append(gone, strings.TrimSuffix(e, "-"))
		}
	}
	return c.updatePods(args, "env updated", func(spec object.Object) error {
		for _, one := range client.Containers(spec) {
			if matchesContainer(c.Text("containers"), one.String("name")) {
				changeEnv(one, entries, gone)
			}
		}
		return nil
	})
}

// changeEnv sets and removes environment variables of a container.
func changeEnv(one object.Object, entries []map[string]any, gone []string) {
	env := slices.Clone(one.List("env"))
	for _, e := range entries {
		at := slices.IndexFunc(env, func(v any) bool { return object.As(v).String("name") == e["name"] })
		if at < 0 {
			env = append(env, object.Copy(e))
		} else {
			env[at] = object.Copy(e)
		}
	}
	env = slices.DeleteFunc(env, func(v any) bool { return slices.Contains(gone, object.As(v).String("name")) })
	if len(env) > 0 {
		one["env"] = env
	} else {
		delete(one, "env")
	}
}

// envFrom returns an environment variable for each key of a ConfigMap or Secret. If --keys is given, it skips all other
// keys.
func (c *call) envFrom(from string) (out []map[string]any, err error) {
	info, err := c.Object(from)
	if err != nil {
		return nil, err
	}
	ref := map[string]string{"ConfigMap": "configMapKeyRef", "Secret": "secretKeyRef"}[info.Mapping.Kind]
	if ref == "" {
		return nil, fmt.Errorf("unsupported resource specified in --from")
	}
	for _, key := range object.SortedKeys(info.Object.Map("data")) {
		if keys := c.List("keys"); len(keys) > 0 && !slices.Contains(keys, key) {
			continue
		}
		name := strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
		if name != key {
			c.Complain("Warning: key %s transferred to %s", key, name)
		}
		out = append(out, map[string]any{"name": c.Text("prefix") + name,
			"valueFrom": map[string]any{ref: map[string]any{"name": info.Name, "key": key}}})
	}
	return out, nil
}

// listEnv prints the environment variables of containers.
func (c *call) listEnv(args []string) error {
	return c.visit(args, client.Selection{}, func(info *client.Info) error {
		for _, one := range client.Containers(client.PodSpec(info.Object)) {
			c.Printf("# %s %s, container %s\n", info.Mapping.Kind, info.Name, one.String("name"))
			for _, e := range one.Objects("env") {
				c.Printf("%s\n", envLine(e))
			}
		}
		return nil
	})
}

// envLine returns the output of env --list for a variable.
func envLine(e object.Object) string {
	name := e.String("name")
	from := e.At("valueFrom")
	if from == nil {
		return name + "=" + e.String("value")
	}
	for _, kind := range []string{"configMap", "secret"} {
		if ref := from.At(kind + "KeyRef"); ref != nil {
			return fmt.Sprintf("# %s from %s %s, key %s", name, strings.ToLower(kind), ref.String("name"), ref.String("key"))
		}
	}
	if path := from.String("fieldRef", "fieldPath"); path != "" {
		return fmt.Sprintf("# %s from field path %s", name, path)
	}
	return fmt.Sprintf("# %s from resource %s", name, from.String("resourceFieldRef", "resource"))
}

func runSetResources(c *call) error {
	if !c.Given("limits") && !c.Given("requests") {
		return fmt.Errorf("you must specify an update to requests or limits (in the form of --requests/--limits)")
	}
	amounts := map[string]map[string]any{}
	for _, kind := range []string{"limits", "requests"} {
		for _, pair := range strings.FieldsFunc(c.Text(kind), func(r rune) bool { return r == ',' }) {
			name, value, ok := strings.Cut(pair, "=")
			if !ok {
				return fmt.Errorf("invalid argument syntax %q, expected <resource>=<value>", pair)
			}
			if _, err := quantity.Parse(value); err != nil {
				return err
			}
			if amounts[kind] == nil {
				amounts[kind] = map[string]any{}
			}
			amounts[kind][name] = value
		}
	}
	return c.updatePods(c.Args, "resource requirements updated", func(spec object.Object) error {
		for _, one := range spec.Objects("containers") {
			for _, kind := range []string{"limits", "requests"} {
				for _, name := range object.SortedKeys(amounts[kind]) {
					if matchesContainer(c.Text("containers"), one.String("name")) {
						one.Set(amounts[kind][name], "resources", kind, name)
					}
				}
			}
		}
		return nil
	})
}

func runSetSelector(c *call) error {
	args, pairs := splitArguments(c.Args, isPair)
	if len(pairs) == 0 {
		return fmt.Errorf("a selector is required: kubectl set selector service web app=other")
	}
	labels, err := generate.Labels(strings.Join(pairs, ","))
	if err != nil {
		return err
	}
	return c.update(args, "selector updated", func(m *client.Mapping, obj object.Object) error {
		if m.Kind != "Service" {
			return fmt.Errorf("setting a selector is only supported for Services")
		}
		obj.Set(labels, "spec", "selector")
		return nil
	})
}

func runSetServiceAccount(c *call) error {
	if len(c.Args) == 0 {
		return fmt.Errorf("serviceaccount is required")
	}
	last := len(c.Args) - 1
	return c.updatePods(c.Args[:last], "serviceaccount updated", func(spec object.Object) error {
		spec["serviceAccountName"] = c.Args[last]
		return nil
	})
}

func runSetSubject(c *call) error {
	subjects, err := generate.Subjects(c.Set)
	if err != nil {
		return err
	}
	if len(subjects) == 0 {
		return fmt.Errorf("you must specify at least one value of user, group or serviceaccount")
	}
	return c.update(c.Args, "subjects updated", func(_ *client.Mapping, obj object.Object) error {
		now := slices.Clone(obj.List("subjects"))
		for _, s := range subjects {
			if !slices.ContainsFunc(now, func(v any) bool { return object.Equal(v, s) }) {
				now = append(now, s)
			}
		}
		obj["subjects"] = now
		return nil
	})
}
