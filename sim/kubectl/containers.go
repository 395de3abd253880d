package kubectl

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// checkAttached returns an error if the flags of kubectl run contradict each other, and reports whether run attaches to the pod.
func (c *call) checkAttached() (attach bool, err error) {
	attach = c.attaches()
	switch {
	case c.On("rm") && !attach:
		return false, c.usage("--rm should only be used for attached containers")
	case attach && c.dryRun() != dryNone:
		return false, c.usage("--dry-run=[server|client] can't be used with attached containers options (--attach, --stdin, or --tty)")
	case attach && isInteractive(c.On("tty"), c.Args[1:]):
		return false, errUnsimulated("an interactive shell; run one command: kubectl run " + c.Args[0] + " -i --rm --restart=Never --image=" + c.Text("image") + " -- env")
	}
	return attach, nil
}

// attaches reports whether a command prints the output of the container that it starts.
func (c *call) attaches() bool { return c.On("attach") || c.On("stdin") && !c.Given("attach") }

// isInteractive reports whether a command reads further commands from a terminal.
func isInteractive(tty bool, command []string) bool {
	return tty && (len(command) == 0 || len(command) == 1 && shells[path.Base(command[0])])
}

// attachRun waits until a pod of kubectl run has ended, and prints its output. With --rm it then deletes the pod. If the pod has failed,
// it returns the exit code as an error.
func (c *call) attachRun(info *client.Info) error {
	err := c.printEnded(info)
	if c.On("rm") {
		if e := c.deletion().all([]*client.Info{info}, true); err == nil {
			err = e
		}
	}
	if err != nil || info.Object.String("status", "phase") != "Failed" {
		return err
	}
	code := 1
	for _, s := range info.Object.Objects("status", "containerStatuses") {
		if end := s.At("state", "terminated"); end != nil {
			n, _ := end.Int("exitCode")
			code = int(n)
			c.Complain("pod %s/%s terminated (%s)", info.Namespace, info.Name, end.String("reason"))
		}
	}
	return exitCode(code)
}

// printEnded prints the output of a pod when it has ended.
func (c *call) printEnded(info *client.Info) error {
	until := c.Now().Add(c.Duration("pod-running-timeout", time.Minute))
	err := c.Await(info, until, func(obj object.Object) (bool, error) {
		phase := obj.String("status", "phase")
		return phase == "Succeeded" || phase == "Failed", nil
	})
	if err != nil {
		return err
	}
	return c.logsOf(info)
}

// place is a file in a container, or a local file if pod is empty.
type place struct{ namespace, pod, file string }

// placeOf parses an argument of kubectl cp: POD:FILE, NAMESPACE/POD:FILE or FILE.
func placeOf(text string) place {
	pod, file, remote := strings.Cut(text, ":")
	if !remote {
		return place{file: text}
	}
	namespace, name, has := strings.Cut(pod, "/")
	if !has {
		namespace, name = "", pod
	}
	return place{namespace, name, file}
}

// runCopy copies a file to a container or from it (kubectl cp). The real kubectl runs tar in the container; runCopy runs
// cat and printf.
func runCopy(c *call) error {
	if len(c.Args) != 2 {
		return fmt.Errorf("source and destination are required")
	}
	from, to := placeOf(c.Args[0]), placeOf(c.Args[1])
	if (from.pod == "") == (to.pod == "") {
		return fmt.Errorf("one of src or dest must be a remote file specification")
	}
	remote := place{cmp.Or(from.namespace, to.namespace, c.Namespace), cmp.Or(from.pod, to.pod), ""}
	c.Namespace = remote.namespace
	info, err := c.podNamed(remote.pod)
	if err != nil {
		return err
	}
	if from.pod == "" {
		data, err := c.ReadFile(from.file)
		if err != nil {
			return fmt.Errorf("%s doesn't exist in local filesystem", from.file)
		}
		if strings.HasSuffix(to.file, "/") {
			to.file += path.Base(from.file)
		}
		_, err = c.inContainer(info, "sh", "-c", "printf %s "+quoted(string(data))+" > "+quoted(to.file))
		return err
	}
	data, err := c.inContainer(info, "cat", from.file)
	if err != nil {
		return err
	}
	if err := c.Save(to.file, data, false); err == fs.ErrPermission {
		return errUnsimulated("there are no local files here")
	} else if err != nil {
		return err
	}
	return nil
}

