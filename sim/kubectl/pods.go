package kubectl

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// podNamed returns the pod that NAME or TYPE/NAME identifies. For a workload it returns the workload's first pod. It returns an
// error if the workload has no pod.
func (c *call) podNamed(text string) (*client.Info, error) {
	if !strings.Contains(text, "/") {
		text = "pods/" + text
	}
	info, err := c.Object(text)
	if err != nil || info.Mapping.Is("pods", "") {
		return info, err
	}
	s := info.Object.Map("spec", "selector")
	if info.Mapping.Is("services", "") || info.Mapping.Is("replicationcontrollers", "") {
		s = map[string]any{"matchLabels": s}
	}
	m, items, err := client.List(c, "pods", info.Namespace, "labelSelector", client.LabelSelector(s))
	if err != nil {
		return nil, err
	}
	if s == nil || len(items) == 0 {
		return nil, fmt.Errorf("timed out waiting for the condition")
	}
	if c.verb.name == "logs" && len(items) > 1 {
		c.Complain("Found %d pods, using pod/%s", len(items), items[0].Name())
	}
	m.Default(items[0])
	return &client.Info{Mapping: m, Namespace: info.Namespace, Name: items[0].Name(), Object: items[0]}, nil
}

// containerOf returns the container of --container or the pod's default container. If the choice is implicit, it prints a message.
// It returns an error if the pod has no such container.
func (c *call) containerOf(info *client.Info) (string, error) {
	spec := info.Object.At("spec")
	var names, shown []string
	for _, kind := range [][2]string{{"containers", ""}, {"ephemeralContainers", " (ephem)"}, {"initContainers", " (init)"}} {
		for _, one := range spec.Objects(kind[0]) {
			names = append(names, one.String("name"))
			shown = append(shown, one.String("name")+kind[1])
		}
	}
	if name := c.Text("container"); name != "" {
		if slices.Contains(names, name) {
			return name, nil
		}
		return "", fmt.Errorf("container %s is not valid for pod %s out of: %s", name, info.Name, strings.Join(shown, ", "))
	}
	if name := info.Object.Annotations()["kubectl.kubernetes.io/default-container"]; name != "" {
		return name, nil
	}
	if len(spec.Objects("containers")) > 1 && !c.On("quiet") {
		c.Complain("Defaulted container %q out of: %s", names[0], strings.Join(shown, ", "))
	}
	return names[0], nil
}

// runLogs prints the logs of a pod, or of all pods that --selector selects (kubectl logs).
func runLogs(c *call) error {
	if len(c.Args) == 0 && !c.Given("selector") || len(c.Args) > 2 {
		return c.usage("expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command")
	}
	if len(c.Args) == 2 {
		c.Put("container", c.Args[1])
	}
	if !c.Given("selector") {
		info, err := c.podNamed(c.Args[0])
		if client.IsNotFound(err) && !strings.Contains(c.Args[0], "/") {
			return fmt.Errorf("error from server (NotFound): pods %q not found in namespace %q", c.Args[0], c.Namespace)
		}
		if err != nil {
			return err
		}
		return c.logsOf(info)
	}
	m, err := c.Find("pods")
	if err != nil {
		return err
	}
	found, err := c.Listed(&client.Info{Mapping: m, Namespace: c.Namespace})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		c.Complain("No resources found in %s namespace.", c.Namespace)
	}
	if !c.Given("tail") {
		c.Put("tail", "10")
	}
	return each(found, c.logsOf)
}

