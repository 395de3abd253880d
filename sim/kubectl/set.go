package kubectl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/generate"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
)

// splitArguments separates the resources from the following changes, such as a=b and a-. It returns an error if a resource follows a
// change. noun is the name of a change in the error.
func splitArguments(args []string, noun string, isChange func(string) bool) (resources, changes []string, err error) {
	for _, a := range args {
		switch {
		case isChange(a):
			changes = append(changes, a)
		case len(changes) > 0:
			return nil, nil, fmt.Errorf("all resources must be specified before %s changes: %s", noun, a)
		default:
			resources = append(resources, a)
		}
	}
	return resources, changes, nil
}

// isPair reports whether an argument has the form a=b or a-.
func isPair(arg string) bool {
	return strings.Index(arg, "=") > 0 || len(arg) > 1 && strings.HasSuffix(arg, "-")
}

// change changes an object for a set command.
type change func(m *client.Mapping, obj object.Object) error

// update applies change to the objects of a set command and sends the resulting patches. Before that, it reads all the objects and
// calls check.
func (c *call) update(args []string, done string, check func() error, change change) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	list, err := c.Infos(args, client.Selection{})
	if err == nil && !c.On("local") {
		var errs []error
		list, errs = c.Objects(list)
		err = errors.Join(errs...)
	}
	if err == nil && check != nil {
		err = check()
	}
	if err != nil {
		return err
	}
	return each(list, func(info *client.Info) error { return c.updateOne(info, done, change) })
}

// patchFailed maps the set commands to the prefixes of errors about their patches.
var patchFailed = map[string]string{"env": "env update to pod template:", "image": "image update to pod template:",
	"resources": "resources update to pod template", "serviceaccount": "ServiceAccountName", "subject": "subjects to rolebinding:"}

func (c *call) updateOne(info *client.Info, done string, change change) error {
	changed := info.Object.Copy()
	prefix := patchFailed[c.verb.name]
	err := change(info.Mapping, changed)
	if err != nil && prefix != "" {
		return fmt.Errorf("error: %s/%s %w\n", info.Mapping.Resource, info.Name, err)
	}
	if err != nil {
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
		if err != nil && prefix != "" {
			return fmt.Errorf("failed to patch %s %w", prefix, err)
		}
		if err != nil {
			return err
		}
		changed = obj
	}
	info.Object = changed
	return c.printObj(info, done)
}

// updatePods applies change to the pod specs of the objects of a set command. It returns an error for an object without
// a pod spec. change returns errors about containers, which do not prevent other changes.
func (c *call) updatePods(args []string, done string, check func() error, change func(spec object.Object) ([]error, error)) error {
	var missing []error
	err := c.update(args, done, check, func(m *client.Mapping, obj object.Object) error {
		spec := client.PodSpec(obj)
		if spec == nil {
			return fmt.Errorf("the object is not a pod or does not have a pod template: *%s.%s", m.Version, m.Kind)
		}
		errs, err := change(spec)
		missing = append(missing, errs...)
		return err
	})
	return join(missing, err)
}

