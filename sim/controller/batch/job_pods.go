package batch

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// manage creates or deletes pods to reach the desired number of active pods. If it has to wait because pods have failed, it
// returns the delay (manageJob).
func (j *job) manage() (wait time.Duration, failed *status.Status) {
	want := j.wanted()
	if surplus := j.surplus(max(j.active-want, 0)); len(surplus) > 0 {
		var names []string
		for _, p := range surplus {
			names = append(names, p.Name)
		}
		j.expectations.Expect(j.Key().String(), 0, names, j.API.Now())
		_, failed = j.deletePods(surplus, true)
		return 0, failed
	}
	missing := want - j.active
	if j.onlyFailed() {
		missing -= j.going
	}
	if missing <= 0 {
		return 0, nil
	}
	if !j.perIndex() {
		if wait = j.failures.pause(j.API.Now()); wait > 0 {
			return max(wait, batchPeriod), nil
		}
	}
	at := slices.Repeat([]int{noIndex}, min(missing, podsMax))
	if j.indexed() {
		if at, wait = j.free(len(at)); len(at) == 0 {
			return wait, nil
		}
	}
	return 0, j.createPods(at)
}

// wanted returns the desired number of active pods.
func (j *job) wanted() int {
	parallelism := int(j.spec().Int64("parallelism"))
	switch {
	case j.suspended():
		return 0
	case j.spec().Has("completions"):
		return max(min(j.completions()-j.succeeded, parallelism), 0)
	case j.succeeded > 0:
		return j.active // a pod has succeeded, which completes the Job: the other pods end by themselves
	}
	return parallelism
}

// surplus returns the active pods to delete: those with a duplicate or unneeded index and, until there are least of them, further
// pods in the order of their deletion (activePodsForRemoval). Unless the Job is suspended, it returns at most podsMax pods.
func (j *job) surplus(least int) []*pod {
	var going []*pod
	staying := j.working
	if j.indexed() {
		at := map[int][]*pod{}
		var order []int
		staying = nil
		for _, p := range j.working {
			if !j.valid(p) {
				going = append(going, p)
				continue
			}
			if at[p.index] == nil {
				order = append(order, p.index)
			}
			at[p.index] = append(at[p.index], p)
		}
		for _, i := range order {
			same := j.byDeletion(at[i])
			going, staying = append(going, same[:len(same)-1]...), append(staying, same[len(same)-1])
		}
	}
	if more := least - len(going); more > 0 {
		going = append(going, j.byDeletion(staying)[:more]...)
	}
	if !j.suspended() && len(going) > podsMax {
		going = going[:podsMax]
	}
	return going
}

// byDeletion returns pods sorted by the order of their deletion.
func (j *job) byDeletion(pods []*pod) []*pod {
	if len(pods) < 2 {
		return pods
	}
	sorted := slices.Clone(pods)
	slices.SortStableFunc(sorted, func(a, b *pod) int { return workload.CompareActive(&a.Pod, &b.Pod) })
	return sorted
}

// deletePods deletes active pods. If uncounted is true, it removes their finalizers first, so that they are not counted. It returns
// the number of pods that are deleted or being deleted.
func (j *job) deletePods(pods []*pod, uncounted bool) (deleted int, failed *status.Status) {
	for _, p := range pods {
		if s := j.deletePod(p, uncounted); s != nil {
			j.expectations.Deleted(j.Key().String(), p.Name)
			failed = s
			continue
		}
		deleted++
		if p.Ready {
			j.ready--
		}
	}
	j.active -= deleted
	j.going += deleted
	return deleted, failed
}

func (j *job) deletePod(p *pod, uncounted bool) *status.Status {
	if uncounted {
		if s := untrack(j.API, p); s != nil {
			return workload.Found(s)
		}
	}
	return workload.Found(j.DeletePod(&p.Pod))
}

// free returns the first n indexes that need a pod now. If all of them have failed recently, it returns the delay until one may
// be retried.
func (j *job) free(n int) (now []int, wait time.Duration) {
	var busy []int
	for _, p := range j.pods {
		if p.index != noIndex && (p.Active() || j.onlyFailed() && p.Deleting && !p.Finished()) {
			busy = append(busy, p.index)
		}
	}
	for _, i := range j.done.with(busy).merge(j.lost).missing(n, j.completions()) {
		var pause time.Duration
		if p := j.delayed[i]; p != nil {
			pause = failures{p.failures + p.ignored + 1, p.finishedAt}.pause(j.API.Now())
		}
		if pause == 0 {
			now = append(now, i)
		} else {
			wait = sooner(wait, max(pause, batchPeriod))
		}
	}
	return now, wait
}

