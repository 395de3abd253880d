package apps

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	daemonSets = "daemonsets.apps"

	// daemonBurst is the maximum number of pods that are created or deleted at once.
	daemonBurst = 250
)

// DaemonSet maintains a pod on each node that the template of a DaemonSet fits (pkg/controller/daemon):
//
//	node a   fits                   gets a pod, which the scheduler binds to it because the pod's affinity names it
//	node b   taint, NoSchedule      gets no pod; an existing one stays
//	node c   labels do not match    an existing pod is deleted
func DaemonSet() controller.Controller {
	d := &daemons{Owner: workload.Owner{Resource: daemonSets}}
	c := controller.Account("daemonset-controller", "daemon-set-controller", d, controller.Watch{Resource: daemonSets},
		d.Watch(workload.Pods, d.memory.Expectations.Seen), d.ofRevisions(), controller.Watch{Resource: workload.Nodes, Keys: d.ofNode})
	c.ReadsWrites = []string{workload.Pods, daemonSets}
	return c
}

// ofRevisions watches revisions, except for the creation of one that a DaemonSet owns (DaemonSetsController.addHistory).
func (d *daemons) ofRevisions() controller.Watch {
	w := d.Watch(controllerRevisions, nil)
	all := w.Keys
	w.Keys = func(api *controller.Client, c *commit.Commit) []controller.Key {
		if c.Created() {
			if _, controlled := d.Controls(api, c.Item()); controlled {
				return nil
			}
		}
		return all(api, c)
	}
	return w
}

// daemons remembers the creations and deletions of pods that its cache does not show yet, and the failures of pods.
type daemons struct {
	workload.Owner
	memory struct {
		Expectations workload.Expectations `json:",omitempty"`
		Failed       failures              `json:",omitempty"`
	}
}

// Memory implements controller.Rememberer.
func (d *daemons) Memory() any { return &d.memory }

// daemonFacts contains values that are cached with the item of a DaemonSet.
type daemonFacts struct {
	uid       string
	placement *workload.Placement
	strays    bool // some of its pods are on nodes where they should not run
}

func daemonOf(obj object.Object) *daemonFacts {
	spec := object.Object(maps.Clone(obj.Map("spec", "template", "spec")))
	tolerateDaemon(spec)
	return &daemonFacts{obj.UID(), workload.PlacementOf(spec), obj.Int64("status", "numberMisscheduled") > 0}
}

// shouldRun reports whether a node should get a pod, and whether it may keep an existing one (daemon.NodeShouldRunDaemonPod).
func shouldRun(p *workload.Placement, n *workload.Node) (run, stay bool) {
	switch {
	case !p.Fits(n):
		return false, false
	case !p.Tolerates(n, "NoExecute", "NoSchedule"):
		return false, p.Tolerates(n, "NoExecute")
	}
	return true, true
}

// ofNode returns the keys of the DaemonSets whose pods are affected by a new node, or by a change of its labels or taints.
func (d *daemons) ofNode(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	if c.Deleted() {
		return nil // the controller does not delete the pods of a deleted node
	}
	n := workload.NodeOf(c.Item())
	if before := c.Before(); before != nil {
		was := workload.NodeOf(before)
		if maps.Equal(was.Labels, n.Labels) && slices.Equal(was.Taints, n.Taints) {
			return nil
		}
	}
	api.Items(daemonSets, "", func(it *resource.Item) bool {
		set := resource.Derived(it, daemonOf)
		run, stay := shouldRun(set.placement, n)
		scheduled := slices.ContainsFunc(api.Owned(set.uid), func(ref controller.Ref) bool {
			pod := api.Item(ref.Resource, ref.Namespace, ref.Name)
			return ref.Resource == workload.Pods && pod != nil && workload.PodOf(pod).Node == n.Name
		})
		if run && !scheduled || !stay && scheduled || scheduled && set.strays {
			keys = append(keys, controller.Key{Namespace: it.Namespace, Name: it.Name})
		}
		return true
	})
	return keys
}

// Reconcile implements controller.Reconciler.
func (d *daemons) Reconcile(api *controller.Client, key controller.Key) (again time.Duration, failed *status.Status) {
	w, ok := d.Of(api, key)
	switch {
	case !ok:
		delete(d.memory.Expectations, key.String())
		return 0, nil
	case w.Selector.Empty():
		_ = api.Event(w.Object, "Warning", "SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")
		return 0, nil
	case w.Object.DeletionTimestamp() != "":
		return 0, nil
	}
	set := daemonSet{Workload: w, now: api.Now(), expectations: &d.memory.Expectations, failed: &d.memory.Failed}
	if failed = set.revise(); failed != nil {
		return 0, failed
	}
	if failed = set.arrange(); failed != nil {
		return 0, failed
	}
	if !d.memory.Expectations.Fulfilled(key.String(), api.Now()) {
		return 0, set.report(false)
	}
	failed = set.update()
	if x := set.report(true); failed == nil {
		failed = x
	}
	if failed != nil {
		return 0, failed
	}
	again = workload.NextAvailable(set.pods, set.minReady(), set.now)
	if again == 0 || set.backoff > 0 && set.backoff < again {
		again = set.backoff
	}
	return again, nil
}

