package apps

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const statefulSets = "statefulsets.apps"

// StatefulSet maintains a pod for each ordinal of a StatefulSet, each with its own claims, sequentially or in parallel
// (pkg/controller/statefulset):
//
//	ordinal   0      1      2      3
//	          web-0  web-1  web-2            created in this order, each when the previous one is available
//	                               web-3     exceeds spec.replicas: condemned, deleted from the highest ordinal down
//	          ◀───── updated from the highest ordinal down to the partition
func StatefulSet() controller.Controller {
	s := workload.Owner{Resource: statefulSets}
	c := controller.Account("statefulset-controller", "statefulset-controller", controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
		w, ok := s.Of(api, key)
		if !ok {
			return 0, nil
		}
		set := statefulSet{Workload: w}
		return set.sync()
	}), controller.Watch{Resource: statefulSets}, s.Watch(workload.Pods, nil))
	c.ReadsWrites = []string{workload.Pods, persistentClaims, statefulSets}
	return c
}

// statefulSet is a StatefulSet with its pods and revisions.
type statefulSet struct {
	workload.Workload
	history         history
	current, update object.Object // the current and the new revision of the pods
	collisions      int64         // number of revision names that were already in use
	pods            []*workload.Pod
	replicas        []*replica // replicas by ordinal
	condemned       []*replica // pods with other ordinals, the highest first
	sick            *replica   // the first unavailable replica
	outdated        int64      // the number of pods that were deleted because they have an old revision
}

// replica is a pod of a StatefulSet, or an ordinal without a pod.
type replica struct {
	*workload.Pod // nil until the pod is created
	name          string
	ordinal       int64
}

func (s *statefulSet) want() int64  { return s.Object.Int64("spec", "replicas") }
func (s *statefulSet) start() int64 { return s.Object.Int64("spec", "ordinals", "start") }

// monotonic reports whether pods are created and deleted sequentially.
func (s *statefulSet) monotonic() bool {
	return s.Object.String("spec", "podManagementPolicy") != "Parallel"
}

func (s *statefulSet) minReady() time.Duration {
	return time.Duration(s.Object.Int64("spec", "minReadySeconds")) * time.Second
}

// available reports whether a pod has been ready for long enough.
func (s *statefulSet) available(r *replica) bool {
	return r.Pod != nil && r.Available(s.minReady(), s.API.Now())
}

// unavailable reports whether a pod is unavailable or being deleted.
func (s *statefulSet) unavailable(r *replica) bool { return !s.available(r) || r.Deleting }

// sync performs one step. An error with a pod is not reported in a condition, and does not prevent the update of the status and
// the history.
func (s *statefulSet) sync() (again time.Duration, failed *status.Status) {
	revisions := slices.DeleteFunc(s.Candidates(controllerRevisions), func(it *resource.Item) bool { return !s.Selector.Match(it.Label) })
	if s.history, failed = historyOf(&s.Workload, revisions); failed != nil {
		return 0, failed
	}
	s.Member = func(it *resource.Item) bool {
		parent, _ := parentAndOrdinal(it.Name)
		return parent == s.Object.Name()
	}
	mine, failed := s.Claim(workload.Pods, s.Candidates(workload.Pods))
	if failed != nil {
		return 0, failed
	}
	s.pods = workload.PodsOf(mine)
	if failed = s.revise(); failed == nil {
		s.arrange()
		failed = s.manage()
		if x := s.report(); failed == nil {
			failed = x
		}
	}
	if x := s.truncate(); failed == nil {
		failed = x
	}
	if failed != nil {
		return 0, failed
	}
	return workload.NextAvailable(s.pods, s.minReady(), s.API.Now()), nil
}

// revise finds or creates the revision of the current template, and finds the revision that the pods had before it.
func (s *statefulSet) revise() (failed *status.Status) {
	s.collisions = s.Object.Int64("status", "collisionCount")
	data := snapshot(s.Object.Map("spec", "template"))
	alike := slices.DeleteFunc(slices.Clone(s.history), func(r object.Object) bool { return !keeps(r, data) })
	switch last := len(s.history) - 1; {
	case len(alike) > 0 && keeps(s.history[last], data):
		s.update = s.history[last]
	case len(alike) > 0: // the template equals that of an older revision
		s.update, failed = renumber(s.API, alike[len(alike)-1], s.history.next())
	case last >= 0 && s.restores(s.history[last], data):
		s.update = s.history[last]
	default:
		s.update, failed = s.newRevision(data)
	}
	if failed != nil {
		return failed
	}
	if s.current = s.history.named(s.Object.String("status", "currentRevision")); s.current == nil {
		s.current = s.update
	}
	return nil
}

