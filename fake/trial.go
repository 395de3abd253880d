package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/fake/chance"
	"github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/fake/oracle"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trouble"
)

// trial is one run of a test under a plan: it sees each request, and does the steps of the plan around them.
//
//	client ─▶ Process ─▶ transport ─▶ trial ─ steps before ─▶ server ─▶ steps after ─▶ client
//	the test itself ───▶ transport ─▶ trial ─ spared ───────▶ a server of its own ─▶ the test
type trial struct {
	server *Server
	plan   explore.Plan
	begin  time.Time
	body   uintptr  // the goroutine of the test itself: faults spare its requests
	helps  sync.Map // uintptr of goroutines that a request of the test itself has started, such as webhooks that are functions
	ended  chan struct{}

	// own is the last API server, which the test itself asks and through which a plan changes objects. Nothing happens to it: a
	// test need not know what to do when its server is cut off.
	own int

	mu     sync.Mutex
	writes map[string]int // arrived so far, by client
	names  []string       // of clients under test, other than processes
	steps  []explore.Step // around writes, that were not done yet
	done   int            // steps that were done
	calm   bool           // trouble has ended
	full   bool           // what is sent is kept
	sent   []explore.Sent // so far
	quiet  time.Duration  // when, since begin
}

// startTrial begins a plan, in a bubble.
func startTrial(s *Server, p explore.Plan, full bool) *trial {
	t := &trial{server: s, plan: p, full: full, begin: s.cluster.Clock().Now(), ended: make(chan struct{}), own: s.Replicas(),
		writes: map[string]int{}}
	s.trial, s.transport.trial = t, t
	s.options.draws.next()
	s.Faults.Add(t.plan.Faults()...)
	for _, step := range t.plan.Steps() {
		if step.When.Client == "" {
			go t.later(step)
			continue
		}
		t.steps = append(t.steps, step)
	}
	return t
}

// later does a step at its time.
func (t *trial) later(step explore.Step) {
	timer := t.server.cluster.Clock().NewTimer(step.When.At)
	defer timer.Stop()
	select {
	case <-timer.C():
		t.do(step, nil)
	case <-t.ended:
	}
}

// do does a step, around a request or nil.
func (t *trial) do(step explore.Step, around *http.Request) (after func()) {
	t.mu.Lock()
	if t.calm {
		t.mu.Unlock()
		return nil
	}
	t.done++
	t.mu.Unlock()
	w := &world{trial: t, around: around}
	step.Do.Do(w)
	return w.after
}

// roundTrip answers a request, with the steps that are due around it.
func (t *trial) roundTrip(by *transport, r *http.Request) (*http.Response, error) {
	told := t.listen(r)
	if t.isOwn() || strings.HasPrefix(r.URL.Path, controlPrefix) {
		res, err := t.aside(by).answer(r, true)
		told(res)
		return res, err
	}
	before, after := t.due(r)
	for _, step := range before {
		if then := t.do(step, r); then != nil {
			defer then()
		}
	}
	res, err := by.answer(r, false)
	told(res)
	for _, step := range after {
		t.do(step, r)
	}
	return res, err
}

// isOwn reports whether the calling goroutine runs the test itself, or works for it.
func (t *trial) isOwn() bool {
	self := chance.Goroutine()
	_, helps := t.helps.Load(self)
	return helps || self == atomic.LoadUintptr(&t.body)
}

// adopt makes the calling goroutine work for the test itself until done is called.
func (t *trial) adopt() (done func()) {
	self := chance.Goroutine()
	t.helps.Store(self, true)
	return func() { t.helps.Delete(self) }
}

// aside is a transport that leads to the test's own API server, unless it, or a URL, names another one.
func (t *trial) aside(by *transport) *transport {
	if by.pinned {
		return by
	}
	own := *by
	own.pick = func(r *http.Request) *apiserver.Server {
		if strings.HasPrefix(r.URL.Host, replicaHost) {
			return by.pick(r)
		}
		return t.server.cluster.Server(t.own)
	}
	return &own
}

// due counts a request, and returns the steps before and after it.
func (t *trial) due(r *http.Request) (before, after []explore.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := t.clientLocked(r.Header.Get("User-Agent"))
	if !counts(r) {
		return nil, nil
	}
	t.writes[name]++
	n := t.writes[name]
	t.steps = slices.DeleteFunc(t.steps, func(s explore.Step) bool {
		if s.When.Client != name || s.When.Nth != n {
			return false
		}
		if s.When.Before {
			before = append(before, s)
		} else {
			after = append(after, s)
		}
		return true
	})
	return before, after
}

// clientLocked names the client with a User-Agent: the process whose name it begins with, or its first part. The lock is held.
func (t *trial) clientLocked(agent string) string {
	for _, p := range t.server.Processes() {
		if strings.HasPrefix(agent, p.name) {
			return p.name
		}
	}
	name, _, _ := strings.Cut(agent, " ")
	if !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
	return name
}

// counts reports whether a request is a write that steps count: leases are renewed and events written all the time.
func counts(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return !strings.Contains(r.URL.Path, "/leases") && !strings.Contains(r.URL.Path, "/events")
	}
	return false
}

