package controller

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/random"
	"github.com/kubesim/kubesim/sim/resource"
)

// These constants limit the reconciles of one run: reconcileFactor for each queued item, but at least reconcileMin.
const (
	reconcileMin    = 100_000
	reconcileFactor = 10
)

// Manager runs controllers. The Cluster's lock guards it.
type Manager struct {
	log         *commit.Log
	schedule    *clock.Schedule
	random      *random.Streams
	server      Server
	loops       []*loop // in the order of their notification
	named       map[string]*loop
	watchers    map[string][]watcher // by storage name, "" for watches of all resources; in the order of notification
	routes      map[string][]route   // routes by storage name, including those for all resources
	halted      int                  // number of stopped loops
	wrote       time.Time            // time of the last reconcile that has written something
	heartbeats  []*loop
	heartbeatOf map[Ref]*loop // loops with a Heartbeat by the object that it renews
	queue       Queue
	owned       ownerIndex
	alarm       alarm
	progress    Progress // may be nil

	// Order chooses the next item. The default is Oldest.
	Order Order
	// Plan takes precedence over Order. Its first item that is ready is reconciled next and removed from Plan.
	Plan []Item
	// Stepped leaves due items to Step and ReconcileAll, except those of the API servers' controllers. If it is not set, items
	// are reconciled as soon as they are due.
	Stepped bool
	// OnReconcile, if not nil, is called after each reconcile outside the API servers, with the Cluster's lock held.
	OnReconcile func(Reconcile)
	reconciling reconciling

	nextRenewal time.Time // time of the earliest renewal of any Heartbeat; if zero, all Heartbeats are checked
	renewing    bool
}

// loop is a controller with its state.
type loop struct {
	Controller
	client   Client
	cache    cache
	recorder recorder
	written  []newestWrite // in the order in which the keys were first written
	stopped  bool
	crashed  bool // stopped, with all of its state lost
	expired  bool // its Heartbeat failed to renew
	delay    time.Duration
}

// watcher is one watch of a controller.
type watcher struct {
	*loop
	watch *Watch
}

// New returns a Manager of controllers, which are notified of each commit in the given order. The Manager is a commit.Listener.
// If progress is not nil, it is notified of long runs.
func New(log *commit.Log, schedule *clock.Schedule, random *random.Streams, server Server, progress Progress, all ...Controller) *Manager {
	m := &Manager{progress: progress, log: log, schedule: schedule, random: random, server: server, named: map[string]*loop{}, watchers: map[string][]watcher{},
		routes: map[string][]route{}, heartbeatOf: map[Ref]*loop{}}
	for _, c := range all {
		l := &loop{Controller: c}
		l.client = Client{loop: l, manager: m}
		m.loops = append(m.loops, l)
		m.named[c.Name] = l
		if h, ok := c.Reconciler.(Heartbeat); ok {
			m.heartbeats = append(m.heartbeats, l)
			m.heartbeatOf[h.Of()] = l
		}
		for i := range l.Watches {
			w := &l.Watches[i]
			m.watchers[w.Resource] = append(m.watchers[w.Resource], watcher{l, w})
		}
	}
	return m
}

// Committed implements commit.Listener.
func (m *Manager) Committed(e *commit.Commit) {
	if e.Deleted() {
		m.owned.leaves(e)
		defer m.owned.committed(e)
	} else {
		m.owned.committed(e)
	}
	m.eachWatcher(e, func(w watcher) {
		if !w.crashed && !w.watch.Listed && w.cache.lagging[e.Storage] == nil && !(w.watch.Others && e.By == resource.Author(w.loop)) {
			m.notify(w, e)
		}
	})
}

// notify queues the keys that a watch derives from a commit.
func (m *Manager) notify(w watcher, e *commit.Commit) {
	for _, key := range w.watch.keys(&w.client, e) {
		m.recordCause(w.loop, key, e.Rev)
		m.add(w.loop, key, max(w.watch.After, w.ReactionTime))
	}
}

// add queues a key of a controller after wait, or after the controller's own delay if that is longer.
func (m *Manager) add(l *loop, key Key, wait time.Duration) {
	if wait = max(wait, l.delay); wait > 0 {
		m.addAt(Item{l.Name, key}, m.schedule.Now().Add(wait))
		return
	}
	m.queue.Add(Item{l.Name, key})
}