// restores reports whether a revision of an older version stores the same template as a snapshot, after the defaults of this
// version are applied.
func (s *statefulSet) restores(revision object.Object, data map[string]any) bool {
	d := s.API.Definition(statefulSets)
	if d.Default == nil {
		return false
	}
	restored := s.Object.Copy()
	restored.Set(map[string]any(templateOf(revision)), "spec", "template")
	d.Default(restored)
	return keeps(object.Object{"data": snapshot(restored.Map("spec", "template"))}, data)
}

// newRevision creates a revision. If its name is taken by a revision with the same data, it returns that one. If the data
// differs, it uses another name.
func (s *statefulSet) newRevision(data map[string]any) (object.Object, *status.Status) {
	hash := hashOfData(data, s.collisions)
	for {
		name := revisionName(s.Object.Name(), hashOfData(data, s.collisions))
		made, failed := s.API.Create(controllerRevisions, newRevision(&s.Workload, name, dataHash, hash, s.history.next(), data))
		if failed == nil {
			return made.Object(), nil
		} else if failed.Reason != status.ReasonAlreadyExists {
			return nil, failed
		}
		there := s.API.Live(controllerRevisions, s.Object.Namespace(), name)
		if there == nil {
			return nil, failed
		}
		if keeps(there, data) {
			return there, nil
		}
		s.collisions++
	}
}

// truncate deletes the oldest revisions that are not in use and exceed revisionHistoryLimit.
func (s *statefulSet) truncate() *status.Status {
	limit, limited := s.Object.Int("spec", "revisionHistoryLimit")
	if !limited || limit < 0 {
		return nil
	}
	live := map[string]bool{s.current.Name(): true, s.update.Name(): true}
	for _, p := range s.pods {
		live[revisionLabel(p)] = true
	}
	old := slices.DeleteFunc(slices.Clone(s.history), func(r object.Object) bool { return live[r.Name()] })
	for _, r := range old[:max(len(old)-int(limit), 0)] {
		if failed := s.API.Delete(controllerRevisions, controller.Key{Namespace: r.Namespace(), Name: r.Name()}, controller.Preconditions{}); failed != nil {
			return failed
		}
	}
	return nil
}

// revisionLabel returns the revision in a pod's label, or "".
func revisionLabel(p *workload.Pod) string {
	name, _ := p.Label(revisionHash)
	return name
}

// arrange assigns the pods to the replicas and the condemned pods.
func (s *statefulSet) arrange() {
	s.replicas = make([]*replica, s.want())
	for _, p := range s.pods {
		_, ordinal := parentAndOrdinal(p.Name)
		r := &replica{Pod: p, name: p.Name, ordinal: ordinal}
		switch place := ordinal - s.start(); {
		case ordinal < 0: // not a valid ordinal
		case place >= 0 && place < s.want():
			s.replicas[place] = r
		default:
			s.condemned = append(s.condemned, r)
		}
	}
	for place, r := range s.replicas {
		if r == nil {
			r = s.missing(s.start() + int64(place))
			s.replicas[place] = r
		}
		if s.sick == nil && s.unavailable(r) {
			s.sick = r
		}
	}
	slices.SortFunc(s.condemned, func(a, b *replica) int { return cmp.Compare(b.ordinal, a.ordinal) })
	for _, r := range slices.Backward(s.condemned) {
		if s.sick == nil && s.unavailable(r) {
			s.sick = r
		}
	}
}

// manage performs one step: it creates missing pods, then deletes condemned pods, then pods with old revisions.
func (s *statefulSet) manage() *status.Status {
	if s.Object.DeletionTimestamp() != "" {
		return nil
	}
	for _, phase := range []struct {
		pods []*replica
		step func(*replica) (wait bool, failed *status.Status)
	}{{s.replicas, s.keep}, {s.condemned, s.keepClaims}, {s.condemned, s.condemn}} {
		if wait, failed := s.each(phase.pods, phase.step); wait || failed != nil {
			return failed
		}
	}
	if s.Object.String("spec", "updateStrategy", "type") == "OnDelete" {
		return nil
	}
	rolling := object.Object(s.Object.Map("spec", "updateStrategy", "rollingUpdate"))
	if share, ok := rolling["maxUnavailable"]; ok {
		return s.replaceSome(rolling.Int64("partition"), max(workload.Share(share, s.want(), math.Floor), 1))
	}
	return s.replaceNext(rolling.Int64("partition"))
}