// Heal ends all trouble: faults are taken away and what they hold goes on, API servers learn what they have missed, and what
// a plan of Explore had in mind for later does not happen. Call it, and let time pass, before you look at what has to be
// right in the end.
func (s *Server) Heal() {
	if t := s.trial; t != nil {
		t.mu.Lock()
		if !t.calm {
			t.calm, t.quiet = true, s.cluster.Clock().Now().Sub(t.begin)
		}
		t.mu.Unlock()
	}
	s.Faults.Clear()
	for n := 1; n <= s.Replicas(); n++ {
		s.Replica(n).Resume()
	}
}

// troubled reports whether something went wrong that a client has to cope with.
func (s *Server) troubled() bool {
	if t := s.trial; t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.done > 0 {
			return true
		}
	}
	return slices.ContainsFunc(s.Faults.Decisions(), func(d fault.Decision) bool { return d.Fired })
}

// complain fails the test, in whatever goroutine it is called.
func (s *Server) complain(format string, args ...any) {
	if s.errorf != nil {
		s.errorf(format, args...)
	}
}

// world is explore.World around one request, or none.
type world struct {
	trial  *trial
	around *http.Request
	after  func() // done when the request has been answered
}

// Crash is explore.World's, as are those below.
func (w *world) Crash(name string, down time.Duration) {
	for _, p := range w.trial.server.Processes() {
		if p.name == name {
			p.Crash(down)
		}
	}
}

// CrashStale ends a process and starts it at a replica that lags. The watch-lists with which clients of today begin would
// wait for what is new; one that fails makes them list what the cache has.
func (w *world) CrashStale(name string, down time.Duration, replica int, caught time.Duration) {
	s := w.trial.server
	if replica >= w.trial.own {
		return
	}
	s.Replica(replica).Lag()
	w.after = func() {
		w.Crash(name, down)
		s.Route(name, replica)
		s.Faults.Add(fault.On("watch", "*/*").Client(name).Replica(replica).Times(staleWatches).Internal())
		w.resume(replica, down+caught)
	}
	if w.around == nil {
		w.after()
	}
}

// staleWatches is how many watches of a client fail that is to begin with what a cache has.
const staleWatches = 8

// resume lets a replica catch up after d.
func (w *world) resume(n int, d time.Duration) {
	t := w.trial
	timer := t.server.cluster.Clock().NewTimer(d)
	go func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			t.server.Replica(n).Resume()
		case <-t.ended:
		}
	}()
}

// Replica does something to a replica for a while. A resource that there is no longer does not lag.
func (w *world) Replica(t trouble.Trouble, d time.Duration) {
	if t.Replica >= w.trial.own {
		return
	}
	if err := t.Do(w.trial.server.Replica(t.Replica).Replica); err == nil && t.Kind != trouble.Restart {
		w.resume(t.Replica, d)
	}
}

// Expire forgets all history.
func (w *world) Expire() { w.trial.server.Expire() }

// Jump sets the clock of a client's machine.
func (w *world) Jump(client string, d time.Duration) { w.trial.server.Jump(client, d) }

// Touch changes an annotation of the object that is being written.
func (w *world) Touch() {
	if w.around == nil || w.around.Method == http.MethodPost {
		return
	}
	path := w.around.URL.Path
	for _, sub := range []string{"/status", "/scale"} {
		path = strings.TrimSuffix(path, sub)
	}
	w.patch(path, fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d"}}}`, oracle.TouchedAnnotation, w.trial.server.Revision()))
}

// Edit merges a patch into an object.
func (w *world) Edit(resource, key, patch string) {
	if path := w.trial.server.objectPath(resource, key); path != "" {
		w.patch(path, patch)
	}
}

// Depose gives the leases of all leaders to somebody else.
func (w *world) Depose() {
	var list struct {
		Items []struct {
			Metadata struct{ Namespace, Name string }
			Spec     struct{ HolderIdentity string }
		}
	}
	const leases = "/apis/coordination.k8s.io/v1"
	_ = json.Unmarshal(w.trial.server.ask(http.MethodGet, leases+"/leases", ""), &list)
	now := w.trial.server.cluster.Clock().Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	for _, l := range list.Items {
		if l.Spec.HolderIdentity != "" && l.Metadata.Namespace != "kube-node-lease" {
			w.patch(leases+"/namespaces/"+l.Metadata.Namespace+"/leases/"+l.Metadata.Name,
				`{"spec":{"holderIdentity":"kubesim-explore","renewTime":"`+now+`"}}`)
		}
	}
}

// patch merges a patch into the object at a path. An error is an answer like any other: the object is gone, or will not have
// it.
func (w *world) patch(path, body string) { w.trial.server.ask(http.MethodPatch, path, body) }

// ask sends a request as a cluster-admin whom faults spare, and returns the body of the answer. nil: it failed.
func (s *Server) ask(method, path, body string) []byte {
	r, err := http.NewRequest(method, s.URL()+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil
	}
	r.Header.Set("User-Agent", explorer)
	if body != "" {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	admin := *s.trial.aside(s.transport)
	admin.client = func(*http.Request) *auth.Client {
		return &auth.Client{User: &auth.User{Name: explorer, Groups: []string{"system:masters"}}}
	}
	res, err := admin.answer(r, true)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusBadRequest {
		return nil
	}
	return data
}

// explorer is the User-Agent, and the user, of what a plan itself does to objects.
const explorer = "kubesim-explore"
