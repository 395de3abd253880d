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

// Session is a stream between a client and a container, such as a followed log, a command, or a connection to a port. The
// Cluster's lock guards it. The client waits for Ready without holding the lock.
//
//	client ─ Input, CloseInput, Resize ─▶ Session ─ Take ◀─ Ready ─ client
//
// Its output is computed from the current time, so it needs no goroutine: a timer on the Cluster's clock fires when there is more
// output, and the kubelet notifies the session when its container ends.
type Session struct {
	// Upgrade is set if the client also sends input. The session then takes over the connection.
	Upgrade bool
	// Ports is set if the client opens connections to ports in the session. Each is a separate Session (Connect).
	Ports bool

	nodes *Nodes
	out   []Output
	ready chan struct{}
	ended bool
	final *status.Status // the error with which it ended, or nil

	input  func(p []byte, end bool) // receives the client's input, if not nil
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

// Ready returns a channel that receives a value when Take has new output or the session has ended.
func (s *Session) Ready() <-chan struct{} { return s.ready }

// Take returns the output since the last call, and reports whether the session has ended.
func (s *Session) Take() (out []Output, ended bool) {
	out, s.out = s.out, nil
	return out, s.ended
}

// Result returns the error with which the session ended. It is nil if the session ended without an error or has not ended.
func (s *Session) Result() *status.Status { return s.final }

// Input passes the client's input p to the container. The input is ignored if the session accepts no input.
func (s *Session) Input(p []byte) {
	if s.input != nil && !s.ended {
		s.input(p, false)
	}
}

// CloseInput signals the end of the client's input.
func (s *Session) CloseInput() {
	if s.input != nil && !s.ended {
		s.input(nil, true)
	}
}

// End ends the session because the client has disconnected.
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

// Finally calls f when the session ends, at once if it has ended.
func (s *Session) Finally(f func()) {
	before := s.finish
	switch {
	case s.ended:
		f()
	case before == nil:
		s.finish = f
	default:
		s.finish = func() { before(); f() }
	}
}

// close ends the session. result is the error with which it ends, or nil if it succeeded.
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

// after calls f at the given time, unless the session has ended by then.
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

// changed notifies a pod's sessions that the pod has changed.
func (k *Kubelet) changed(key string) {
	for _, s := range k.sessions[key] { // their list is replaced when a session ends, never modified
		if s.check != nil {
			s.check()
		}
	}
}

// follow registers a session to be notified of changes to a pod.
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

// Answer is a kubelet's response to a request for a stream: text, a session, or both. The zero value is the response to a log
// request for a pod that has no node yet. It has no content.
type Answer struct {
	Text    []byte   // the response, or its beginning
	Session *Session // continues the response; nil if Text is complete
}

// Stream handles a request for a streaming subresource of a pod. upgrade reports whether the client requests a protocol upgrade. ok
// is false if this cluster has no kubelet for the pod's node.
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

// target returns the pod and container that a stream request refers to.
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
	if t.c == nil { // the request names no container, or one that does not exist
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

// same returns the record of the target's container, and reports whether the container with the given ID is still running.
func (t *target) same(id string) (r *run, runs bool) {
	p := t.k.memory.Pods[t.key]
	if p == nil || p.UID != t.w.pod.UID() || p.Containers.get(t.c.name) == nil {
		return &run{}, false
	}
	r = p.Containers.get(t.c.name)
	return r, r.ID == id && r.State == running
}

// internal returns a response with a session that immediately ends with the message as an internal server error.
func (t *target) internal(message string) *Answer {
	s := t.nodes.session()
	s.Upgrade = true
	s.close(&status.Status{Code: wire.StatusInternalServerError, Reason: "InternalError", Message: "Internal error occurred: " + message,
		Details: &status.Details{Causes: []status.Cause{{Message: message}}}})
	return &Answer{Session: s}
}

// exitStatus returns the Status of a command with the given exit code, or nil for 0.
func exitStatus(code int) *status.Status {
	if code == 0 {
		return nil
	}
	text := strconv.Itoa(code)
	return &status.Status{Reason: "NonZeroExitCode", Message: "command terminated with non-zero exit code: exit status " + text,
		Details: &status.Details{Causes: []status.Cause{{Reason: "ExitCode", Message: text}}}}
}

// interactive reports whether a container runs a shell that waits for input.
func (c *container) interactive() bool {
	args := append(c.spec.Strings("command"), c.spec.Strings("args")...)
	return c.spec.True("stdin") && c.program.script == nil && (len(args) == 0 && idle(c.spec.String("image")) || len(args) == 1 && shell.IsShell(args[0]))
}
