package kubectl

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/generate"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
)

// runCreate creates the objects in files (kubectl create -f). With --dry-run=client, it only prints them.
func runCreate(c *call) error {
	list, err := c.fileInfos("create")
	if err != nil {
		return err
	}
	return each(list, func(info *client.Info) error {
		if c.On("save-config") {
			info.Object = patches.Modified(info.Object)
		}
		if c.dryRun() != dryClient {
			if err := c.helper("kubectl-create").Create(info); err != nil {
				return client.Wrap(err, "error when creating %q", info.Source)
			}
		}
		return c.printObj(info, "created")
	})
}

// fileInfos returns the objects of --filename for a command that accepts no arguments. It returns an error if there are none.
func (c *call) fileInfos(command string) ([]*client.Info, error) {
	if len(c.Args) > 0 {
		return nil, c.usage("Unexpected args: %v", c.Args)
	}
	if !c.Given("filename") && !c.Given("kustomize") {
		return nil, fmt.Errorf("must specify one of -f and -k")
	}
	if err := c.checkDryRun(); err != nil {
		return nil, err
	}
	list, err := c.FromFiles()
	if err == nil && len(list) == 0 && command != "replace" {
		err = fmt.Errorf("no objects passed to %s", command)
	}
	return list, err
}

// generatorVerbs returns a verb for each generator.
func generatorVerbs(list []generate.Generator) []verb {
	var out []verb
	for _, g := range list {
		v := verb{name: g.Name, aliases: g.Aliases, help: g.Help, sub: generatorVerbs(g.Sub)}
		if g.Make != nil {
			v.flags, v.run = g.Flags+creating, func(c *call) error { return runGenerator(c, &g) }
		}
		out = append(out, v)
	}
	return out
}

// runGenerator creates the object that a generator returns.
func runGenerator(c *call, g *generate.Generator) error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	if err := c.checkDryRun(); err != nil {
		return err
	}
	obj, err := g.Make(&generate.Input{Set: c.Set, Name: name, Server: c, Files: c.Process, Warnings: c.Err})
	if err != nil {
		return err
	}
	return c.sendGenerated(obj, g.Noun, "created", "kubectl-create")
}

// nameArgument returns the NAME argument of a generator. It returns an error unless exactly one argument precedes "--".
func (c *call) nameArgument() (string, error) {
	args := c.Args
	if c.Dash >= 0 {
		args = args[:c.Dash]
	}
	if len(args) != 1 {
		return "", c.usage("exactly one NAME is required, got %d", len(args))
	}
	return args[0], nil
}

// Object implements generate.Server.
func (c *call) Object(name string) (*client.Info, error) { return c.One([]string{name}) }

// createGenerated creates a generated object and prints a message. If noun is set, it precedes the messages of server errors.
func (c *call) createGenerated(obj object.Object, noun, done, manager string) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	return c.sendGenerated(obj, noun, done, manager)
}

// sendGenerated is createGenerated without a check of --dry-run.
func (c *call) sendGenerated(obj object.Object, noun, done, manager string) error {
	info, err := c.submit(obj, noun, manager)
	if err != nil {
		return err
	}
	return c.printObj(info, done)
}

// submit creates a generated object unless --dry-run=client is given.
func (c *call) submit(obj object.Object, noun, manager string) (*client.Info, error) {
	if _, err := c.printFlags().Printer(); err != nil {
		return nil, err
	}
	m, err := c.MappingFor(obj)
	if err != nil {
		return nil, err
	}
	info := &client.Info{Mapping: m, Name: obj.Name(), Object: obj, Generated: true}
	if m.Namespaced {
		if c.EnforceNamespace {
			obj.SetMeta("namespace", c.Namespace)
		}
		info.Namespace = c.Namespace
	}
	if c.On("save-config") {
		info.Object = patches.Modified(obj)
	}
	if c.dryRun() != dryClient {
		err := c.helper(manager).Create(info)
		if err != nil && noun != "" {
			return nil, fmt.Errorf("failed to create %s %s", noun, err.Error())
		}
		if err != nil {
			return nil, err
		}
	}
	return info, nil
}

