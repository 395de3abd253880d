package kubelet

import (
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// Session is a stream between a client and a container: a log that is followed, a command, a connection to a port. The
// Cluster's lock guards it; whoever carries it waits for Ready without the lock.
//
//	client ─ Input, CloseInput, Resize ─▶ Session ─ Take ◀─ Ready ─ client
//
// What it says is worked out from the time, so that it needs no goroutine: a timer on the Cluster's clock when it has more to
// say, and the kubelet tells it when its container ends.
type Session struct {
	// Upgrade says that the client speaks, too: the connection becomes the session's.
	Upgrade bool
	// Ports says that the client opens connections to ports on it, each a Session of its own (Connect).
	Ports bool

	nodes *Nodes
	out   []Output
	ready chan struct{}
	ended bool
	final *status.Status // how it ended; nil: well

	input  func(p []byte, end bool) // nil: nobody listens
	check  func()                   // tells it that its container may have changed; nil: that does not matter
	finish func()                   // called when it ends

	connect func(port int) (*Session, error)
}

// Output is something that a session says. Error says that it is on the standard error.
type Output struct {
	Error bool
	Data  []byte
}

func (n *Nodes) session() *Session { return &Session{nodes: n, ready: make(chan struct{}, 1)} }

// Ready is readable when Take has something.
func (s *Session) Ready() <-chan struct{} { return s.ready }

// Take returns what was said since the last time, and whether nothing follows it.
func (s *Session) Take() (out []Output, ended bool) {
	out, s.out = s.out, nil
	return out, s.ended
}

// Result is how a session ended.
func (s *Session) Result() *status.Status { return s.final }

// Input is what the client says.
func (s *Session) Input(p []byte) {
	if s.input != nil && !s.ended {
		s.input(p, false)
	}
}

// CloseInput says that the client will say nothing more.
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

// changed tells the sessions with containers of a pod that something has happened to it.
func (k *Kubelet) changed(key string) {
	for _, s := range k.sessions[key] { // their list is replaced when one ends, never changed
		if s.check != nil {
			s.check()
		}
	}
}

// follow has a session told of what happens to a pod.
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

// Answer is what a kubelet answers to a request for a stream: a text, or a session. The zero value is that of a pod that no
// kubelet has yet, whose log is no content.
type Answer struct {
	Text    []byte   // nil: there is none
	Session *Session // nil: Text is all
}

// Stream answers a request for a subresource of a pod that streams; upgrade says that the client wants to change to another
// protocol. It is not ok where no kubelet of this cluster has the pod.
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

// target finds out what a stream is for.
func (n *Nodes) target(k *Kubelet, obj object.Object, r *resource.StreamRequest) *target {
	t := &target{nodes: n, k: k, now: n.schedule.Now(), query: r.Query, key: r.Namespace + "/" + r.Name}
	t.w = &worker{k: k, api: k.client, now: t.now, pod: obj, rec: k.memory.Pods[t.key]}
	if t.w.rec == nil || t.w.rec.UID != obj.UID() {
		t.w.rec = k.recall(obj)
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

// target is what a stream is for.
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

// same reports whether the container of a target still runs as it did, and returns what is remembered of it.
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

// exitStatus is how a session ends whose command has ended with a code; nil: well.
func exitStatus(code int) *status.Status {
	if code == 0 {
		return nil
	}
	text := strconv.Itoa(code)
	return &status.Status{Reason: "NonZeroExitCode", Message: "command terminated with non-zero exit code: exit status " + text,
		Details: &status.Details{Causes: []status.Cause{{Reason: "ExitCode", Message: text}}}}
}

// interactive says that a container waits for somebody who types.
func (c *container) interactive() bool {
	args := append(c.spec.Strings("command"), c.spec.Strings("args")...)
	return c.spec.True("stdin") && c.program.script == nil && (len(args) == 0 && idle(c.spec.String("image")) || len(args) == 1 && isShell(args[0]))
}
