package kubectl

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// podWords make pods, and look into them.
var podWords = []word{
	{name: "run", help: "Run a particular image on the cluster", run: (*call).runWord,
		flags: "image! port labels|l env* restart command? overrides override-type expose? attach? stdin|i? tty|t? rm? quiet|q? annotations* " +
			"image-pull-policy privileged? leave-stdin-open? pod-running-timeout@ grace-period# timeout@ force? wait? cascade~ save-config?" +
			dry + printed + ofFiles},
	{name: "logs", help: "Print the logs for a container in a pod", run: (*call).logs,
		flags: "container|c follow|f? previous|p? tail# since@ since-time timestamps? limit-bytes# selector|l all-containers? all-pods? prefix? " +
			"max-log-requests# pod-running-timeout@ ignore-errors? insecure-skip-tls-verify-backend?"},
	{name: "exec", help: "Execute a command in a container", run: (*call).exec,
		flags: "container|c stdin|i? tty|t? quiet|q? filename|f, pod-running-timeout@"},
	{name: "attach", help: "Attach to a running container", run: (*call).attach, flags: "container|c stdin|i? tty|t? quiet|q? pod-running-timeout@"},
	{name: "cp", help: "Copy files and directories to and from containers", flags: "container|c no-preserve? retries#", run: func(c *call) error {
		if len(c.args) < 2 {
			return fmt.Errorf("source and destination are required")
		}
		return notHere("containers have no file systems that could be copied from or to")
	}},
	{name: "port-forward", help: "Forward one or more local ports to a pod", flags: "address, pod-running-timeout@", run: func(c *call) error {
		if len(c.args) < 2 {
			return c.usage("TYPE/NAME and list of ports are required for port-forward")
		}
		if _, err := c.podNamed(c.args[0]); err != nil {
			return err
		}
		return notHere("there is no port here to listen on")
	}},
	{name: "debug", help: "Create debugging sessions for troubleshooting workloads and nodes",
		flags: "image container|c copy-to target profile stdin|i? tty|t? attach? env* quiet|q? replace? same-node? share-processes? set-image*" + ofFiles,
		run: func(c *call) error {
			if !c.given("image") && !c.given("copy-to") {
				return fmt.Errorf("you must specify --image when not using --copy-to.")
			}
			return notHere("no image runs in this cluster: look with kubectl describe, logs and exec")
		}},
	{name: "top", help: "Display resource (CPU/memory) usage", sub: []word{
		{name: "node", aliases: "nodes no", help: "Display resource (CPU/memory) usage of nodes", run: (*call).topNodes,
			flags: "no-headers? sort-by selector|l show-capacity? use-protocol-buffers?"},
		{name: "pod", aliases: "pods po", help: "Display resource (CPU/memory) usage of pods", run: (*call).topPods,
			flags: "all-namespaces|A? containers? no-headers? sort-by selector|l field-selector sum? use-protocol-buffers?"},
	}},
	{name: "events", help: "List events", run: (*call).events, flags: "all-namespaces|A? for types, watch|w? no-headers? chunk-size#" + printed},
}

// notHere is the error of what this kubectl cannot do.
func notHere(why string) error { return fmt.Errorf("this is not simulated: %s", why) }

// runWord makes a pod.
func (c *call) runWord() error {
	image := c.text("image")
	switch {
	case c.argumentsBefore() != 1:
		return c.usage("NAME is required for run")
	case image == "":
		return fmt.Errorf("--image is required")
	case strings.ContainsAny(image, " \t") || image != strings.TrimSpace(image):
		return fmt.Errorf("Invalid image name %q: invalid reference format", image)
	}
	restart := cmp.Or(c.text("restart"), "Always")
	if restart != "Always" && restart != "OnFailure" && restart != "Never" {
		return c.usage("invalid restart policy: %s", restart)
	}
	if err := c.checkDryRun(); err != nil {
		return err
	}
	if c.on("expose") && c.text("port") == "" {
		return c.usage("--port must be set when exposing a service")
	}
	obj, err := c.pod(c.args[0], image, restart)
	if err != nil {
		return err
	}
	if c.on("expose") {
		service := made("v1", "Service", obj.Name())
		service["spec"] = map[string]any{"ports": []any{map[string]any{"port": intOrText(c.text("port")), "protocol": "TCP", "targetPort": intOrText(c.text("port"))}},
			"selector": object.Copy(obj.Map("metadata", "labels"))}
		if err := c.sendMade(service, "", "created", "kubectl-run"); err != nil {
			return err
		}
	}
	return c.sendMade(obj, "", "created", "kubectl-run")
}