// each calls step for the given pods: sequentially until a step requires a wait or fails, or for all of them if they are managed in
// parallel. It reports whether a step requires a wait.
func (s *statefulSet) each(pods []*replica, step func(*replica) (bool, *status.Status)) (wait bool, failed *status.Status) {
	if s.monotonic() {
		for _, r := range pods {
			if wait, failed = step(r); wait || failed != nil {
				return true, failed
			}
		}
		return false, nil
	}
	i := -1
	_, failed = workload.SlowStartBatch(len(pods), func() *status.Status {
		i++
		_, failed := step(pods[i])
		return failed
	})
	return failed != nil, failed
}

// replaceNext deletes the highest pod with an old revision, unless a pod with a higher ordinal is unavailable.
func (s *statefulSet) replaceNext(partition int64) *status.Status {
	for place := int64(len(s.replicas)) - 1; place >= partition; place-- {
		r := s.replicas[place]
		switch {
		case s.isOutdated(r):
			return s.replace(r)
		case s.unavailable(r):
			return nil
		}
	}
	return nil
}

// replaceSome deletes the highest pods with an old revision, until the maximum number of pods is unavailable (KEP-961). Since 1.37,
// parallel pods that are already unavailable are deleted first, whatever their number (updateStatefulSetAfterInvariantEstablished).
func (s *statefulSet) replaceSome(partition, most int64) *status.Status {
	for _, r := range s.replicas {
		if s.unavailable(r) {
			most--
		}
	}
	sickFirst := !s.monotonic() && s.API.Since(37)
	for place := int64(len(s.replicas)) - 1; sickFirst && place >= partition; place-- {
		if r := s.replicas[place]; s.isOutdated(r) && !s.available(r) {
			if failed := s.replace(r); failed != nil {
				return failed
			}
		}
	}
	for place := int64(len(s.replicas)) - 1; place >= partition && most > 0; place-- {
		if r := s.replicas[place]; s.isOutdated(r) && (!sickFirst || s.available(r)) {
			if failed := s.replace(r); failed != nil {
				return failed
			}
			most--
		}
	}
	return nil
}

// isOutdated reports whether a pod has an old revision and is not being deleted.
func (s *statefulSet) isOutdated(r *replica) bool {
	return r.Pod != nil && !r.Deleting && revisionLabel(r.Pod) != s.update.Name()
}

func (s *statefulSet) replace(r *replica) *status.Status {
	failed := s.delete(r)
	if failed == nil {
		s.outdated++
	}
	return failed
}

// report updates the status of the set if it has changed. An update is complete when all pods are ready and have the new
// revision.
func (s *statefulSet) report() *status.Status {
	ready, available, current, updated := int64(0), int64(0), -s.outdated, int64(0)
	for _, p := range s.pods {
		if p.Ready && p.Phase == "Running" {
			ready++
			if p.Available(s.minReady(), s.API.Now()) {
				available++
			}
		}
		if p.Deleting {
			continue
		}
		if revisionLabel(p) == s.current.Name() {
			current++
		}
		if revisionLabel(p) == s.update.Name() {
			updated++
		}
	}
	now := object.Object{"replicas": int64(len(s.pods)), "availableReplicas": available, "collisionCount": s.collisions,
		"currentRevision": s.current.Name(), "updateRevision": s.update.Name()}
	if want := s.want(); s.Object.String("spec", "updateStrategy", "type") == "RollingUpdate" && updated == want && ready == want && int64(len(s.pods)) == want {
		current, now["currentRevision"] = updated, s.update.Name()
	}
	workload.SetCounts(now, map[string]int64{"readyReplicas": ready, "currentReplicas": current, "updatedReplicas": updated})
	before := object.Object(s.Object.Map("status"))
	same := s.Object.Generation() <= before.Int64("observedGeneration")
	for _, name := range []string{"replicas", "currentReplicas", "readyReplicas", "updatedReplicas", "availableReplicas", "currentRevision", "updateRevision"} {
		was, is := before[name], now[name]
		same = same && (object.Equal(was, is) || object.Blank(was) && object.Blank(is))
	}
	if same {
		return nil
	}
	now["observedGeneration"] = s.Object.Generation()
	return s.WriteStatus(now)
}