func runSetImage(c *call) error {
	args, images, err := splitArguments(c.Args, "image", isPair)
	if err != nil {
		return err
	}
	for _, pair := range images {
		if !strings.Contains(pair, "=") {
			return fmt.Errorf("invalid image format: %s", pair)
		}
	}
	return c.updatePods(args, "image updated", func() error {
		if len(images) == 0 {
			return fmt.Errorf("at least one image update is required")
		}
		return nil
	}, func(spec object.Object) (missing []error, err error) {
		for _, pair := range images {
			name, image, _ := strings.Cut(pair, "=")
			some := false
			for _, one := range client.Containers(spec) {
				if name == "*" || one.String("name") == name {
					one["image"], some = image, true
				}
			}
			if !some {
				missing = append(missing, fmt.Errorf("error: unable to find container named %q", name))
			}
		}
		return missing, nil
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
	args, edits, err := splitArguments(c.Args, "environment", isChange)
	if err != nil {
		return fmt.Errorf("all resources must be specified before environment changes: %s", strings.Join(c.Args, " "))
	}
	edits = append(edits, c.List("env")...)
	if len(args) == 0 && !c.Given("filename") {
		return errNoResource
	}
	switch {
	case c.On("list") && c.Given("output"):
		return fmt.Errorf("--list and --output may not be specified together")
	case c.Given("keys") && !c.Given("from"):
		return fmt.Errorf("when specifying --keys, a configmap or secret must be provided with --from")
	case c.On("list"):
		return c.listEnv(args)
	}
	var entries []map[string]any
	if from := c.Text("from"); from != "" {
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
	return c.updatePods(args, "env updated", nil, func(spec object.Object) ([]error, error) {
		for _, one := range c.chosenContainers(spec) {
			if err := changeEnv(one, entries, gone, !c.Off("overwrite")); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

// chosenContainers returns the containers of a pod spec that --containers matches.
func (c *call) chosenContainers(spec object.Object) []object.Object {
	return slices.DeleteFunc(client.Containers(spec), func(one object.Object) bool {
		return !matchesContainer(c.Text("containers"), one.String("name"))
	})
}

// changeEnv sets and removes environment variables of a container. If overwrite is false, it returns an error for a variable with
// another value.
func changeEnv(one object.Object, entries []map[string]any, gone []string, overwrite bool) error {
	env := slices.Clone(one.List("env"))
	for _, e := range entries {
		at := slices.IndexFunc(env, func(v any) bool { return object.As(v).String("name") == e["name"] })
		if at >= 0 && !overwrite && object.As(env[at]).String("value") != object.Object(e).String("value") {
			return fmt.Errorf("'%s' already has a value (%s), and --overwrite is false", e["name"], object.As(env[at]).String("value"))
		}
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
	return nil
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
	amounts := map[string]map[string]any{}
	return c.updatePods(c.Args, "resource requirements updated", func() (err error) {
		if !c.Given("limits") && !c.Given("requests") {
			return fmt.Errorf("you must specify an update to requests or limits (in the form of --requests/--limits)")
		}
		for _, kind := range []string{"limits", "requests"} {
			if amounts[kind], err = generate.Amounts(c.Text(kind)); err != nil {
				return err
			}
		}
		return nil
	}, func(spec object.Object) ([]error, error) {
		chosen := c.chosenContainers(spec)
		if len(chosen) == 0 {
			return []error{fmt.Errorf("error: unable to find container named %s", c.Text("containers"))}, nil
		}
		for _, one := range chosen {
			for _, kind := range []string{"limits", "requests"} {
				for _, name := range object.SortedKeys(amounts[kind]) {
					one.Set(amounts[kind][name], "resources", kind, name)
				}
			}
		}
		return nil, nil
	})
}

func runSetSelector(c *call) error {
	last := len(c.Args) - 1
	if last < 0 {
		return fmt.Errorf("one selector is required")
	}
	labels, failed := generate.Labels(c.Args[last])
	return c.update(c.Args[:last], "selector updated", nil, func(m *client.Mapping, obj object.Object) error {
		if m.Kind != "Service" {
			return fmt.Errorf("setting a selector is only supported for Services")
		}
		if failed != nil {
			return fmt.Errorf("match expression [{%s Exists []}] not supported on this object", c.Args[last])
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
	return c.updatePods(c.Args[:last], "serviceaccount updated", nil, func(spec object.Object) ([]error, error) {
		spec["serviceAccountName"] = c.Args[last]
		return nil, nil
	})
}

func runSetSubject(c *call) error {
	var subjects []any
	return c.update(c.Args, "subjects updated", func() (err error) {
		subjects, err = generate.Subjects(c.Set)
		if err == nil && len(subjects) == 0 {
			err = fmt.Errorf("you must specify at least one value of user, group or serviceaccount")
		}
		return err
	}, func(m *client.Mapping, obj object.Object) error {
		if !strings.HasSuffix(m.Kind, "RoleBinding") {
			return fmt.Errorf("setting subjects is only supported for RoleBinding/ClusterRoleBinding")
		}
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