// daemonSet is a DaemonSet with its pods and revisions.
type daemonSet struct {
	workload.Workload
	now          time.Time
	expectations *workload.Expectations
	failed       *failures
	hash         string  // hash of the newest revision, which is a label of its pods
	old          history // the other revisions
	pods         []*workload.Pod
	places       []*place      // existing nodes, sorted by name, and then nodes that no longer exist
	backoff      time.Duration // the delay until failed pods are checked again
}

// place is a node with the pods of the set that are on it or will be bound to it.
type place struct {
	name      string
	there     bool // the node exists
	run, stay bool // see shouldRun
	pods      []*workload.Pod
}

func (s *daemonSet) minReady() time.Duration {
	return time.Duration(s.Object.Int64("spec", "minReadySeconds")) * time.Second
}

func (s *daemonSet) available(p *workload.Pod) bool { return p.Available(s.minReady(), s.now) }

// arrange assigns the pods to their nodes. The pods of each node are sorted by age, with the oldest first.
func (s *daemonSet) arrange() *status.Status {
	mine, failed := s.Claim(workload.Pods, s.Candidates(workload.Pods))
	if failed != nil {
		return failed
	}
	s.pods = workload.PodsOf(mine)
	placement := daemonOf(s.Object).placement
	byName := map[string]*place{}
	s.API.Items(workload.Nodes, "", func(it *resource.Item) bool {
		p := &place{name: it.Name, there: true}
		p.run, p.stay = shouldRun(placement, workload.NodeOf(it))
		byName[it.Name] = p
		s.places = append(s.places, p)
		return true
	})
	var lost []*place
	for _, p := range s.pods {
		if p.Target == "" || p.Finished() && p.Deleting {
			continue
		}
		at := byName[p.Target]
		if at == nil {
			at = &place{name: p.Target}
			byName[p.Target] = at
			lost = append(lost, at)
		}
		at.pods = append(at.pods, p)
	}
	slices.SortFunc(lost, func(a, b *place) int { return cmp.Compare(a.name, b.name) })
	s.places = append(s.places, lost...)
	for _, at := range s.places {
		slices.SortFunc(at.pods, oldest)
	}
	return nil
}

// oldest compares pods: those bound to a node come first, then older ones.
func oldest(a, b *workload.Pod) int {
	switch {
	case a.Node != "" && b.Node == "":
		return -1
	case a.Node == "" && b.Node != "":
		return 1
	}
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
}

// update creates and deletes pods. If none are missing or surplus, it performs a step of the rolling update.
func (s *daemonSet) update() *status.Status {
	wrong, missing := s.manage()
	if failed := s.sync(wrong, missing); failed != nil {
		return failed
	}
	if len(wrong)+len(missing) == 0 && s.Object.String("spec", "updateStrategy", "type") == "RollingUpdate" {
		wrong, missing, failed := s.roll()
		if failed == nil {
			failed = s.sync(wrong, missing)
		}
		if failed != nil {
			return failed
		}
	}
	return s.truncate()
}

// sync deletes the pods in wrong, and creates pods on the nodes in missing.
func (s *daemonSet) sync(wrong []*workload.Pod, missing []string) (failed *status.Status) {
	wrong, missing = wrong[:min(len(wrong), daemonBurst)], missing[:min(len(missing), daemonBurst)]
	var names []string
	for _, p := range wrong {
		names = append(names, p.Name)
	}
	key := s.Key().String()
	s.expectations.Expect(key, len(missing), names, s.API.Now())
	i := -1
	made, failed := workload.SlowStartBatch(len(missing), func() *status.Status {
		i++
		if failed := s.CreatePod(s.daemonPod(missing[i])); failed != nil && !workload.Terminating(failed) {
			return failed
		}
		return nil
	})
	s.expectations.Created(key, len(missing)-made)
	for _, p := range wrong {
		if x := s.DeletePod(p); x != nil {
			s.expectations.Deleted(key, p.Name)
			if x.Reason != status.ReasonNotFound {
				failed = x
			}
		}
	}
	return failed
}

// report updates the status of the set if it has changed.
func (s *daemonSet) report(observed bool) *status.Status {
	var desired, current, strays, ready, updated, available int64
	for _, at := range s.places {
		switch {
		case !at.there:
		case at.run:
			desired++
			if len(at.pods) == 0 {
				continue
			}
			current++
			first := at.pods[0]
			if first.Ready {
				ready++
				if s.available(first) {
					available++
				}
			}
			if s.isUpdated(first) {
				updated++
			}
		case len(at.pods) > 0:
			strays++
		}
	}
	before := object.Object(s.Object.Map("status"))
	now := before.Copy()
	if now == nil {
		now = object.Object{}
	}
	workload.SetCounts(now, map[string]int64{"updatedNumberScheduled": updated, "numberAvailable": available, "numberUnavailable": desired - available})
	now["desiredNumberScheduled"], now["currentNumberScheduled"], now["numberMisscheduled"], now["numberReady"] = desired, current, strays, ready
	if observed {
		now["observedGeneration"] = s.Object.Generation()
	}
	if object.Equal(map[string]any(now), map[string]any(before)) {
		return nil
	}
	return s.WriteStatus(now)
}