func (c *call) logsOf(info *client.Info) error {
	names := []string{}
	if c.On("all-containers") {
		for _, one := range client.Containers(info.Object.At("spec")) {
			names = append(names, one.String("name"))
		}
	} else {
		name, err := c.containerOf(info)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	for _, name := range names {
		q := client.Query("container", name, "tailLines", c.Text("tail"), "sinceTime", c.Text("since-time"), "limitBytes", c.Text("limit-bytes"))
		if n := c.Number("tail", 0); n < 0 {
			q.Del("tailLines")
		}
		if d := c.Duration("since", 0); d > 0 {
			q.Set("sinceSeconds", fmt.Sprint(int64(d/time.Second)))
		}
		for _, flag := range []string{"follow", "previous", "timestamps"} {
			if c.On(flag) {
				q.Set(flag, "true")
			}
		}
		a, err := c.Send(c.Request(wire.MethodGet, info.Path()+"/log", q, "", nil))
		if err != nil {
			return err
		}
		prefix := ""
		if c.On("prefix") {
			prefix = "[pod/" + info.Name + "/" + name + "] "
		}
		for line := range strings.Lines(string(a.Body)) {
			c.Printf("%s%s", prefix, line)
		}
	}
	return nil
}

// shells are the programs that read commands from a terminal.
var shells = map[string]bool{"sh": true, "bash": true, "ash": true, "dash": true, "zsh": true}

// runExec runs a command in a container (kubectl exec). It returns an error for an interactive shell.
func runExec(c *call) error {
	n := c.Dash
	if n < 0 {
		n = min(len(c.Args), 1)
	}
	switch {
	case n == 0:
		return fmt.Errorf("pod, type/name or --filename must be specified")
	case len(c.Args) == n:
		return fmt.Errorf("you must specify at least one command for the container")
	case c.Dash != 1:
		return fmt.Errorf("exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead")
	}
	info, err := c.podNamed(c.Args[0])
	if err != nil {
		return err
	}
	if command := c.Args[n:]; len(command) == 1 && c.On("stdin") && c.On("tty") && shells[path.Base(command[0])] {
		return errUnsimulated("an interactive shell; run one command: kubectl exec " + info.Name + " -- env")
	}
	return c.stream(info, "exec", c.Args[n:])
}

func runAttach(c *call) error {
	if len(c.Args) == 0 {
		return c.usage("at least 1 argument is required for attach")
	}
	info, err := c.podNamed(c.Args[0])
	if err != nil {
		return err
	}
	return c.stream(info, "attach", nil)
}

// stream runs a command in a container of a pod, or attaches to it, and prints the output. how is "exec" or "attach". If the
// command fails, stream returns its exit code as an error.
func (c *call) stream(info *client.Info, how string, command []string) error {
	if phase := info.Object.String("status", "phase"); phase == "Succeeded" || phase == "Failed" {
		return fmt.Errorf("cannot exec into a container in a completed pod; current phase is %s", phase)
	}
	name, err := c.containerOf(info)
	if err != nil {
		return err
	}
	q := url.Values{"container": {name}, "stdout": {"true"}, "stderr": {"true"}}
	if len(command) > 0 {
		q["command"] = command
	}
	if c.On("stdin") {
		q.Set("stdin", "true")
	}
	return c.execute(info, how, q, c.Stdin, func(isError bool, data []byte) {
		if isError {
			c.Err.Write(data)
		} else {
			c.Out.Write(data)
		}
	})
}

// execute sends a request for a command in a container, with the query q, and calls out with the output. If the command fails, it
// returns its exit code as an error.
func (c *call) execute(info *client.Info, how string, q url.Values, stdin []byte, out func(isError bool, data []byte)) error {
	a, err := c.Conn.Exec(c.Request(wire.MethodGet, info.Path()+"/"+how, q, "", nil), stdin, out)
	if err != nil || a == nil {
		return err
	}
	if a.Code >= 400 {
		return c.Check(a)
	}
	end, err := object.Parse(a.Body)
	if err != nil || end.String("status") != "Failure" {
		return nil
	}
	for _, cause := range end.Objects("details", "causes") {
		if cause.String("reason") == "ExitCode" {
			code := 1
			fmt.Sscan(cause.String("message"), &code)
			c.Complain("command terminated with exit code %d", code)
			return exitCode(code)
		}
	}
	return fmt.Errorf("%s", end.String("message"))
}