// addAt queues an item that is due at a time, and updates the alarm.
func (m *Manager) addAt(i Item, at time.Time) {
	m.queue.AddAt(i, at)
	m.setAlarm()
}

// alarm is the timer for the waiting item that is due first. A fork sets its alarm for the same time as its origin.
type alarm struct {
	at   time.Time
	stop func() // nil if the alarm is not set
}

// setAlarm updates the alarm after a change of the waiting items.
func (m *Manager) setAlarm() {
	w := m.queue.Waiting()
	if len(w) > 0 && m.alarm.stop != nil && m.alarm.at.Equal(w[0].At) {
		return
	}
	if m.alarm.stop != nil {
		m.alarm.stop()
		m.alarm = alarm{}
	}
	if len(w) > 0 {
		m.alarm = alarm{w[0].At, m.schedule.After(max(w[0].At.Sub(m.schedule.Now()), 0), m.onAlarm)}
	}
}

// onAlarm reconciles the first item that is due. The other due items are reconciled when the lock is released.
func (m *Manager) onAlarm() {
	m.alarm = alarm{}
	if n := len(m.queue.Ready()); m.promoteDue() > n {
		m.stepFreely()
	}
	m.setAlarm()
}

// promoteDue marks the waiting items that are due as ready, and returns the number of ready items.
func (m *Manager) promoteDue() int {
	if len(m.queue.Waiting()) > 0 {
		m.queue.Due(m.schedule.Now())
		m.setAlarm()
	}
	return len(m.queue.Ready())
}

// Add queues a key of a controller without a commit.
func (m *Manager) Add(controller string, key Key) {
	if l := m.find(controller); l != nil && !l.crashed {
		m.add(l, key, 0)
	}
}

// Step performs one reconcile. It returns false if no item is due.
func (m *Manager) Step() bool { return m.step((*Manager).works, m.halted == 0) }

// Run performs all due reconciles that do not wait for Step. If m has a Progress and between is not nil, Run calls between after
// every hundred reconciles, and stops if between returns false.
func (m *Manager) Run(between func() bool) {
	most := m.reconcileMax()
	for n := 1; n <= most && m.stepFreely(); n++ {
		if m.progress != nil && n%progressEvery == 0 {
			m.progress.Reconciled(n, len(m.queue.Ready()))
		}
		if m.progress != nil && between != nil && n%betweenEvery == 0 && !between() {
			return
		}
	}
}

// reconcileMax returns the number of reconciles after which the controllers are considered to never settle.
func (m *Manager) reconcileMax() int {
	return max(reconcileMin, reconcileFactor*(len(m.queue.Ready())+len(m.queue.Waiting())))
}

// stepFreely performs one reconcile that does not wait for Step.
func (m *Manager) stepFreely() bool { return m.step((*Manager).goes, m.halted == 0 && !m.Stepped) }

// works reports whether a controller is running.
func (m *Manager) works(l *loop) bool { return !l.stopped }

// goes reports whether a controller may run without waiting for Step.
func (m *Manager) goes(l *loop) bool { return !l.stopped && (l.InServer || !m.Stepped) }

// step performs one reconcile of a controller for which may returns true, and returns false if no such item is due. all reports
// that may is known to return true for every controller.
func (m *Manager) step(may func(*Manager, *loop) bool, all bool) bool {
	if m.queue.work.busy { // a reconcile is waiting for a webhook without holding the lock
		return false
	}
	m.promoteDue()
	n, ok := m.next(may, all)
	if !ok {
		return false
	}
	i := m.queue.Take(n)
	m.RenewHeartbeats() // the reconcile may read the objects that a renewal writes
	m.reconcile(i)
	return true
}

// next returns the index of the ready item to reconcile next. It returns false if there is none.
func (m *Manager) next(may func(*Manager, *loop) bool, all bool) (n int, ok bool) {
	ready := m.queue.Ready()
	if len(ready) == 0 {
		return 0, false
	}
	if all {
		return m.choose(ready), true
	}
	var able []Item
	var at []int // indexes of able in ready
	for i, x := range ready {
		if may(m, m.find(x.Controller)) {
			able, at = append(able, x), append(at, i)
		}
	}
	if len(able) == 0 {
		return 0, false
	}
	return at[m.choose(able)], true
}