// inContainer runs a command in a container and returns its output.
func (c *call) inContainer(info *client.Info, command ...string) (out []byte, err error) {
	name, err := c.containerOf(info)
	if err != nil {
		return nil, err
	}
	q := url.Values{"container": {name}, "stdout": {"true"}, "stderr": {"true"}, "command": command}
	err = c.execute(info, "exec", q, nil, func(isError bool, data []byte) {
		if isError {
			c.Err.Write(data)
		} else {
			out = append(out, data...)
		}
	})
	return out, err
}

// quoted returns a text as a word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// runDebug adds an ephemeral container to a pod (kubectl debug).
func runDebug(c *call) error {
	image := c.Text("image")
	command := c.Args[min(1, len(c.Args)):]
	switch {
	case image == "" && !c.Given("copy-to"):
		return fmt.Errorf("you must specify --image when not using --copy-to.")
	case len(c.Args) == 0:
		return fmt.Errorf("NAME is required for debug")
	case c.Given("copy-to"):
		return errUnsimulated("a copy of a pod; add a container to the pod: kubectl debug " + c.Args[0] + " --image=busybox")
	case strings.HasPrefix(c.Args[0], "node/"):
		return errUnsimulated("nodes have no file systems: look with kubectl describe " + c.Args[0])
	case c.attaches() && isInteractive(c.On("tty"), command):
		return errUnsimulated("an interactive shell; run one command: kubectl debug " + c.Args[0] + " -i --image=" + image + " -- env")
	}
	info, err := c.podNamed(c.Args[0])
	if err != nil {
		return err
	}
	name := c.Text("container")
	if target := c.Text("target"); target != "" {
		c.Complain("Targeting container %q. If you don't see processes from this container it may be because the container runtime "+
			"doesn't support this feature.", target)
	}
	if name == "" {
		name = "debugger-" + suffix(info.Object.UID()+strconv.Itoa(len(info.Object.Objects("spec", "ephemeralContainers"))))
		c.Complain("Defaulting debug container name to %s.", name)
	}
	body := object.Object{"spec": map[string]any{"ephemeralContainers": []any{c.debugger(name, image, command)}}}
	obj, err := c.helper("kubectl-debug").Patch(info, "ephemeralcontainers", "application/strategic-merge-patch+json", object.JSON(body))
	if err != nil || !c.attaches() {
		return err
	}
	info.Object = obj
	ended := func(obj object.Object) (bool, error) {
		return slices.ContainsFunc(obj.Objects("status", "ephemeralContainerStatuses"), func(s object.Object) bool {
			return s.String("name") == name && s.Has("state", "terminated")
		}), nil
	}
	if err := c.Await(info, c.Now().Add(time.Minute), ended); err != nil {
		return err
	}
	c.Put("container", name)
	return c.logsOf(info)
}

// debugger returns an ephemeral container with the profile general of kubectl debug.
func (c *call) debugger(name, image string, command []string) map[string]any {
	one := map[string]any{"name": name, "image": image, "imagePullPolicy": "IfNotPresent", "terminationMessagePolicy": "File",
		"securityContext": map[string]any{"capabilities": map[string]any{"add": []any{"SYS_PTRACE"}}}}
	if !strings.Contains(image, ":") || strings.HasSuffix(image, ":latest") {
		one["imagePullPolicy"] = "Always"
	}
	for flag, field := range map[string]string{"stdin": "stdin", "tty": "tty"} {
		if c.On(flag) {
			one[field] = true
		}
	}
	if target := c.Text("target"); target != "" {
		one["targetContainerName"] = target
	}
	if len(command) > 0 {
		one["command"] = object.FromStrings(command)
	}
	return one
}

// suffix returns five letters that depend only on a text.
func suffix(text string) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	h := fnv.New64a()
	h.Write([]byte(text))
	n, out := h.Sum64(), ""
	for range 5 {
		out += letters[n%uint64(len(letters)):][:1]
		n /= uint64(len(letters))
	}
	return out
}

