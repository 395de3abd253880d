package kubelet

import (
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/shell"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// Session is a stream between a client and a container: a log that is followed, a command, a connection to a port. The
// Cluster's lock guards it; the connection waits for Ready without the lock.
//
//	client ─ Input, CloseInput, Resize ─▶ Session ─ Take ◀─ Ready ─ client
//
// Its output is computed from the time, so it needs no goroutine: a timer on the Cluster's clock fires when there is more output, and the
// kubelet notifies it when its container ends.
type Session struct {
	// Upgrade is set if the client sends input, too: the connection becomes the session's.
	Upgrade bool
	// Ports is set if the client opens connections to ports on it, each a Session of its own (Connect).
	Ports bool

	nodes *Nodes
	out   []Output
	ready chan struct{}
	ended bool
	final *status.Status // the error with which it ended, if any

	input  func(p []byte, end bool) // receives input, if not nil
	check  func()                   // called when its container may have changed, if not nil
	finish func()                   // called when it ends

	connect func(port int) (*Session, error)
}

// Output is a piece of a session's output. Error marks the standard error.
type Output struct {
	Error bool
	Data  []byte
}

func (n *Nodes) session() *Session { return &Session{nodes: n, ready: make(chan struct{}, 1)} }

// Ready is readable when Take has something.
func (s *Session) Ready() <-chan struct{} { return s.ready }

// Take returns the output since the last call, and whether it is complete.
func (s *Session) Take() (out []Output, ended bool) {
	out, s.out = s.out, nil
	return out, s.ended
}

// Result is how a session ended.
func (s *Session) Result() *status.Status { return s.final }

// Input passes input of the client.
func (s *Session) Input(p []byte) {
	if s.input != nil && !s.ended {
		s.input(p, false)
	}
}

// CloseInput ends the input of the client.
func (s *Session) CloseInput() {
	if s.input != nil && !s.ended {
		s.input(nil, true)
	}
}

// End ends the session: the client is gone.
func (s *Session) End() { s.close(nil) }

func (s *Session) say(error bool, text string) {
	if text != "" && !s.ended {
		s.out = append(s.out, Output{error, []byte(text)})
		s.wake()
	}
}

func (s *Session) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// close ends the session with a result.
func (s *Session) close(result *status.Status) {
	if s.ended {
		return
	}
	s.ended, s.final, s.check, s.input = true, result, nil, nil
	if s.finish != nil {
		s.finish()
	}
	s.wake()
}

// after calls f when a time has come, unless the session has ended.
func (s *Session) after(at time.Time, f func()) {
	wait := at.Sub(s.nodes.schedule.Now())
	if wait <= 0 {
		f()
		return
	}
	s.nodes.schedule.After(wait, func() {
		if !s.ended {
			f()
		}
	})
}

// changed notifies the sessions of a pod's containers that the pod has changed.
func (k *Kubelet) changed(key string) {
	for _, s := range k.sessions[key] { // their list is replaced when one ends, never changed
		if s.check != nil {
			s.check()
		}
	}
}

// follow registers a session for changes of a pod.
func (k *Kubelet) follow(key string, s *Session, check func()) {
	if k.sessions == nil {
		k.sessions = map[string][]*Session{}
	}
	k.sessions[key] = append(k.sessions[key][:len(k.sessions[key]):len(k.sessions[key])], s)
	s.check = check
	s.finish = func() {
		var left []*Session
		for _, x := range k.sessions[key] {
			if x != s {
				left = append(left, x)
			}
		}
		if k.sessions[key] = left; left == nil {
			delete(k.sessions, key)
		}
	}
}

// End ends all sessions.
func (n *Nodes) End() {
	for _, k := range n.all {
		for _, key := range object.SortedKeys(k.sessions) {
			for _, s := range k.sessions[key] {
				s.End()
			}
		}
	}
}

// Answer is a kubelet's answer to a request for a stream: a text, or a session. The zero value answers for the log of a pod that
// has no node yet: no content.
type Answer struct {
	Text    []byte   // the answer, or its beginning
	Session *Session // continues the answer; nil if Text is all of it
}

// Stream answers a request for a streaming subresource of a pod. upgrade is set if the client wants to change to another protocol.
// ok is false if no kubelet of this cluster has the pod.
func (n *Nodes) Stream(subresource string, r *resource.StreamRequest, upgrade bool) (a *Answer, s *status.Status, ok bool) {
	serve := map[string]func(*target) (*Answer, *status.Status){"log": (*target).log, "exec": (*target).exec, "attach": (*target).attach,
		"portforward": (*target).forward}[subresource]
	if serve == nil || r.Definition.Storage != pods {
		return nil, nil, false
	}
	obj := r.Objects.Get(pods, r.Namespace, r.Name)
	node := obj.String("spec", "nodeName")
	if node == "" { // registry/core/pod: LogLocation, streamLocation
		if subresource == "log" {
			return &Answer{}, nil, true
		}
		return nil, status.BadRequest("pod %s does not have a host assigned", r.Name), true
	}
	if n == nil || len(n.all) == 0 {
		return nil, nil, false
	}
	k := n.Of(node)
	switch {
	case k == nil:
		return nil, nil, false
	case subresource != "log" && !upgrade:
		return nil, status.BadRequest("Upgrade request required"), true
	}
	a, s = serve(n.target(k, obj, r))
	return a, s, true
}

// target returns the target of a stream.
func (n *Nodes) target(k *Kubelet, obj object.Object, r *resource.StreamRequest) *target {
	t := &target{nodes: n, k: k, now: n.schedule.Now(), query: r.Query, key: r.Namespace + "/" + r.Name}
	t.w = &worker{k: k, api: k.client(), now: t.now, pod: obj, rec: k.memory.Pods[t.key]}
	if t.w.rec == nil || t.w.rec.UID != obj.UID() {
		t.w.rec = k.recordOf(obj)
	}
	t.w.populate()
	name := t.one("container")
	for _, c := range t.w.containers {
		if c.name == name || name == "" && c.list == "containers" && t.c == nil {
			t.c = c
		}
	}
	if t.c == nil { // no container was meant
		t.c = t.w.containers[0]
	}
	if t.c.program == nil {
		t.c.program = &program{}
	}
	return t
}

// target is the pod and the container of a stream.
type target struct {
	nodes *Nodes
	k     *Kubelet
	w     *worker
	c     *container
	now   time.Time
	query map[string][]string
	key   string
}

func (t *target) one(name string) string {
	if all := t.query[name]; len(all) > 0 {
		return all[0]
	}
	return ""
}

func (t *target) is(name string) bool {
	text := strings.ToLower(t.one(name))
	return text == "true" || text == "1"
}

func (t *target) number(name string) (n int64, given bool) {
	if t.one(name) == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(t.one(name), 10, 64)
	return n, err == nil
}

// same reports whether the container of a target still runs unchanged, and returns its record.
func (t *target) same(id string) (r *run, runs bool) {
	p := t.k.memory.Pods[t.key]
	if p == nil || p.UID != t.w.pod.UID() || p.Containers[t.c.name] == nil {
		return &run{}, false
	}
	r = p.Containers[t.c.name]
	return r, r.ID == id && r.State == running
}

// internal is a session that ends with an error of the server at once.
func (t *target) internal(message string) *Answer {
	s := t.nodes.session()
	s.Upgrade = true
	s.close(&status.Status{Code: wire.StatusInternalServerError, Reason: "InternalError", Message: "Internal error occurred: " + message,
		Details: &status.Details{Causes: []status.Cause{{Message: message}}}})
	return &Answer{Session: s}
}

// exitStatus returns the status for a command that ended with a code, or nil for 0.
func exitStatus(code int) *status.Status {
	if code == 0 {
		return nil
	}
	text := strconv.Itoa(code)
	return &status.Status{Reason: "NonZeroExitCode", Message: "command terminated with non-zero exit code: exit status " + text,
		Details: &status.Details{Causes: []status.Cause{{Reason: "ExitCode", Message: text}}}}
}

// interactive reports whether a container waits for input.
func (c *container) interactive() bool {
	args := append(c.spec.Strings("command"), c.spec.Strings("args")...)
	return c.spec.True("stdin") && c.program.script == nil && (len(args) == 0 && idle(c.spec.String("image")) || len(args) == 1 && shell.IsShell(args[0]))
}
