// Package oracle checks the promises of a test about a cluster, and records its requests. It does not depend on servers
// or transports: the cluster notifies an Observer of commits, responses, events and authorization decisions
// (observe.Listener), and the Observer reads states of the store (mvcc.View).
//
//	sim.Cluster ─▶ Observer ─┬─▶ promise   Never, Always, OnePerOwner, NoTwins, NoOrphans, NoLostUpdates, WithinRBAC, NoHotLoop
//	                         ├─▶ instant   livelocks
//	                         ├─▶ quiet     AtRest, Eventually
//	                         ├─▶ actions   Actions
//	                         └─▶ rights    Permissions
//	                               ▲
//	a test ─▶ Oracles ─────────────┘        Outcome compares the states of several runs
//
// Package fake embeds Oracles in Server, so that they are methods of the server.
package oracle

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/observe"
)

// Oracles provides the assertions of a test about a cluster, and queries about the clients' requests.
type Oracles struct{ observer *Observer }

// Observer observes all commits, responses and events of a cluster and checks the promises of a test. Its methods that
// implement observe.Listener are called with the Cluster's lock held, so a promise must not send requests to the
// cluster.
//
//	commit ───▶ Wrote ─────┬─▶ promises  Never, Always and the predefined ones
//	                       ├─▶ instant   livelocks
//	                       └─▶ quiet     AtRest, Eventually
//	response ─▶ Answered ──┬─▶ actions, promises, warnings
//	event ────▶ Delivered ─┴─▶ promises
//	access ───▶ Asked ─────┴─▶ rights, promises
type Observer struct {
	cluster        *sim.Cluster
	writesMax      int  // the maximum number of writes of one object at one instant; negative means no limit
	failsOnWarning bool // a warning in a response fails the test
	test           TB   // may be nil
	begin          sync.Once

	since    uint64            // the revision at which it began to observe
	creators map[string]string // the client that created each object, by the object's key; guarded by the Cluster's lock

	mu       sync.Mutex // guards the fields below, which are also read without the Cluster's lock
	promises []*promise
	instant  instant
	stopped  []string // the controllers that a livelock stopped
	actions  []recordedRequest
	rights   rights
	written  []chan struct{} // signalled at each commit
	quiet    []*quiet
	broken   []error
	marks    []uint64 // trace records that led to a failure
}

// promise has one function per type of event. A nil function is not called.
type promise struct {
	name   string
	kept   bool // not broken so far
	wrote  func(View) error
	answer func(*observe.Reply) error
	event  func(watch *apiserver.Exchange, eventType, key string, rev uint64)
	asked  func(at auth.Attributes, byRoles func(auth.Attributes) bool) error
}

// NewObserver returns an Observer of a cluster, which starts observing at Begin or at the first use of an Oracle.
// writesMax is the maximum number of writes of one object at one instant; negative means no limit. If failsOnWarning is
// true, a warning in a response fails the test.
func NewObserver(c *sim.Cluster, writesMax int, failsOnWarning bool) *Observer {
	return &Observer{cluster: c, writesMax: writesMax, failsOnWarning: failsOnWarning, creators: map[string]string{}}
}

// Oracles returns the assertions that use w.
func (w *Observer) Oracles() *Oracles { return &Oracles{w} }

// Begin starts observing for a test: failures are reported to t.
func (w *Observer) Begin(t TB) {
	w.test = t
	w.begun()
}

// begun starts observing, unless w already does.
func (w *Observer) begun() *Observer {
	w.begin.Do(func() {
		w.since = w.cluster.Revision()
		w.cluster.AddListener(w)
	})
	return w
}

// promise adds a promise.
func (w *Observer) promise(p *promise) {
	p.kept = true
	w.mu.Lock()
	defer w.mu.Unlock()
	w.promises = append(w.promises, p)
}

// Wrote implements observe.Listener.
func (w *Observer) Wrote(e *commit.Commit, by *observe.Actor, record uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case e.Created():
		w.creators[e.Key] = by.Client
	case e.Deleted():
		delete(w.creators, e.Key)
	}
	for _, c := range w.written {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	for _, q := range w.quiet {
		q.wrote(e, by, record)
	}
	if report := w.instant.wrote(e, by, record, w.writesMax); report != "" && w.test != nil {
		w.fail(record, "a livelock: "+report)
		w.stopActors()
	}
	view := View{Now: e.At, view: e.View, defs: w.cluster.DefinitionsLocked()}
	for _, p := range w.promises {
		if p.kept && p.wrote != nil {
			if view.Write == nil {
				view.Write = newWrite(e, by, record)
			}
			w.judge(p, view.Write, p.wrote(view))
		}
	}
}