// createPods creates a pod for each of the given indexes.
func (j *job) createPods(at []int) *status.Status {
	key := j.Key().String()
	j.expectations.Expect(key, len(at), nil, j.API.Now())
	next := 0
	made, failed := workload.SlowStartBatch(len(at), func() *status.Status {
		index := at[next]
		next++
		s := j.CreatePod(func(p object.Object) { j.complete(p, index) })
		if s != nil && !workload.Terminating(s) {
			return s
		}
		return nil
	})
	j.active += made
	j.expectations.Created(key, len(at)-made)
	return failed
}

// complete adds the fields of a Job's pod that are not in the template.
func (j *job) complete(p object.Object, index int) {
	if !slices.Contains(p.Finalizers(), tracking) {
		p.SetFinalizers(append(p.Finalizers(), tracking))
	}
	if index == noIndex {
		return
	}
	number := strconv.Itoa(index)
	p.Set(indexPrefix(j.Object.Name(), number), "metadata", "generateName")
	p.Set(number, "metadata", "labels", indexKey)
	p.Set(number, "metadata", "annotations", indexKey)
	p.Set(j.Object.Name()+"-"+number, "spec", "hostname")
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range p.Objects("spec", list) {
			named := func(v object.Object) bool { return v.String("name") == completionIndexEnv }
			if !slices.ContainsFunc(c.Objects("env"), named) {
				c["env"] = append(c.List("env"), map[string]any{"name": completionIndexEnv, "valueFrom": map[string]any{
					"fieldRef": map[string]any{"fieldPath": fmt.Sprintf("metadata.labels['%s']", indexKey)}}})
			}
		}
	}
	if j.perIndex() {
		j.inherit(p, j.delayed[index])
	}
}

// inherit sets the number of earlier failures of a pod's index from the pod that it replaces, if there is one.
func (j *job) inherit(p object.Object, replaced *pod) {
	failed, ignored := 0, 0
	if replaced != nil {
		failed, ignored = replaced.failures, replaced.ignored
		if judge(j.spec().Map("podFailurePolicy"), replaced).counts() {
			failed++
		} else {
			ignored++
		}
	}
	p.Set(strconv.Itoa(failed), "metadata", "annotations", indexFailures)
	if ignored > 0 {
		p.Set(strconv.Itoa(ignored), "metadata", "annotations", indexIgnored)
	}
}

// indexPrefix returns the prefix of the names of pods with an index (podGenerateNameWithIndex).
func indexPrefix(name, index string) string {
	const longest = 58 // names.MaxGeneratedNameLength
	suffix := "-" + index + "-"
	if len(name)+len(suffix) > longest {
		name = name[:longest-len(suffix)]
	}
	return name + suffix
}

// These are the limits of the delay before a failed pod is replaced.
const (
	podBackoffMin = 10 * time.Second
	podBackoffMax = 10 * time.Minute
)

// failures holds the number of failed pods of a Job since its last success, and the time of the last failure.
type failures struct {
	Count int       `json:",omitempty"`
	Last  time.Time `json:",omitzero"`
}

// after returns the failures of a Job after further pods have ended (backoffStore.newBackoffRecord).
func (f failures) after(succeeded, failed []*pod) failures {
	byEnd := func(a, b *pod) int { return a.finishedAt.Compare(b.finishedAt) }
	if len(succeeded) > 0 {
		last := slices.MaxFunc(succeeded, byEnd).finishedAt
		failed = slices.DeleteFunc(slices.Clone(failed), func(p *pod) bool { return !p.finishedAt.After(last) })
		f = failures{}
	}
	if len(failed) > 0 {
		f = failures{f.Count + len(failed), slices.MaxFunc(failed, byEnd).finishedAt}
	}
	return f
}

// pause returns the remaining delay until the next pod may be created, or 0.
func (f failures) pause(now time.Time) time.Duration {
	if f.Count == 0 {
		return 0
	}
	pause := podBackoffMax
	if f.Count < 8 {
		pause = min(podBackoffMin<<(f.Count-1), podBackoffMax)
	}
	return max(pause-now.Sub(f.Last), 0)
}
