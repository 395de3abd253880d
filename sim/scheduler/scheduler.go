// Package scheduler simulates kube-scheduler: it assigns nodes to pods.
//
//	pods, nodes, … ─ commits ─▶ cluster: pods by node, kept up to date     pending pods ─▶ queue
//	                               │                                                       │ the next one
//	                               └──────────────▶ cycle ◀───────────────────────────────┘
//	                                 filters ─▶ nodes that fit ─▶ scores ─▶ the best ─▶ binding
//	                                          none ─▶ preemption ─▶ rejected: waits for an event that could help
//
// It simulates the plugins of a default profile with their weights, and one profile, default-scheduler. It is a controller of
// the simulated cluster; each reconcile places up to a hundred pods. Rules: Kubernetes documentation, "Scheduling Framework",
// "Assigning Pods to Nodes", "Pod Priority and Preemption", "Dynamic Resource Allocation" (dynamicresources.go), and the pods of a
// PodGroup (gang.go, KEP-4671); the web page omits the last two. Not simulated: placement of a PodGroup by topology, preemption by a
// PodGroup as a whole, extenders, and opportunistic batching, which reuses the scores of a pod for half a second of real time. If
// there are no nodes, pods wait; the real scheduler tries again every ten seconds.
//
// Each commit updates the cluster, including the indexes by label and affinity term (census, terms), so that the cost of
// placing a pod does not depend on the size of the cluster. In a large cluster only a sample of the fitting nodes is scored,
// zone by zone (tree).
package scheduler