// forward is a port of this machine that leads to a port of a pod. path is that of the pod.
type forward struct {
	local string
	path  string
	port  int
}

// runPortForward lets curl reach a pod's port at localhost (kubectl port-forward). The real kubectl serves until it is interrupted; a
// Session serves to its end.
func runPortForward(c *call) error {
	if len(c.Args) < 2 {
		return c.usage("TYPE/NAME and list of ports are required for port-forward")
	}
	info, err := c.podNamed(c.Args[0])
	if err != nil {
		return err
	}
	if _, can := c.Conn.(client.Forwarder); !can {
		return errUnsimulated("there is no port here to listen on")
	}
	if phase := info.Object.String("status", "phase"); phase != "Running" {
		return fmt.Errorf("unable to forward port because pod is not running. Current status=%s", phase)
	}
	for _, pair := range c.Args[1:] {
		local, remote, has := strings.Cut(pair, ":")
		if !has {
			remote = local
		}
		if local == "" {
			return errUnsimulated("a random local port; name one: kubectl port-forward " + c.Args[0] + " 8080:" + remote)
		}
		port, err := c.portOf(c.Args[0], info, remote)
		if err != nil {
			return err
		}
		c.session.forwards = append(c.session.forwards, forward{local, info.Path(), port})
		c.Printf("Forwarding from 127.0.0.1:%s -> %d\nForwarding from [::1]:%s -> %d\n", local, port, local, port)
	}
	return nil
}

// portOf returns the number of a pod's port that a port of kubectl port-forward names: the port of a Service, a name, or a number.
func (c *call) portOf(of string, info *client.Info, port string) (int, error) {
	if strings.HasPrefix(of, "svc/") || strings.HasPrefix(of, "service/") || strings.HasPrefix(of, "services/") {
		service, err := c.Object(of)
		if err != nil {
			return 0, err
		}
		at := slices.IndexFunc(service.Object.Objects("spec", "ports"), func(p object.Object) bool {
			return fmt.Sprint(p["port"]) == port || p.String("name") == port
		})
		if at < 0 {
			return 0, fmt.Errorf("Service %s does not have a service port %s", service.Name, port)
		}
		port = fmt.Sprint(service.Object.Objects("spec", "ports")[at]["targetPort"])
	}
	if n, err := strconv.Atoi(port); err == nil {
		return n, nil
	}
	for _, one := range client.Containers(info.Object.At("spec")) {
		for _, p := range one.Objects("ports") {
			if p.String("name") == port {
				return int(p.Int64("containerPort")), nil
			}
		}
	}
	return 0, fmt.Errorf("Pod '%s' does not have a named port '%s'", info.Name, port)
}

// forwarded returns the port to which a host leads through kubectl port-forward, or nil.
func (s *Session) forwarded(host string) *forward {
	for i := len(s.forwards) - 1; i >= 0; i-- {
		f := &s.forwards[i]
		if host == "localhost:"+f.local || host == "127.0.0.1:"+f.local || host == "[::1]:"+f.local {
			return f
		}
	}
	return nil
}

// askPod sends the request of curl to a forwarded port.
func (s *Session) askPod(f *forward, r *Request) (*Answer, error) {
	target := r.Path
	if len(r.Query) > 0 {
		target += "?" + r.Query.Encode()
	}
	request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost:%s\r\nContent-Length: %d\r\n\r\n%s", r.Method, target, f.local, len(r.Body), r.Body)
	to := &Request{Method: wire.MethodPost, Path: f.path + "/portforward", Header: wire.Header{"User-Agent": {"kubectl"}}}
	response, a, err := s.Conn.(client.Forwarder).Forward(to, f.port, []byte(request))
	if err != nil {
		return nil, err
	}
	if a != nil {
		return nil, fmt.Errorf("Failed to connect to localhost port %s after 0 ms: Could not connect to server", f.local)
	}
	head, body, _ := strings.Cut(string(response), "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	a = &Answer{Header: wire.Header{}, Body: []byte(body)}
	fmt.Sscanf(lines[0], "HTTP/1.1 %d", &a.Code)
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		a.Header[name] = []string{value}
	}
	return a, nil
}