// choose returns the index in able of the item to reconcile next, according to the Plan and the Order.
func (m *Manager) choose(able []Item) int {
	for p, want := range m.Plan {
		if n := slices.Index(able, want); n >= 0 {
			m.Plan = slices.Delete(slices.Clone(m.Plan), p, p+1)
			return n
		}
	}
	if m.Order == nil {
		return Oldest{}.Next(able)
	}
	return m.Order.Next(able)
}

// reconcile calls the Reconciler for an item and queues the item again if necessary.
func (m *Manager) reconcile(i Item) {
	l := m.find(i.Controller)
	m.queue.Begin(i)
	m.beginReconcile(l, i)
	again, failed := time.Duration(0), unread
	before := m.log.Newest().Rev()
	if !l.behind(i.Key) {
		again, failed = l.Reconcile(&l.client, i.Key)
	}
	if m.log.Newest().Rev() != before {
		m.wrote = m.schedule.Now()
	}
	dirty := m.queue.Done()
	m.endReconcile(failed)
	if l.crashed {
		return
	}
	if dirty {
		m.queue.Add(i)
	}
	if failed != nil {
		if l.Retries > 0 && m.queue.failures[i] >= l.Retries {
			m.queue.Forget(i)
			return
		}
		m.addAt(i, m.queue.Retry(i, m.schedule.Now(), cmp.Or(l.RetryMin, backoffMin), cmp.Or(l.RetryMax, backoffMax)))
		return
	}
	m.queue.Forget(i)
	if again > 0 {
		m.addAt(i, m.schedule.Now().Add(again))
	}
}

// ReconcileAll reconciles until no item is due. If it exceeds the maximum number of reconciles, it returns the items that are
// still due.
func (m *Manager) ReconcileAll() []Item {
	for range m.reconcileMax() {
		if !m.Step() {
			return nil
		}
	}
	return slices.Clone(m.queue.Ready())
}

// Idle reports whether no item is due now.
func (m *Manager) Idle() bool {
	m.promoteDue()
	_, ok := m.next((*Manager).works, m.halted == 0)
	return !ok
}

// Next returns the time at which the next item is due. It returns false if no item will be due without another write.
func (m *Manager) Next() (at time.Time, ok bool) {
	if !m.Idle() {
		return m.schedule.Now(), true
	}
	if w := m.queue.Waiting(); len(w) > 0 {
		return w[0].At, true
	}
	return time.Time{}, false
}

// Moving returns the items of running controllers that are due now or within the given time, with the earliest first. It omits
// waiting items of Upkeep controllers.
func (m *Manager) Moving(within time.Duration) (all []Waiting) {
	now := m.schedule.Now()
	m.promoteDue()
	for _, i := range m.queue.Ready() {
		if m.works(m.find(i.Controller)) {
			all = append(all, Waiting{i, now})
		}
	}
	for _, w := range m.queue.Waiting() {
		if l := m.find(w.Controller); m.works(l) && !l.Upkeep && !w.At.After(now.Add(within)) {
			all = append(all, w)
		}
	}
	return all
}

// Wrote returns the time of the last reconcile that has written something since the manager started.
func (m *Manager) Wrote() time.Time { return m.wrote }

// Queue returns the queue of items, which must not be modified.
func (m *Manager) Queue() *Queue { return &m.queue }

// Client returns the client of a controller, for calls outside of a reconcile. A controller with that name must exist.
func (m *Manager) Client(name string) *Client { return &m.find(name).client }

// Reconciler returns the Reconciler of a controller, for calls without a commit. It returns an error if there is no such
// controller.
func (m *Manager) Reconciler(name string) (Reconciler, error) {
	l, err := m.findNamed(name)
	if err != nil {
		return nil, err
	}
	return l.Reconciler, nil
}

// find returns the loop of the named controller, or nil.
func (m *Manager) find(name string) *loop { return m.named[name] }

// findNamed returns the named controller. For an unknown name it returns an error that lists the known names.
func (m *Manager) findNamed(name string) (*loop, error) {
	if l := m.find(name); l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("there is no controller %q: there are %s", name, strings.Join(m.Names(), ", "))
}

// Has reports whether a controller with that name exists. It ignores the controllers inside API servers.
func (m *Manager) Has(name string) bool { return slices.Contains(m.Names(), name) }

// Names returns the names of the controllers, except those of API servers.
func (m *Manager) Names() []string {
	var names []string
	for _, l := range m.loops {
		if !l.InServer {
			names = append(names, l.Name)
		}
	}
	return names
}