import (
	"maps"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// profile is the name of the only profile.
const profile = "default-scheduler"

// Scheduler simulates kube-scheduler.
type Scheduler struct{ memory memory }

// memory is the state between two attempts. Fields that are not in its JSON are rebuilt from the cache.
type memory struct {
	Queue queue `json:",omitzero"`
	Next  int   `json:",omitempty"` // index of the node at which the next search begins

	cluster   *cluster
	pending   map[controller.Key]*pod
	selectors selectors
	templates templates
	scratch   scratch
	trying    bool     // a pod is being placed
	missed    []*event // the events since that attempt began (PriorityQueue.inFlightEvents)

	deviceMemory
}

// New returns the scheduler as a controller.
func New() controller.Controller { return new(Scheduler).controller() }

// watcher returns a Watch of a resource that also begins the scheduler's memory.
type watcher func(resource string, seen func(*controller.Client, *commit.Commit)) controller.Watch

func (s *Scheduler) controller() controller.Controller {
	var watch watcher = func(resource string, keys func(*controller.Client, *commit.Commit)) controller.Watch {
		return controller.Watch{Resource: resource, Keys: func(api *controller.Client, c *commit.Commit) []controller.Key {
			s.begin(api)
			keys(api, c)
			return s.wake()
		}}
	}
	seen := func(kind kind) func(*controller.Client, *commit.Commit) {
		return func(api *controller.Client, c *commit.Commit) {
			if !c.Deleted() {
				s.retryFor(api, &event{kind: kind, claim: controller.Key{Namespace: c.Namespace, Name: c.Name}, item: c.Item()})
			}
		}
	}
	return controller.Controller{Name: "kube-scheduler", FieldManager: "kube-scheduler", Component: profile, Reconciler: s,
		User: resource.User{Name: "system:kube-scheduler", Groups: []string{"system:authenticated"}},
		Watches: append([]controller.Watch{
			watch("nodes", s.nodeSeen),
			watch(workload.Pods, s.podSeen),
			watch(claims.Claims, seen(claimSeen)),
			watch(claims.Volumes, seen(volumeSeen)),
			watch(claims.Classes, func(api *controller.Client, c *commit.Commit) {
				if c.Created() {
					seen(classCame)(api, c)
				}
			}),
			watch("csinodes.storage.k8s.io", seen(storageSeen)),
			watch("csistoragecapacities.storage.k8s.io", seen(storageSeen)),
			watch("volumeattachments.storage.k8s.io", func(api *controller.Client, c *commit.Commit) {
				if c.Deleted() {
					s.retryFor(api, &event{kind: attachmentGone})
				}
			}),
		}, slices.Concat(s.deviceWatches(watch), s.groupWatches(watch))...)}
}

// Memory implements controller.Rememberer.
func (s *Scheduler) Memory() any { return &s.memory }

// turn is the only key of the controller, because the queue determines which pod is next.
var turn = controller.Key{Name: "pods"}

// wake returns turn if a pod can be tried now, and otherwise nothing.
func (s *Scheduler) wake() []controller.Key {
	if s.memory.Queue.ready() {
		return []controller.Key{turn}
	}
	return nil
}

// Learn implements controller.Learner. It reads the current state, with which later commits are compared.
func (s *Scheduler) Learn(api *controller.Client) { s.begin(api) }

// begin reads all existing objects on the first call.
func (s *Scheduler) begin(api *controller.Client) {
	m := &s.memory
	if m.cluster != nil {
		return
	}
	m.cluster, m.pending = newCluster(), map[controller.Key]*pod{}
	api.Items("nodes", "", func(it *resource.Item) bool {
		m.cluster.setNode(it.Shared(), api.CreatedAt("nodes", "", it.Name))
		return true
	})
	s.learnDevices(api)
	var new []*pod
	api.Items(workload.Pods, "", func(it *resource.Item) bool {
		switch p := m.templates.podOf(it); {
		case ended(it):
		case p.node != "":
			m.cluster.setPod(p)
		case p.scheduler == profile:
			p = s.awaitGroup(api, p)
			m.pending[p.Key] = p
			if x := m.Queue.get(p.Key); x == nil {
				new = append(new, p)
			} else if x.Place == binding {
				m.cluster.setPod(p.on(x.Node))
			}
		}
		return true
	})
	slices.SortStableFunc(new, func(a, b *pod) int { return a.created.Compare(b.created) })
	for _, p := range new {
		s.queue(api, p)
	}
}

// queue adds a pod without a node to the queue.
func (s *Scheduler) queue(api *controller.Client, p *pod) {
	p = s.awaitGroup(api, p)
	x := s.memory.Queue.add(p, api.Now())
	s.memory.Queue.nominate(x, p.nominated)
	s.memory.pending[p.Key] = p
	if x.Place != gated {
		s.enter(api, x)
	}
	if p.group != "" {
		s.releaseGroup(api, controller.Key{Namespace: p.Namespace, Name: p.group})
	}
}

// enter lets a pod be tried, at once or after its pause. If its resource claims do not exist, it waits for them.
func (s *Scheduler) enter(api *controller.Client, x *queued) {
	q := &s.memory.Queue
	if p := s.memory.pending[x.Key]; len(p.claims) > 0 && s.lacksClaims(p) {
		q.move(x, "")
		x.By = []string{dynamicResources}
		q.move(x, gated)
		return
	}
	q.retry(x, api.Now())
}

// ended reports whether a pod has succeeded or failed, so that it no longer uses resources.
func ended(it *resource.Item) bool {
	phase := it.Field("status.phase")
	return phase == "Succeeded" || phase == "Failed"
}

// on returns the pod as it will be when it is bound to a node.
func (p *pod) on(node string) *pod {
	q := *p
	q.node = node
	return &q
}

// atOnce is the number of pods that are placed before other controllers run. It is large because workload controllers look at all
// of their pods after each run.
const atOnce = 100

// Reconcile places the next pods.
func (s *Scheduler) Reconcile(api *controller.Client, _ controller.Key) (time.Duration, *status.Status) {
	s.begin(api)
	q, now := &s.memory.Queue, api.Now()
	for x := q.overdue(now); x != nil; x = q.overdue(now) {
		if x.Place == binding {
			s.giveUpLate(api, x)
		} else {
			q.retry(x, now)
		}
	}
	for range atOnce {
		if x := q.changed(); x != nil {
			s.finish(api, x)
		} else if x := q.next(now); x != nil {
			s.place(api, x)
		} else {
			break
		}
	}
	if q.ready() {
		api.Enqueue(turn)
	}
	if at, ok := q.due(); ok {
		return max(at.Sub(api.Now()), 1), nil
	}
	return 0, nil
}

// nodeSeen applies a commit of a node.
func (s *Scheduler) nodeSeen(api *controller.Client, c *commit.Commit) {
	m := &s.memory
	if c.Deleted() {
		if n := m.cluster.nodes[c.Name]; n != nil && n.exists {
			gone := n.empty()
			m.cluster.removeNode(c.Name)
			s.retryFor(api, &event{kind: nodeGone, before: gone})
		}
		return
	}
	before := m.cluster.setNode(c.Item().Shared(), c.KV.CreateRev)
	now := m.cluster.nodes[c.Name]
	switch {
	case before == nil:
		s.retryFor(api, &event{kind: nodeCame, now: now})
	case !sameNode(before, now) || !slices.Equal(before.features, now.features):
		s.retryFor(api, &event{kind: nodeChanged, before: before, now: now})
	}
}

// retryFor retries the rejected pods that may fit after an event.
func (s *Scheduler) retryFor(api *controller.Client, e *event) {
	q := &s.memory.Queue
	if e.kind == claimSeen || e.kind == volumeSeen || e.kind == classCame || e.kind == devicesClaimed {
		for _, x := range q.waitingFor(string(binding)) {
			x.Changed = true
		}
	}
	if s.memory.trying {
		s.memory.missed = append(s.memory.missed, e)
	}
	for _, x := range q.waitingFor(e.asked()...) {
		s.retry(api, x, e)
	}
}

// retry lets a rejected pod be tried again, and returns true, if an event may make it fit.
func (s *Scheduler) retry(api *controller.Client, x *queued, e *event) bool {
	c := &cycle{s: s, api: api, cluster: s.memory.cluster, pod: s.memory.pending[x.Key]}
	if c.pod == nil || !slices.ContainsFunc(x.By, func(name string) bool { return hint(name, c, e) }) {
		return false
	}
	s.enter(api, x)
	return true
}

// podSeen applies a commit of a pod.
func (s *Scheduler) podSeen(api *controller.Client, c *commit.Commit) {
	it, key := c.Item(), controller.Key{Namespace: c.Namespace, Name: c.Name}
	switch {
	case it == nil:
	case c.Deleted() || ended(it):
		s.podGone(api, key)
	case it.Field("spec.nodeName") != "":
		s.podRuns(api, key, it)
	case it.Field("spec.schedulerName") == profile:
		s.podPends(api, s.memory.templates.podOf(it))
	}
}

func (s *Scheduler) podGone(api *controller.Client, key controller.Key) {
	m := &s.memory
	gone, pending := m.cluster.removePod(key), m.pending[key]
	m.Queue.remove(key)
	delete(m.pending, key)
	if gone == nil && pending != nil && pending.nominated != "" {
		gone = pending
	}
	if gone != nil {
		s.retryFor(api, &event{kind: podGone, pod: gone})
	}
}

// podRuns applies a commit of a pod that has a node.
func (s *Scheduler) podRuns(api *controller.Client, key controller.Key, it *resource.Item) {
	m := &s.memory
	known, came := m.cluster.pods[key], m.Queue.get(key) != nil
	if came {
		m.Queue.remove(key)
		delete(m.pending, key)
	}
	if known != nil && known.isUnchanged(it) {
		if came {
			s.retryFor(api, &event{kind: podCame, pod: known})
		}
		return
	}
	p := m.templates.podOf(it)
	before := m.cluster.setPod(p)
	switch {
	case came || before == nil || !maps.Equal(before.labels, p.labels):
		s.retryFor(api, &event{kind: podCame, pod: p})
	case p.requests.LessThan(before.requests):
		s.retryFor(api, &event{kind: podShrunk, pod: p})
	}
}

// podPends applies a commit of a pod that has no node.
func (s *Scheduler) podPends(api *controller.Client, p *pod) {
	m := &s.memory
	p = s.awaitGroup(api, p)
	x, before := m.Queue.get(p.Key), m.pending[p.Key]
	if x != nil && x.UID != p.uid {
		s.podGone(api, p.Key)
		x = nil
	}
	if x == nil || before == nil {
		s.queue(api, p)
		return
	}
	m.pending[p.Key] = p
	m.Queue.nominate(x, p.nominated)
	if x.Place == gated {
		if len(p.gates) == 0 {
			x.Since = api.Now()
			s.enter(api, x)
		}
		return
	}
	if before.nominated != "" && before.nominated != p.nominated {
		s.retryFor(api, &event{kind: podGone, pod: before})
	}
	if x.Place == waiting {
		s.reconsider(api, x, before, p)
	}
}

// reconsider retries a rejected pod if a change of its own may affect the rejection.
func (s *Scheduler) reconsider(api *controller.Client, x *queued, before, p *pod) {
	c := &cycle{s: s, api: api, cluster: s.memory.cluster, pod: p}
	for kind, changed := range map[kind]bool{ownLabels: !maps.Equal(before.labels, p.labels), // order does not matter
		tolerates: !slices.Equal(before.tolerations, p.tolerations), podShrunk: p.requests.LessThan(before.requests),
		ownClaims: !maps.Equal(before.generated, p.generated)} {
		if changed && x.Place == waiting && slices.ContainsFunc(x.By, func(name string) bool { return hint(name, c, &event{kind: kind, pod: p}) }) {
			s.enter(api, x)
		}
	}
}
