package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/wire"
)

const setFlags = " local? containers|c" + selecting + dry + printed + ofFiles

var setWords = []word{
	{name: "env", help: "Update environment variables on a pod template", run: (*call).setEnv,
		flags: "env|e* from prefix keys, list? resolve? overwrite?" + setFlags},
	{name: "image", help: "Update the image of a pod template", run: (*call).setImage, flags: setFlags},
	{name: "resources", help: "Update resource requests/limits on objects with pod templates", run: (*call).setResources,
		flags: "limits requests" + setFlags},
	{name: "selector", help: "Set the selector on a resource", run: (*call).setSelector, flags: "resource-version" + setFlags},
	{name: "serviceaccount", aliases: "sa", help: "Update the service account of a resource", run: (*call).setAccount, flags: setFlags},
	{name: "subject", help: "Update the user, group, or service account in a role binding or cluster role binding", run: (*call).setSubject,
		flags: "user* group* serviceaccount*" + setFlags},
}

// podSpecOf returns the spec of the pods of an object, nil if it has none.
func podSpecOf(obj object.Object) object.Object {
	switch obj.Kind() {
	case "Pod":
		return obj.At("spec")
	case "CronJob":
		return obj.At("spec", "jobTemplate", "spec", "template", "spec")
	}
	return obj.At("spec", "template", "spec")
}

// containersOf returns the containers of a pod spec that --containers and a name let through.
func containersOf(spec object.Object) []object.Object {
	return append(spec.Objects("initContainers"), spec.Objects("containers")...)
}

// splitArguments takes apart resources and what follows them: a=b, a-.
func (c *call) splitArguments(isOther func(string) bool) (resources, others []string) {
	for _, a := range c.args {
		if isOther(a) {
			others = append(others, a)
		} else {
			resources = append(resources, a)
		}
	}
	return resources, others
}

// update changes the objects of a set command: change returns whether it has changed something.
func (c *call) update(args []string, done string, change func(t *target, obj object.Object) error) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	list, err := c.targets(args, selection{})
	if err != nil {
		return err
	}
	found, errs := list, []error(nil)
	if !c.on("local") {
		found, errs = c.objects(list)
	}
	for _, t := range found {
		if err := c.updateOne(t, done, change); err != nil {
			errs = append(errs, err)
		}
	}
	return together(errs)
}

func (c *call) updateOne(t *target, done string, change func(t *target, obj object.Object) error) error {
	changed := t.obj.Copy()
	if err := change(t, changed); err != nil {
		return err
	}
	always := c.word.name == "serviceaccount" || c.word.name == "selector" || c.on("local")
	if !always && object.Equal(map[string]any(changed), map[string]any(t.obj)) {
		return nil
	}
	if c.dryRun() != dryClient && !c.on("local") {
		p, contentType := between(t.obj, changed, t.obj)
		obj, err := c.write(wire.MethodPatch, t, t.path(), contentType, object.JSON(p), "kubectl-set")
		if err != nil {
			return fmt.Errorf("failed to patch %s update to pod template: %w", strings.Fields(done)[0], err)
		}
		changed = obj
	}
	t.obj = changed
	return c.said(t, done)
}

// errNoPods is the error about an object that has no pods.
func (t *target) errNoPods() error {
	return fmt.Errorf("the object is not a pod or does not have a pod template: %s", t.m.kind)
}