// argumentsBefore is how many arguments are not part of a command for a container.
func (c *call) argumentsBefore() int {
	if c.dash >= 0 {
		return c.dash
	}
	return min(len(c.args), 1)
}

// pod returns the pod of a run command.
func (c *call) pod(name, image, restart string) (object.Object, error) {
	one := object.Object(container(name, image))
	if rest := c.args[1:]; len(rest) > 0 {
		field := "args"
		if c.on("command") {
			field = "command"
		}
		one[field] = object.FromStrings(rest)
	}
	if p := c.text("port"); p != "" {
		one["ports"] = []any{map[string]any{"containerPort": intOrText(p)}}
	}
	var env []any
	for _, e := range c.list("env") {
		k, v, ok := strings.Cut(e, "=")
		if !ok || k == "" {
			return nil, fmt.Errorf("invalid env: %v", e)
		}
		env = append(env, map[string]any{"name": k, "value": v})
	}
	if len(env) > 0 {
		one["env"] = env
	}
	if p := c.text("image-pull-policy"); p != "" {
		one["imagePullPolicy"] = p
	}
	if c.on("stdin") {
		one["stdin"], one["stdinOnce"] = true, true
	}
	if c.on("tty") {
		one["tty"] = true
	}
	if c.on("privileged") {
		one.Set(true, "securityContext", "privileged")
	}
	labels := map[string]any{"run": name}
	if text := c.text("labels"); text != "" {
		var err error
		if labels, err = labelsOf(text); err != nil {
			return nil, err
		}
	}
	obj := made("v1", "Pod", name)
	obj.SetMeta("labels", labels)
	if list := c.list("annotations"); len(list) > 0 {
		annotations, err := labelsOf(strings.Join(list, ","))
		if err != nil {
			return nil, err
		}
		obj.SetMeta("annotations", annotations)
	}
	obj["spec"] = map[string]any{"containers": []any{map[string]any(one)}, "restartPolicy": restart, "dnsPolicy": "ClusterFirst"}
	if o := c.text("overrides"); o != "" {
		body, err := jsonOf([]byte(o))
		if err != nil {
			return nil, err
		}
		return locally(obj, cmp.Or(c.text("override-type"), "merge"), body)
	}
	return obj, nil
}

// podNamed returns the pod that NAME or TYPE/NAME stands for; of a workload it is its first one.
func (c *call) podNamed(text string) (*target, error) {
	if !strings.Contains(text, "/") {
		text = "pods/" + text
	}
	t, err := c.one([]string{text})
	if err != nil || t.m.is("pods", "") {
		return t, err
	}
	s := t.obj.Map("spec", "selector")
	if t.m.is("services", "") || t.m.is("replicationcontrollers", "") {
		s = map[string]any{"matchLabels": s}
	}
	m, err := c.find("pods")
	if err != nil {
		return nil, err
	}
	list, err := c.get(m.path(t.namespace, ""), query("labelSelector", selectorText(s)))
	if err != nil {
		return nil, err
	}
	items := list.Objects("items")
	if s == nil || len(items) == 0 {
		return nil, fmt.Errorf("timed out waiting for the condition")
	}
	withKind(items[0], m)
	return &target{m: m, namespace: t.namespace, name: items[0].Name(), obj: items[0]}, nil
}

// containerOf returns the name of the container that is meant, and says so where there are several.
func (c *call) containerOf(t *target) (string, error) {
	spec := t.obj.At("spec")
	var names []string
	for _, one := range append(append(spec.Objects("containers"), spec.Objects("initContainers")...), spec.Objects("ephemeralContainers")...) {
		names = append(names, one.String("name"))
	}
	if name := c.text("container"); name != "" {
		for _, n := range names {
			if n == name {
				return name, nil
			}
		}
		return "", fmt.Errorf("container %s is not valid for pod %s out of: %s", name, t.name, strings.Join(names, ", "))
	}
	if name := t.obj.Annotations()["kubectl.kubernetes.io/default-container"]; name != "" {
		return name, nil
	}
	if len(spec.Objects("containers")) > 1 && !c.on("quiet") {
		c.complain("Defaulted container %q out of: %s", names[0], strings.Join(names, ", "))
	}
	return names[0], nil
}

