package fake

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

// witness sees all that goes through a server and tells those who look for something in it. It is an observe.Witness: all of
// its methods are called under the Cluster's lock, so that nobody who is told may ask the server.
//
//	commit ─▶ Wrote ─────┬─▶ promises  Never, Always and the ready ones
//	                     ├─▶ instant   livelocks
//	                     └─▶ quiet     AtRest, Eventually
//	answer ─▶ Answered ──┬─▶ actions, promises, warnings
//	event ──▶ Delivered ─┴─▶ promises
//	right ──▶ Asked ─────┴─▶ rights, promises
type witness struct {
	server   *Server
	since    uint64     // the revision with which it began to look
	mu       sync.Mutex // guards what follows from those who read it without the Cluster's lock
	promises []*promise
	instant  instant
	actions  []taken
	rights   rights
	creators map[string]string // client that made an object, by its key; the Cluster's lock guards it
	written  []chan struct{}   // signalled at each commit
	quiet    []*quiet
	broken   []error
}

// watchers of a promise: those that are nil are not told.
type promise struct {
	name   string
	kept   bool // it has not been broken
	wrote  func(View) error
	answer func(*observe.Reply) error
	event  func(watch *apiserver.Exchange, eventType, key string, rev uint64)
	asked  func(at auth.Attributes, byRoles func(auth.Attributes) bool) error
}

// attest begins to see, once.
func (s *Server) attest() *witness {
	s.witnessed.Do(func() {
		s.witness = &witness{server: s, since: s.cluster.Revision(), creators: map[string]string{}}
		s.cluster.Attest(s.witness)
	})
	return s.witness
}

// promise begins to watch over something.
func (w *witness) promise(p *promise) {
	p.kept = true
	w.mu.Lock()
	defer w.mu.Unlock()
	w.promises = append(w.promises, p)
}

// Wrote is observe.Witness's.
func (w *witness) Wrote(e *commit.Commit, by *observe.Party, record uint64) {
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
	if report := w.instant.wrote(e, by, record, w.server.options.writesMax()); report != "" && w.server.errorf != nil {
		w.fail(record, "a livelock: "+report)
		w.halt()
	}
	view := View{Now: e.At, view: e.View, defs: w.server.cluster.DefinitionsLocked()}
	for _, p := range w.promises {
		if p.kept && p.wrote != nil {
			if view.Write == nil {
				view.Write = newWrite(e, by, record)
			}
			w.judge(p, view.Write, p.wrote(view))
		}
	}
}

// halt ends what those do who write the same again and again, so that the test comes to its end.
func (w *witness) halt() {
	for _, p := range w.instant.parties() {
		w.server.cluster.HaltLocked(p)
	}
}

// Answered is observe.Witness's.
func (w *witness) Answered(r *observe.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(w.server.cluster.Clock().Now(), r)
	if w.server.options.FailOnWarning {
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

// Delivered is observe.Witness's.
func (w *witness) Delivered(watch *apiserver.Exchange, eventType, key string, rev uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.promises {
		if p.kept && p.event != nil {
			p.event(watch, eventType, key, rev)
		}
	}
}

// Asked is observe.Witness's.
func (w *witness) Asked(at auth.Attributes, _ bool, byRoles func(auth.Attributes) bool) {
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
func (w *witness) judge(p *promise, by *Write, err error) {
	if err == nil {
		return
	}
	p.kept = false
	w.fail(by.record, fmt.Sprintf("%s: %v\n    after %s at %s\n%s", p.name, err, by, stamp(by.At), indented(by.Diff(), "        ")))
}

// fail reports what is wrong; record is that of what led to it, 0 if nothing did.
func (w *witness) fail(record uint64, text string) {
	w.broken = append(w.broken, fmt.Errorf("kubesim: %s", text))
	if record != 0 && !slices.Contains(w.server.marks, record) {
		w.server.marks = append(w.server.marks, record)
	}
	if errorf := w.server.errorf; errorf != nil {
		errorf("kubesim: %s", text)
	}
}

// Broken returns what the promises have been that were broken so far (Never, Always and the ready ones), livelocks, and
// warnings where they count. A test of RunT has failed by then: this is for a Server without a test.
func (s *Server) Broken() []error {
	if s.witness == nil {
		return nil
	}
	s.witness.mu.Lock()
	defer s.witness.mu.Unlock()
	return slices.Clone(s.witness.broken)
}

// look calls f with what is stored now.
func (s *Server) look(f func(View) error) (err error) {
	s.cluster.Inspect(func(v *mvcc.View, defs sim.Definitions) {
		err = f(View{Now: s.cluster.Clock().Now(), view: v, defs: defs})
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