// runCreateToken requests a token for a service account and prints it (kubectl create token).
func runCreateToken(c *call) error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	m, err := c.Find("serviceaccounts")
	if err != nil {
		return err
	}
	spec := map[string]any{}
	if list := c.List("audience"); len(list) > 0 {
		spec["audiences"] = object.FromStrings(list)
	}
	if d := c.Duration("duration", 0); d > 0 {
		spec["expirationSeconds"] = int64(d.Seconds())
	}
	answer, err := c.Post(m.Path(c.Namespace, name)+"/token",
		object.Object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": map[string]any{}, "spec": spec})
	if err != nil {
		return fmt.Errorf("failed to create token: %s", err.Error())
	}
	if c.Text("output") != "" {
		return c.printObj(&client.Info{Mapping: m, Name: name, Object: answer}, "")
	}
	c.Printf("%s", answer.String("status", "token"))
	return nil
}

// imagePattern matches image names with an optional tag and digest (reference.ReferenceRegexp).
const imagePattern = `^((` + label + `(\.` + label + `)*|\[[a-fA-F0-9:]+\])(:[0-9]+)?/)?` + component + `(/` + component + `)*` +
	`(:\w[\w.-]{0,127})?(@[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`

const (
	label     = `([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`
	component = `[a-z0-9]+((?:[._]|__|[-]+)[a-z0-9]+)*`
)

// runRun creates a pod with one container (kubectl run). With --expose, it also creates a Service.
func runRun(c *call) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	image := c.Text("image")
	switch {
	case len(c.Args) == 0 || c.Dash == 0:
		return c.usage("NAME is required for run")
	case image == "":
		return fmt.Errorf("--image is required")
	case !regexp.MustCompile(imagePattern).MatchString(image):
		return fmt.Errorf("Invalid image name %q: invalid reference format", image)
	case c.On("tty") && !c.On("stdin"):
		return c.usage("-i/--stdin is required for containers with -t/--tty=true")
	case c.On("expose") && c.Text("port") == "":
		return c.usage("--port must be set when exposing a service")
	}
	restart := cmp.Or(c.Text("restart"), "Always")
	if restart != "Always" && restart != "OnFailure" && restart != "Never" {
		return c.usage("invalid restart policy: %s", restart)
	}
	attach, err := c.checkAttached()
	if err != nil {
		return err
	}
	if policy := c.Text("image-pull-policy"); policy != "" && policy != "Always" && policy != "IfNotPresent" && policy != "Never" {
		return c.usage("invalid image pull policy: %s", policy)
	}
	pod, err := generate.Pod(c.Set, c.Args[0], restart, c.Args[1:])
	if err != nil {
		return err
	}
	info, err := c.submit(pod, "", "kubectl-run")
	if err != nil {
		return err
	}
	var failed error
	if c.On("expose") {
		failed = c.sendGenerated(generate.PodService(c.Set, pod), "", "created", "kubectl-run")
	}
	if attach {
		return c.attachRun(info)
	}
	return errors.Join(c.printObj(info, "created"), failed)
}

// runExpose creates a Service for the pods that an object selects (kubectl expose).
func runExpose(c *call) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	c.LabelSelector = "" // --selector is the selector of the service
	return c.visit(c.Args, client.Selection{}, func(info *client.Info) error {
		obj, err := generate.Expose(c.Set, info)
		if err != nil {
			return err
		}
		return c.createGenerated(obj, "", "exposed", "kubectl-expose")
	})
}

// runAutoscale creates a HorizontalPodAutoscaler for one object. It returns an error if the object cannot be scaled.
func runAutoscale(c *call) error {
	least, most := c.Number("min", -1), c.Number("max", 0)
	if most < 1 {
		return fmt.Errorf("--max=MAXPODS is required and must be at least 1, max: %d", most)
	}
	if most < least {
		return fmt.Errorf("--max=MAXPODS must be larger or equal to --min=MINPODS, max: %d, min: %d", most, least)
	}
	metrics, err := generate.Metrics(c.Set)
	if err != nil {
		return err
	}
	info, err := c.One(c.Args)
	if err != nil {
		return err
	}
	if !info.Mapping.Scalable {
		return fmt.Errorf("cannot autoscale a %s: could not find scale subresource for %s in discovery information",
			info.Mapping.Kind, info.Mapping.GroupVersionResource())
	}
	obj := generate.Autoscaler(c.Text("name"), info, least, most, metrics)
	err = c.createGenerated(obj, "", "autoscaled", "kubectl-autoscale")
	if err != nil && !obj.Has("spec", "metrics") {
		return fmt.Errorf("failed to create autoscaling/v2 HPA and the configuration is incompatible with autoscaling/v1: empty input")
	}
	return err
}