// logs prints what containers have said.
func (c *call) logs() error {
	if len(c.args) == 0 && !c.given("selector") || len(c.args) > 2 {
		return c.usage("expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command")
	}
	if len(c.args) == 2 {
		c.flags["container"] = c.args[1:]
	}
	if !c.given("selector") {
		t, err := c.podNamed(c.args[0])
		if isNotFound(err) && !strings.Contains(c.args[0], "/") {
			return fmt.Errorf("error from server (NotFound): pods %q not found in namespace %q", c.args[0], c.namespace())
		}
		if err != nil {
			return err
		}
		return c.logsOf(t)
	}
	m, err := c.find("pods")
	if err != nil {
		return err
	}
	found, err := c.listed(&target{m: m, namespace: c.namespace()})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		c.complain("No resources found in %s namespace.", c.namespace())
	}
	if !c.given("tail") {
		c.flags["tail"] = []string{"10"}
	}
	return each(found, c.logsOf)
}

func (c *call) logsOf(t *target) error {
	names := []string{}
	if c.on("all-containers") {
		for _, one := range containersOf(t.obj.At("spec")) {
			names = append(names, one.String("name"))
		}
	} else {
		name, err := c.containerOf(t)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	for _, name := range names {
		q := query("container", name, "tailLines", c.text("tail"), "sinceTime", c.text("since-time"), "limitBytes", c.text("limit-bytes"))
		if n := c.number("tail", 0); n < 0 {
			q.Del("tailLines")
		}
		if d := c.duration("since", 0); d > 0 {
			q.Set("sinceSeconds", fmt.Sprint(int64(d/time.Second)))
		}
		for _, flag := range []string{"follow", "previous", "timestamps"} {
			if c.on(flag) {
				q.Set(flag, "true")
			}
		}
		a, err := c.send(c.request(wire.MethodGet, t.path()+"/log", q, "", nil))
		if err != nil {
			return err
		}
		c.printLog(string(a.Body), "[pod/"+t.name+"/"+name+"] ")
	}
	return nil
}

func (c *call) printLog(text, prefix string) {
	if !c.on("prefix") {
		c.printf("%s", text)
		return
	}
	for line := range strings.Lines(text) {
		c.printf("%s%s", prefix, line)
	}
}

// exec runs a command in a container.
func (c *call) exec() error {
	n := c.dash
	if n < 0 {
		n = min(len(c.args), 1)
	}
	switch {
	case n == 0:
		return fmt.Errorf("pod, type/name or --filename must be specified")
	case len(c.args) == n:
		return fmt.Errorf("you must specify at least one command for the container")
	case n > 1:
		return fmt.Errorf("exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead")
	case c.dash < 0:
		return fmt.Errorf("exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead")
	}
	t, err := c.podNamed(c.args[0])
	if err != nil {
		return err
	}
	return c.stream(t, "exec", c.args[n:])
}

func (c *call) attach() error {
	if len(c.args) == 0 {
		return c.usage("at least 1 argument is required for attach")
	}
	t, err := c.podNamed(c.args[0])
	if err != nil {
		return err
	}
	return c.stream(t, "attach", nil)
}

// stream runs a command in a container of a pod, or attaches to it.
func (c *call) stream(t *target, how string, command []string) error {
	if phase := t.obj.String("status", "phase"); phase == "Succeeded" || phase == "Failed" {
		return fmt.Errorf("cannot exec into a container in a completed pod; current phase is %s", phase)
	}
	name, err := c.containerOf(t)
	if err != nil {
		return err
	}
	q := url.Values{"container": {name}, "stdout": {"true"}, "stderr": {"true"}}
	if len(command) > 0 {
		q["command"] = command
	}
	if c.on("stdin") {
		q.Set("stdin", "true")
	}
	a, err := c.Conn.Exec(c.request(wire.MethodGet, t.path()+"/"+how, q, "", nil), c.stdin, func(isError bool, data []byte) {
		if isError {
			c.Err.Write(data)
		} else {
			c.Out.Write(data)
		}
	})
	if err != nil || a == nil {
		return err
	}
	if a.Code >= 400 {
		_, err := c.checked(a)
		return err
	}
	end, err := object.Parse(a.Body)
	if err != nil || end.String("status") != "Failure" {
		return nil
	}
	for _, cause := range end.Objects("details", "causes") {
		if cause.String("reason") == "ExitCode" {
			code := 1
			fmt.Sscan(cause.String("message"), &code)
			c.complain("command terminated with exit code %d", code)
			return exitCode(code)
		}
	}
	return fmt.Errorf("%s", end.String("message"))
}