func (c *call) setImage() error {
	args, images := c.splitArguments(func(a string) bool { return strings.Contains(a, "=") })
	if len(images) == 0 {
		if len(args) > 1 && strings.Contains(args[0], "/") {
			return errMixed
		}
		return fmt.Errorf("at least one image update is required")
	}
	return c.update(args, "image updated", func(t *target, obj object.Object) error {
		spec := podSpecOf(obj)
		if spec == nil {
			return t.errNoPods()
		}
		for _, pair := range images {
			name, image, _ := strings.Cut(pair, "=")
			some := false
			for _, one := range containersOf(spec) {
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

// picked reports whether --containers lets a container through.
func (c *call) picked(name string) bool {
	pattern := c.text("containers")
	if pattern == "" || pattern == "*" {
		return true
	}
	if start, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, start)
	}
	return pattern == name
}

func (c *call) setEnv() error {
	args, edits := c.splitArguments(isChange)
	edits = append(edits, c.list("env")...)
	if c.on("list") {
		return c.listEnv(args)
	}
	var entries []map[string]any
	if from := c.text("from"); from != "" {
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
	return c.update(args, "env updated", func(t *target, obj object.Object) error {
		spec := podSpecOf(obj)
		if spec == nil {
			return t.errNoPods()
		}
		for _, one := range containersOf(spec) {
			if c.picked(one.String("name")) {
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

// envFrom returns a variable for each key of a ConfigMap or Secret.
func (c *call) envFrom(from string) (out []map[string]any, err error) {
	t, err := c.one([]string{from})
	if err != nil {
		return nil, err
	}
	ref := map[string]string{"ConfigMap": "configMapKeyRef", "Secret": "secretKeyRef"}[t.m.kind]
	if ref == "" {
		return nil, fmt.Errorf("unsupported resource specified in --from")
	}
	for _, key := range object.SortedKeys(t.obj.Map("data")) {
		if keys := c.list("keys"); len(keys) > 0 && !slices.Contains(keys, key) {
			continue
		}
		name := strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
		if name != key {
			c.complain("Warning: key %s transferred to %s", key, c.text("prefix")+name)
		}
		out = append(out, map[string]any{"name": c.text("prefix") + name,
			"valueFrom": map[string]any{ref: map[string]any{"name": t.name, "key": key}}})
	}
	return out, nil
}

// listEnv prints the variables of containers.
func (c *call) listEnv(args []string) error {
	list, err := c.targets(args, selection{})
	if err != nil {
		return err
	}
	found, errs := c.objects(list)
	for _, t := range found {
		for _, one := range containersOf(podSpecOf(t.obj)) {
			c.printf("# %s %s, container %s\n", t.m.kind, t.name, one.String("name"))
			for _, e := range one.Objects("env") {
				c.printf("%s\n", envLine(e))
			}
		}
	}
	return together(errs)
}

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

func (c *call) setResources() error {
	if !c.given("limits") && !c.given("requests") {
		return fmt.Errorf("you must specify an update to requests or limits (in the form of --requests/--limits)")
	}
	amounts := map[string]map[string]any{}
	for _, kind := range []string{"limits", "requests"} {
		for _, pair := range strings.FieldsFunc(c.text(kind), func(r rune) bool { return r == ',' }) {
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
	return c.update(c.args, "resource requirements updated", func(t *target, obj object.Object) error {
		spec := podSpecOf(obj)
		if spec == nil {
			return t.errNoPods()
		}
		for _, one := range spec.Objects("containers") {
			for _, kind := range []string{"limits", "requests"} {
				for _, name := range object.SortedKeys(amounts[kind]) {
					if c.picked(one.String("name")) {
						one.Set(amounts[kind][name], "resources", kind, name)
					}
				}
			}
		}
		return nil
	})
}

func (c *call) setSelector() error {
	args, pairs := c.splitArguments(func(a string) bool { return strings.Contains(a, "=") })
	if len(pairs) == 0 {
		return fmt.Errorf("a selector is required: kubectl set selector service web app=other")
	}
	labels, err := labelsOf(strings.Join(pairs, ","))
	if err != nil {
		return err
	}
	return c.update(args, "selector updated", func(t *target, obj object.Object) error {
		if t.m.kind != "Service" {
			return fmt.Errorf("setting a selector is only supported for Services")
		}
		obj.Set(labels, "spec", "selector")
		return nil
	})
}

func (c *call) setAccount() error {
	if len(c.args) == 0 {
		return fmt.Errorf("serviceaccount is required")
	}
	last := len(c.args) - 1
	return c.update(c.args[:last], "serviceaccount updated", func(t *target, obj object.Object) error {
		spec := podSpecOf(obj)
		if spec == nil {
			return t.errNoPods()
		}
		spec["serviceAccountName"] = c.args[last]
		return nil
	})
}

func (c *call) setSubject() error {
	subjects, err := c.subjects()
	if err != nil {
		return err
	}
	if len(subjects) == 0 {
		return fmt.Errorf("you must specify at least one value of user, group or serviceaccount")
	}
	return c.update(c.args, "subjects updated", func(t *target, obj object.Object) error {
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
