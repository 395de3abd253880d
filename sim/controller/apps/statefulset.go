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

// StatefulSet keeps a pod for each ordinal of a StatefulSet, one after the other or all at once, each with claims of its own
// (pkg/controller/statefulset):
//
//	ordinal   0      1      2      3
//	          web-0  web-1  web-2            made in this order, each when the one before is available
//	                               web-3     above the replicas: condemned, the highest goes first
//	          ◀───── updated from the highest down to the partition
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

// statefulSet is a StatefulSet, its pods and its revisions.
type statefulSet struct {
	workload.Workload
	history         history
	current, update object.Object // revisions: what the pods had, and what they are to have
	collisions      int64         // number of revision names that were already in use
	pods            []*workload.Pod
	replicas        []*replica // by ordinal
	condemned       []*replica // pods of other ordinals, the highest first
	sick            *replica   // the first that is not available
	outdated        int64      // pods that were deleted because they are not of the newest revision
}

// replica is a pod of a StatefulSet.
type replica struct {
	*workload.Pod // nil until the pod is created
	name          string
	ordinal       int64
}

func (s *statefulSet) want() int64  { return s.Object.Int64("spec", "replicas") }
func (s *statefulSet) start() int64 { return s.Object.Int64("spec", "ordinals", "start") }

// monotonic reports whether pods are made and deleted one after the other.
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

// unavailable reports whether a pod does not count as one that serves.
func (s *statefulSet) unavailable(r *replica) bool { return !s.available(r) || r.Deleting }

// sync does one step. Errors with pods are in no condition, but the status and the history are kept up to date.
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

// revise finds or makes the revision of the template, and finds the one that the pods had.
func (s *statefulSet) revise() (failed *status.Status) {
	s.collisions = s.Object.Int64("status", "collisionCount")
	data := snapshot(s.Object.Map("spec", "template"))
	alike := slices.DeleteFunc(slices.Clone(s.history), func(r object.Object) bool { return !keeps(r, data) })
	switch last := len(s.history) - 1; {
	case len(alike) > 0 && keeps(s.history[last], data):
		s.update = s.history[last]
	case len(alike) > 0: // back to what it was
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

// restores reports whether a revision of an older version, restored and with the defaults of this one, is what a snapshot
// keeps.
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

// newRevision makes a revision; one that is there already and keeps the same is taken, of one that keeps something else the
// name is avoided.
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

// truncate deletes the oldest revisions that no pod has and revisionHistoryLimit does not keep.
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

// revisionLabel is the revision that a pod says it has, or "".
func revisionLabel(p *workload.Pod) string {
	name, _ := p.Label(revisionHash)
	return name
}

// arrange puts each pod in its place.
func (s *statefulSet) arrange() {
	s.replicas = make([]*replica, s.want())
	for _, p := range s.pods {
		_, ordinal := parentAndOrdinal(p.Name)
		r := &replica{Pod: p, name: p.Name, ordinal: ordinal}
		switch place := ordinal - s.start(); {
		case ordinal < 0: // its number is none
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

// manage moves one step: pods are made, then those above the replicas are deleted, then those of old revisions.
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

// each takes a step with each of some pods: one after the other until one has to be waited for, or as many as go well.
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
	_, failed = workload.Slowly(len(pods), func() *status.Status {
		i++
		_, failed := step(pods[i])
		return failed
	})
	return failed != nil, failed
}

// replaceNext deletes the highest pod that is not of the newest revision, when those above it are available.
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

// replaceSome deletes the highest pods that are not of the newest revision, as many as may be missing (KEP-961).
func (s *statefulSet) replaceSome(partition, most int64) *status.Status {
	for _, r := range s.replicas {
		if s.unavailable(r) {
			most--
		}
	}
	for place := int64(len(s.replicas)) - 1; place >= partition && most > 0; place-- {
		if r := s.replicas[place]; s.isOutdated(r) {
			if failed := s.replace(r); failed != nil {
				return failed
			}
			most--
		}
	}
	return nil
}

// isOutdated reports whether a pod is to be replaced. One that was just made is of the newest revision or below the partition.
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

// report writes the status of the set where it is not what there is. An update is over when all pods are ready and new.
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
