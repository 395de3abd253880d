package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/chance"
	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/fake/oracle"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trouble"
)

// trial is one run of a test under a plan. It receives each request and runs the steps of the plan before and after it.
//
//	client ─▶ Process ─▶ transport ─▶ trial ─ steps before ─▶ server ─▶ steps after ─▶ client
//	the test itself ───▶ transport ─▶ trial ─ no faults ─────▶ a separate server ─▶ the test
type trial struct {
	seeded
	server *fake.Server // nil before Begin
	clock  clock.Clock  // the server's clock
	plan   campaign.Plan
	began  time.Time
	body   uintptr  // the goroutine of the test itself: faults do not apply to its requests
	helps  sync.Map // goroutines started by requests of the test itself, such as webhooks that are functions; keys are uintptr
	ended  chan struct{}

	// own is the last API server. Only the test itself and the plan's own edits use it. No faults apply to it, because
	// a test need not handle failures of its server.
	own int

	mu     sync.Mutex
	writes map[string]int  // the number of writes so far, by client; those of the test itself are of campaign.TestItself
	names  []string        // clients under test that are not processes
	steps  []campaign.Step // steps around writes that have not run yet
	order  order
	done   int             // the number of steps that have run
	calm   bool            // faults have ended
	full   bool            // record the bodies of writes
	sent   []campaign.Sent // the recorded writes
	quiet  time.Duration   // the time since began at which faults ended
}

// newTrial returns the trial of a plan. It must be called in a bubble.
func newTrial(p campaign.Plan, full bool) *trial {
	d := &draws{seed: p.Seed}
	return &trial{seeded: seeded{d}, plan: p, full: full, clock: newLateClock(d), ended: make(chan struct{}), writes: map[string]int{}}
}

// Begin implements fake.Trial. It starts the plan.
func (t *trial) Begin(s *fake.Server) {
	t.server, t.own, t.began = s, s.Replicas(), t.clock.Now()
	t.draws.next()
	s.Faults.Add(t.plan.Faults()...)
	for _, step := range t.plan.Steps() {
		switch {
		case step.When.Then:
			t.order.steps = append(t.order.steps, step)
		case step.When.Client == "":
			go t.later(step)
		default:
			t.steps = append(t.steps, step)
		}
	}
	if len(t.order.steps) > 0 {
		s.Always("the steps of the plan that wait for changes", func(v fake.View) error { t.changed(v.Write); return nil })
		t.prepareNext()
	}
}

// later runs a step at its time.
func (t *trial) later(step campaign.Step) {
	timer := t.clock.NewTimer(step.When.At)
	defer timer.Stop()
	select {
	case <-timer.C():
		t.do(step, nil)
	case <-t.ended:
	}
}

// do runs a step. around is the request around which it runs, or nil. after, if not nil, must be called after the
// request.
func (t *trial) do(step campaign.Step, around *http.Request) (after func()) {
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

// RoundTrip implements fake.Trial. It processes a request and runs the steps before and after it.
func (t *trial) RoundTrip(r *http.Request, answer answerer) (*http.Response, error) {
	switch {
	case r.Context().Value(planRequest{}) != nil:
		return answer(r, true)
	case t.server == nil:
		return t.seeded.RoundTrip(r, answer)
	}
	t.draws.next()
	defer t.draws.next()
	told := t.recordWrite(r)
	control := strings.HasPrefix(r.URL.Path, controlPrefix)
	spared := control || t.IsOwn()
	var before, after []campaign.Step
	if !control {
		before, after = t.countRequest(r, spared)
	}
	for _, step := range before {
		if then := t.do(step, r); then != nil {
			defer then()
		}
	}
	res, err := answer(r, spared)
	told(res)
	for _, step := range after {
		t.do(step, r)
	}
	return res, err
}

// controlPrefix is the path prefix of requests that control the simulator (fake.Server.Handler).
const controlPrefix = "/sim/v1/"

// planRequest is the context key that marks requests sent by the plan itself.
type planRequest struct{}

// IsOwn implements fake.Trial.
func (t *trial) IsOwn() bool {
	self := chance.Goroutine()
	_, helps := t.helps.Load(self)
	return helps || self == atomic.LoadUintptr(&t.body)
}

// Adopt implements fake.Trial.
func (t *trial) Adopt() (done func()) {
	self := chance.Goroutine()
	t.helps.Store(self, true)
	return func() { t.helps.Delete(self) }
}

// countRequest counts a request and returns the steps to run before and after it. own is true for requests of the test itself.
func (t *trial) countRequest(r *http.Request, own bool) (before, after []campaign.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := campaign.TestItself
	if !own {
		name = t.clientLocked(r.Header.Get("User-Agent"))
	}
	if !counts(r) {
		return nil, nil
	}
	t.writes[name]++
	n := t.writes[name]
	t.steps = slices.DeleteFunc(t.steps, func(s campaign.Step) bool {
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

// clientLocked returns the name of the client with a User-Agent: the process whose name is a prefix of the User-Agent,
// or else its first word. The caller holds the lock.
func (t *trial) clientLocked(agent string) string {
	for _, p := range t.server.Processes() {
		if strings.HasPrefix(agent, p.Name()) {
			return p.Name()
		}
	}
	name, _, _ := strings.Cut(agent, " ")
	if !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
	return name
}

// counts reports whether a request is a write that steps count. Leases and events do not count, because they are
// written all the time.
func counts(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return !strings.Contains(r.URL.Path, "/leases") && !strings.Contains(r.URL.Path, "/events")
	}
	return false
}

// Heal implements fake.Trial.
func (t *trial) Heal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.calm {
		t.calm, t.quiet = true, t.clock.Now().Sub(t.began)
	}
}

// isCalm reports whether faults have ended.
func (t *trial) isCalm() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calm
}

// IsTroubled implements fake.Trial.
func (t *trial) IsTroubled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done > 0
}