// stopActors stops the clients of a livelock until Heal, so that the test can end.
func (w *Observer) stopActors() {
	for _, p := range w.instant.actors() {
		w.cluster.StopActorLocked(p)
		if p.Own {
			w.stopped = append(w.stopped, p.Client)
		}
	}
}

// Heal starts the controllers that a livelock stopped. The faults that stop other clients are removed by the caller. If the livelock
// goes on, it is reported again.
func (w *Observer) Heal() {
	w.mu.Lock()
	names := w.stopped
	w.stopped, w.instant = nil, instant{}
	w.mu.Unlock()
	for _, name := range names {
		w.cluster.Control(func(m *controller.Manager) { _ = m.Start(name) }) // the API servers' own controllers were not stopped
	}
}

// Answered implements observe.Listener.
func (w *Observer) Answered(r *observe.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(w.cluster.Clock().Now(), r)
	if w.failsOnWarning {
		for _, text := range r.Warnings() {
			w.fail(r.Record, fmt.Sprintf("a warning to %s about %s %s %s: %s", clientName(r.UserAgent), r.Verb, r.Resource, r.Key, text))
		}
	}
	for _, p := range w.promises {
		if p.kept && p.answer != nil {
			if err := p.answer(r); err != nil {
				p.kept = false
				w.fail(r.Record, p.name+": "+err.Error())
			}
		}
	}
}

// Delivered implements observe.Listener.
func (w *Observer) Delivered(watch *apiserver.Exchange, eventType, key string, rev uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.promises {
		if p.kept && p.event != nil {
			p.event(watch, eventType, key, rev)
		}
	}
}

// Asked implements observe.Listener.
func (w *Observer) Asked(at auth.Attributes, _ bool, byRoles func(auth.Attributes) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rights.add(at)
	for _, p := range w.promises {
		if p.kept && p.asked != nil {
			if err := p.asked(at, byRoles); err != nil {
				p.kept = false
				w.fail(0, p.name+": "+err.Error())
			}
		}
	}
}

// judge reports a promise that a write has broken. It reports each promise only once.
func (w *Observer) judge(p *promise, by *Write, err error) {
	if err == nil {
		return
	}
	p.kept = false
	w.fail(by.record, fmt.Sprintf("%s: %v\n    after %s at %s\n%s", p.name, err, by, stamp(by.At), indented(by.Diff(), "        ")))
}

// fail reports a failure. record is the number of the trace record that caused it, or 0.
func (w *Observer) fail(record uint64, text string) {
	w.broken = append(w.broken, fmt.Errorf("kubesim: %s", text))
	if record != 0 && !slices.Contains(w.marks, record) {
		w.marks = append(w.marks, record)
	}
	if w.test != nil {
		Errorf(w.test)("kubesim: %s", text)
	}
}

// Broken returns the failures so far: broken promises (Never, Always and the predefined ones), livelocks, and warnings
// if they count as failures. Use it for a Server without a test. With RunT, these failures have already failed the
// test.
func (o *Oracles) Broken() []error {
	o.observer.mu.Lock()
	defer o.observer.mu.Unlock()
	return slices.Clone(o.observer.broken)
}

// Marks returns the numbers of the trace records that led to a failure of the test: see trace.ReportOptions.Marked.
func (o *Oracles) Marks() []uint64 {
	o.observer.mu.Lock()
	defer o.observer.mu.Unlock()
	return slices.Clone(o.observer.marks)
}

// Inspect calls f with the current state of the store, and returns f's error.
func (w *Observer) Inspect(f func(View) error) (err error) {
	w.cluster.Inspect(func(v *mvcc.View, defs sim.Definitions) {
		err = f(View{Now: w.cluster.Clock().Now(), view: v, defs: defs})
	})
	return err
}

// clientName returns the first word of a User-Agent, without the platform.
func clientName(userAgent string) string {
	name, _, _ := strings.Cut(userAgent, " ")
	if name == "" {
		return "a client without a User-Agent"
	}
	return name
}

// TB is the part of *testing.T that a check needs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Errorf returns t.Errorf if t has that method, and otherwise t.Fatalf.
func Errorf(t TB) func(format string, args ...any) {
	if e, ok := t.(interface{ Errorf(string, ...any) }); ok {
		return e.Errorf
	}
	return t.Fatalf
}
