package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// createFlags are those of create, and of what is below it.
const createFlags = " save-config? validate~" + dry + printed

// createWords make objects, of files or of flags.
var createWords = []word{
	{name: "create", help: "Create a resource from a file or from stdin", run: (*call).createWord,
		flags: "edit? raw selector|l windows-line-endings?" + createFlags + ofFiles, sub: slices.Concat(generators, moreGenerators)},
}

// generators are the commands below create that are needed most; moreGenerators are the others.
var generators = []word{
	{name: "configmap", aliases: "cm", help: "Create a config map from a local file, directory or literal value", run: (*call).createConfigMap,
		flags: "from-file* from-literal* from-env-file* append-hash?" + createFlags},
	{name: "deployment", aliases: "deploy", help: "Create a deployment with the specified name", run: (*call).createDeployment,
		flags: "image*! replicas|r# port#" + createFlags},
	{name: "namespace", aliases: "ns", help: "Create a namespace with the specified name", run: (*call).createPlain, flags: createFlags},
	{name: "serviceaccount", aliases: "sa", help: "Create a service account with the specified name", run: (*call).createPlain, flags: createFlags},
}

// createWord creates what files hold.
func (c *call) createWord() error {
	list, err := c.fileTargets("create")
	if err != nil {
		return err
	}
	return each(list, func(t *target) error {
		if c.on("save-config") {
			t.obj = remembered(t.obj)
		}
		if c.dryRun() != dryClient {
			if err := c.create(t, "kubectl-create"); err != nil {
				return with(err, "error when creating %q", t.source)
			}
		}
		return c.said(t, "created")
	})
}

// name returns the NAME that a generator needs.
func (c *call) nameArgument() (string, error) {
	args := c.args
	if c.dash >= 0 {
		args = args[:c.dash]
	}
	if len(args) != 1 {
		return "", c.usage("exactly one NAME is required, got %d", len(args))
	}
	return args[0], nil
}

// command returns what stands behind a double dash.
func (c *call) command() []any {
	if c.dash < 0 {
		return nil
	}
	return object.FromStrings(c.args[c.dash:])
}

// made returns an object that a generator fills.
func made(apiVersion, kind, name string) object.Object {
	return object.Object{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
}

// createMade sends what a generator has made. kind, if it is there, is what an error speaks of.
func (c *call) createMade(obj object.Object, kind string) error {
	return c.sendMade(obj, kind, "created", "kubectl-create")
}

func (c *call) sendMade(obj object.Object, kind, done, manager string) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	if _, err := c.printer(); err != nil {
		return err
	}
	m, err := c.ofKind(obj)
	if err != nil {
		return err
	}
	t := &target{m: m, name: obj.Name(), obj: obj, source: generated}
	if m.namespaced {
		if n := c.text("namespace"); n != "" {
			obj.SetMeta("namespace", n)
		}
		t.namespace = c.namespace()
	}
	if c.on("save-config") {
		t.obj = remembered(t.obj)
	}
	if c.dryRun() != dryClient {
		if err := c.create(t, manager); err != nil {
			if kind != "" {
				return fmt.Errorf("failed to create %s: %s", kind, err.Error())
			}
			return err
		}
	}
	return c.said(t, done)
}

// createPlain makes an object that has nothing but a name.
func (c *call) createPlain() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	if c.word.name == "namespace" {
		return c.createMade(made("v1", "Namespace", name), "")
	}
	return c.createMade(made("v1", "ServiceAccount", name), "serviceaccount")
}

// container is one container of a generated pod.
func container(name, image string) map[string]any {
	return map[string]any{"name": name, "image": image}
}

// imageName is what kubectl calls the container of an image: registry.example/a/b:1@sha256:… is b.
func imageName(image string) string {
	name := image[strings.LastIndexByte(image, '/')+1:]
	name, _, _ = strings.Cut(name, ":")
	name, _, _ = strings.Cut(name, "@")
	out := []byte(strings.ToLower(name))
	for i, b := range out {
		if !(b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '-') {
			out[i] = '-'
		}
	}
	return string(out)
}

func (c *call) createDeployment() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	images := c.list("image")
	if len(images) > 1 && c.dash >= 0 {
		return fmt.Errorf("cannot specify multiple --image options and command")
	}
	var containers []any
	for i, image := range images {
		one := container(imageName(image), image)
		if command := c.command(); len(command) > 0 {
			one["command"] = command
		}
		if port := c.number("port", -1); i == 0 && port >= 0 {
			one["ports"] = []any{map[string]any{"containerPort": port}}
		}
		containers = append(containers, one)
	}
	labels := func() map[string]any { return map[string]any{"app": name} }
	obj := made("apps/v1", "Deployment", name)
	obj.SetMeta("labels", labels())
	obj["spec"] = map[string]any{"replicas": c.number("replicas", 1), "selector": map[string]any{"matchLabels": labels()},
		"template": map[string]any{"metadata": map[string]any{"labels": labels()}, "spec": map[string]any{"containers": containers}}}
	return c.createMade(obj, "deployment")
}