// Plan implements fake.Trial.
func (t *trial) Plan() (lines string, ok bool) { return t.plan.Lines(), true }

// world implements campaign.World for a step. around is the request around which the step runs, or nil.
type world struct {
	trial  *trial
	around *http.Request
	after  func() // called after the response
}

// Crash implements campaign.World, like the methods below.
func (w *world) Crash(name string, down time.Duration) {
	for _, p := range w.trial.server.Processes() {
		if p.Name() == name {
			p.Crash(down)
		}
	}
}

// CrashStale ends a process and restarts it with a lagging replica. Current clients begin with a watch-list, which
// would wait until the replica has caught up. CrashStale therefore makes the first watches fail, so that clients list
// from the stale cache.
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

// staleWatches is the number of watches that fail, so that a client begins with a list from a stale cache.
const staleWatches = 8

// resume resumes a replica after d.
func (w *world) resume(n int, d time.Duration) {
	t := w.trial
	timer := t.clock.NewTimer(d)
	go func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			t.server.Replica(n).Resume()
		case <-t.ended:
		}
	}()
}

// Replica applies a disturbance to a replica and ends it after d. It does nothing if the disturbance's resource no
// longer exists.
func (w *world) Replica(t trouble.Trouble, d time.Duration) {
	if t.Replica >= w.trial.own {
		return
	}
	if err := t.Do(w.trial.server.Replica(t.Replica).Replica); err == nil && d > 0 {
		w.resume(t.Replica, d)
	}
}

// Expire removes all history.
func (w *world) Expire() { w.trial.server.Expire() }

// Jump shifts the clock of a client's machine.
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
	if path := w.trial.objectPath(resource, key); path != "" {
		w.patch(path, patch)
	}
}

// Depose assigns the leases of all leaders to another holder.
func (w *world) Depose() {
	var list struct {
		Items []struct {
			Metadata struct{ Namespace, Name string }
			Spec     struct{ HolderIdentity string }
		}
	}
	const leases = "/apis/coordination.k8s.io/v1"
	_ = json.Unmarshal(w.trial.ask(http.MethodGet, leases+"/leases", ""), &list)
	now := w.trial.clock.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	for _, l := range list.Items {
		if l.Spec.HolderIdentity != "" && l.Metadata.Namespace != "kube-node-lease" {
			w.patch(leases+"/namespaces/"+l.Metadata.Namespace+"/leases/"+l.Metadata.Name,
				`{"spec":{"holderIdentity":"kubesim-explore","renewTime":"`+now+`"}}`)
		}
	}
}

// patch merges a patch into the object at a path. Errors are ignored: the object may be gone, or the server may reject
// the patch.
func (w *world) patch(path, body string) { w.trial.ask(http.MethodPatch, path, body) }

// ask sends a request as a cluster-admin, to which no faults apply. It returns the body of the response, or nil if the
// request failed.
func (t *trial) ask(method, path, body string) []byte {
	ctx := context.WithValue(context.Background(), planRequest{}, true)
	r, err := http.NewRequestWithContext(ctx, method, t.server.URL()+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil
	}
	r.Header.Set("User-Agent", editor)
	if body != "" {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	res, err := t.server.As(editor, "system:masters").Transport().RoundTrip(r)
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

// editor is the User-Agent and the user name of a plan's own edits.
const editor = "kubesim-explore"
