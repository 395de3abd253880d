// Package oracle says what is wrong with what goes through a cluster, and what went through it. It knows nothing of servers or
// transports: a Witness is told of commits, answers, events and decisions by the cluster (observe.Witness), and looks at states
// of its store (mvcc.View).
//
//	sim.Cluster ─▶ Witness ─┬─▶ promise   Never, Always, OnePerOwner, NoLostUpdates, WithinRBAC, NoHotLoop
//	                        ├─▶ instant   livelocks
//	                        ├─▶ quiet     AtRest, Eventually
//	                        ├─▶ actions   Actions
//	                        └─▶ rights    Permissions
//	                              ▲
//	a test ─▶ Oracles ────────────┘         Outcome compares the states of several runs
//
// Package fake gives its users the Oracles of a server as methods of the server.
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
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/observe"
)

// Oracles are what a test asserts of a cluster, and what it asks about what clients have done there.
type Oracles struct{ witness *Witness }

// Witness sees all that goes through a cluster and checks the promises of a test. All of its methods that implement
// observe.Witness are called under the Cluster's lock, so that a promise must not ask the cluster.
//
//	commit ─▶ Wrote ─────┬─▶ promises  Never, Always and the ready ones
//	                     ├─▶ instant   livelocks
//	                     └─▶ quiet     AtRest, Eventually
//	answer ─▶ Answered ──┬─▶ actions, promises, warnings
//	event ──▶ Delivered ─┴─▶ promises
//	right ──▶ Asked ─────┴─▶ rights, promises
type Witness struct {
	cluster        *sim.Cluster
	writesMax      int  // how often one object may be written while time stands still; below 0 there is no limit
	failsOnWarning bool // a warning in an answer fails the test
	test           TB   // or nil
	begin          sync.Once

	since    uint64            // the revision with which it began to look
	creators map[string]string // client that made an object, by its key; the Cluster's lock guards it

	mu       sync.Mutex // guards what follows from goroutines that read it without the Cluster's lock
	promises []*promise
	instant  instant
	actions  []taken
	rights   rights
	written  []chan struct{} // signalled at each commit
	quiet    []*quiet
	broken   []error
	marks    []uint64 // records of the trace that led to a failure
}

// promise has a function for each thing that it is checked at. A nil function is not called.
type promise struct {
	name   string
	kept   bool // it has not been broken
	wrote  func(View) error
	answer func(*observe.Reply) error
	event  func(watch *apiserver.Exchange, eventType, key string, rev uint64)
	asked  func(at auth.Attributes, byRoles func(auth.Attributes) bool) error
}

// NewWitness returns a Witness of a cluster, which sees nothing before Begin or before an Oracle is used. writesMax is how often
// one object may be written while time stands still (below 0 there is no limit), and failsOnWarning whether a warning in an answer
// fails the test.
func NewWitness(c *sim.Cluster, writesMax int, failsOnWarning bool) *Witness {
	return &Witness{cluster: c, writesMax: writesMax, failsOnWarning: failsOnWarning, creators: map[string]string{}}
}

// Oracles returns what a test asserts with the help of w.
func (w *Witness) Oracles() *Oracles { return &Oracles{w} }

// Begin makes w see everything from now on, for a test.
func (w *Witness) Begin(t TB) {
	w.test = t
	w.begun()
}

// begun makes w see everything from now on, once.
func (w *Witness) begun() *Witness {
	w.begin.Do(func() {
		w.since = w.cluster.Revision()
		w.cluster.Attest(w)
	})
	return w
}

// promise begins to check p.
func (w *Witness) promise(p *promise) {
	p.kept = true
	w.mu.Lock()
	defer w.mu.Unlock()
	w.promises = append(w.promises, p)
}

// Wrote implements observe.Witness.
func (w *Witness) Wrote(e *commit.Commit, by *observe.Party, record uint64) {
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
		w.halt()
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

// halt stops the clients of a livelock, so that the test comes to its end.
func (w *Witness) halt() {
	for _, p := range w.instant.parties() {
		w.cluster.HaltLocked(p)
	}
}

// Answered implements observe.Witness.
func (w *Witness) Answered(r *observe.Reply) {
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

// Delivered implements observe.Witness.
func (w *Witness) Delivered(watch *apiserver.Exchange, eventType, key string, rev uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.promises {
		if p.kept && p.event != nil {
			p.event(watch, eventType, key, rev)
		}
	}
}

// Asked implements observe.Witness.
func (w *Witness) Asked(at auth.Attributes, _ bool, byRoles func(auth.Attributes) bool) {
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

// judge reports a promise that a write has broken, once.
func (w *Witness) judge(p *promise, by *Write, err error) {
	if err == nil {
		return
	}
	p.kept = false
	w.fail(by.record, fmt.Sprintf("%s: %v\n    after %s at %s\n%s", p.name, err, by, stamp(by.At), indented(by.Diff(), "        ")))
}

// fail reports what is wrong; record is that of what led to it, 0 if nothing did.
func (w *Witness) fail(record uint64, text string) {
	w.broken = append(w.broken, fmt.Errorf("kubesim: %s", text))
	if record != 0 && !slices.Contains(w.marks, record) {
		w.marks = append(w.marks, record)
	}
	if w.test != nil {
		Errorf(w.test)("kubesim: %s", text)
	}
}

// Broken returns what the promises have been that were broken so far (Never, Always and the ready ones), livelocks, and
// warnings where they count. A test of RunT has failed by then: this is for a Server without a test.
func (o *Oracles) Broken() []error {
	o.witness.mu.Lock()
	defer o.witness.mu.Unlock()
	return slices.Clone(o.witness.broken)
}

// Marks returns the numbers of the records in the trace that led to a failure of the test: trace.ReportOptions.Marked.
func (o *Oracles) Marks() []uint64 {
	o.witness.mu.Lock()
	defer o.witness.mu.Unlock()
	return slices.Clone(o.witness.marks)
}

// Look calls f with what is stored now, and returns its error.
func (w *Witness) Look(f func(View) error) (err error) {
	w.cluster.Inspect(func(v *mvcc.View, defs sim.Definitions) {
		err = f(View{Now: w.cluster.Clock().Now(), view: v, defs: defs})
	})
	return err
}

// clientName is a User-Agent without what it says of the platform.
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

// Errorf returns the function that fails a test: Errorf if t has it, else Fatalf.
func Errorf(t TB) func(format string, args ...any) {
	if e, ok := t.(interface{ Errorf(string, ...any) }); ok {
		return e.Errorf
	}
	return t.Fatalf
}
