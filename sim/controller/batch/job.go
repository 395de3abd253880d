// Package batch implements the controllers of API group batch: for Jobs, CronJobs, and the deletion of finished Jobs
// (pkg/controller/job, cronjob, ttlafterfinished).
//
// A Job's pods have a finalizer until they are counted, so that none is missed or counted twice (KEP-2307):
//
//	pod ends ─▶ its UID is in status.uncountedTerminatedPods ─▶ the finalizer is removed ─▶ it is in succeeded or failed
package batch

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	jobs     = "jobs.batch"
	tracking = "batch.kubernetes.io/job-tracking" // finalizer of pods that have not been counted yet

	// batchPeriod is the period in which changes of pods are collected before their Job is reconciled.
	batchPeriod = time.Second
	// podsMax is the maximum number of pods that one reconcile creates, deletes or counts.
	podsMax = 500
)

var jobOwner = workload.Owner{Resource: jobs, Finalizer: tracking}

// Job runs the pods of Jobs until they have succeeded or have failed too often (pkg/controller/job).
//
// Its keys are the names of Jobs, and pod/NAME for pods whose finalizer may have to be removed because they have lost their Job.
func Job() controller.Controller {
	c := &jobController{}
	j := controller.Account("job-controller", "job-controller", c,
		controller.Watch{Resource: jobs, Keys: specChanged},
		controller.Watch{Resource: jobs, Keys: c.statusChanged, After: batchPeriod},
		controller.Watch{Resource: jobs, Keys: abandoned},
		controller.Watch{Resource: workload.Pods, Keys: c.podChanged, After: batchPeriod},
		controller.Watch{Resource: workload.Pods, Keys: orphaned})
	j.RetryMin, j.RetryMax = time.Second, time.Minute
	j.ReadsWrites = []string{workload.Pods, jobs}
	return j
}

// specChanged returns the key of a Job that was created or deleted, or whose spec has changed.
func specChanged(_ *controller.Client, c *commit.Commit) []controller.Key {
	if before := c.Before(); c.Deleted() || before == nil || factsOf(c.Item()).generation != factsOf(before).generation {
		return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
	}
	return nil
}

// statusChanged returns the key of a Job that was updated without a change of its spec. If the Job has finished, it drops the
// controller's memory of the Job instead.
func (c *jobController) statusChanged(_ *controller.Client, x *commit.Commit) []controller.Key {
	key, now, before := controller.Key{Namespace: x.Namespace, Name: x.Name}, factsOf(x.Item()), x.Before()
	switch {
	case x.Deleted() || before == nil || now.generation != factsOf(before).generation:
		return nil
	case now.finished:
		c.forget(key.String())
		return nil
	}
	return []controller.Key{key}
}

// abandoned returns the keys of the pods of a deleted or finished Job.
func abandoned(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	if facts := factsOf(c.Item()); c.Deleted() || facts.finished {
		for _, ref := range api.Owned(facts.uid) {
			if ref.Resource == workload.Pods {
				keys = append(keys, podKey(ref.Namespace, ref.Name))
			}
		}
	}
	return keys
}

func podKey(namespace, name string) controller.Key {
	return controller.Key{Namespace: namespace, Name: "pod/" + name}
}

// jobFacts contains the fields of a Job or CronJob that are read whenever it or a controlled object changes.
type jobFacts struct {
	controller workload.SharedRef
	uid        string
	generation int64
	finished   bool
}

func factsOf(it *resource.Item) *jobFacts {
	return resource.Derived(it, func(obj object.Object) *jobFacts {
		return &jobFacts{workload.RefOf(obj), obj.UID(), obj.Generation(), finished(obj) != ""}
	})
}

// finished returns the condition with which a Job has finished: Complete or Failed, or "" if it has not finished.
func finished(job object.Object) string {
	for _, c := range job.Objects("status", "conditions") {
		if kind := c.String("type"); (kind == "Complete" || kind == "Failed") && c.String("status") == "True" {
			return kind
		}
	}
	return ""
}

// managedElsewhere reports whether another controller manages a Job (KEP-4368).
func managedElsewhere(job object.Object) bool {
	by := job.String("spec", "managedBy")
	return by != "" && by != "kubernetes.io/job-controller"
}

// jobController keeps, between reconciles, the creations and deletions of pods that its cache does not show yet, and the failures
// of pods.
type jobController struct {
	memory struct {
		Expectations workload.Expectations `json:",omitempty"`
		Jobs         map[string]*progress  `json:",omitempty"` // progress of Jobs by key
	}
}

// progress is the part of the controller's memory that belongs to one Job.
type progress struct {
	Unseen   []string `json:",omitempty"` // UIDs of pods that still have the finalizer in the cache, although it has been removed
	Failures failures `json:",omitzero"`
	Written  uint64   `json:",omitempty"` // revision of the controller's last write of the Job
}

// Memory implements controller.Rememberer.
func (c *jobController) Memory() any { return &c.memory }

func (c *jobController) of(key string) *progress {
	if c.memory.Jobs == nil {
		c.memory.Jobs = map[string]*progress{}
	}
	p := c.memory.Jobs[key]
	if p == nil {
		p = &progress{}
		c.memory.Jobs[key] = p
	}
	return p
}

func (c *jobController) forget(key string) {
	delete(c.memory.Jobs, key)
	delete(c.memory.Expectations, key)
}

// ofOther reports whether the controller of a pod is not a Job, which is true of most pods. It reads only the facts that all
// controllers share.
func ofOther(it *resource.Item) bool {
	ref := workload.PodOf(it).Controller()
	return ref.UID != "" && ref.Kind != "Job"
}

// podChanged returns the keys of a pod's Jobs: its controller now and before the commit, or the Jobs that could adopt it.
func (c *jobController) podChanged(api *controller.Client, x *commit.Commit) (keys []controller.Key) {
	if before := x.Before(); ofOther(x.Item()) && (before == nil || ofOther(before)) {
		return nil
	}
	now := podOf(x.Item())
	key, controlled := jobOf(api, now)
	if before := x.Before(); before != nil && !x.Deleted() {
		if was, ok := jobOf(api, podOf(before)); ok && was != key && was.Name != "" {
			keys = append(keys, was)
			c.seen(was, now, x)
		}
	}
	switch {
	case key.Name != "":
		c.seen(key, now, x)
		if (x.Deleted() || now.Deleting) && factsOf(api.Item(jobs, key.Namespace, key.Name)).finished {
			return keys
		}
		return append(keys, key)
	case controlled || x.Deleted() || now.Deleting || !now.Labelled():
		return keys
	}
	return append(keys, jobOwner.Adopters(api, now.Item)...)
}

// seen records that the cache shows a creation, deletion or update of a pod.
func (c *jobController) seen(key controller.Key, p *pod, x *commit.Commit) {
	name := key.String()
	switch {
	case x.Deleted() || p.Deleting:
		c.memory.Expectations.Deleted(name, p.Name)
	case x.Created():
		c.memory.Expectations.Created(name, 1)
	}
	if m := c.memory.Jobs[name]; m != nil && (x.Deleted() || !p.tracked) {
		m.Unseen = slices.DeleteFunc(m.Unseen, func(uid string) bool { return uid == p.UID })
	}
}

// jobOf returns the key of the Job that controls a pod, or an empty key if there is no such Job. It also reports whether the pod
// has any controller.
func jobOf(api *controller.Client, p *pod) (key controller.Key, controlled bool) {
	ref := p.Controller()
	if ref.UID == "" {
		return key, false
	}
	if ref.Kind != "Job" || !strings.HasPrefix(ref.APIVersion, "batch/") {
		return key, true
	}
	job := api.Item(jobs, p.Namespace, ref.Name)
	if job == nil || factsOf(job).uid != ref.UID {
		return key, true
	}
	return controller.Key{Namespace: p.Namespace, Name: ref.Name}, true
}

// orphaned returns the key of a pod that has the finalizer, but may no longer have a Job that would remove it.
func orphaned(api *controller.Client, c *commit.Commit) []controller.Key {
	if c.Deleted() || !bytes.Contains(c.Item().Bytes(), []byte(tracking)) {
		return nil
	}
	p := podOf(c.Item())
	if !p.tracked {
		return nil
	}
	key, controlled := jobOf(api, p)
	lost := key.Name == "" || factsOf(api.Item(jobs, key.Namespace, key.Name)).finished
	if !controlled || p.Deleting && lost {
		return []controller.Key{podKey(p.Namespace, p.Name)}
	}
	return nil
}

// Reconcile implements controller.Reconciler.
func (c *jobController) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if name, ok := strings.CutPrefix(key.Name, "pod/"); ok {
		return 0, releaseOrphan(api, controller.Key{Namespace: key.Namespace, Name: name})
	}
	name := key.String()
	w, ok := jobOwner.Of(api, key)
	switch {
	case !ok:
		c.forget(name)
		return 0, nil
	case managedElsewhere(w.Object):
		return 0, nil
	case finished(w.Object) != "":
		c.forget(name)
		return 0, nil
	}
	m := c.of(name)
	if rev(w.Object) < m.Written {
		return 0, status.Internal(errors.New("the cache has not seen yet what was written of " + name))
	}
	satisfied := c.memory.Expectations.Fulfilled(name, api.Now())
	claimed, failed := w.Claim(workload.Pods, w.Candidates(workload.Pods))
	if failed != nil {
		return 0, failed
	}
	return newJob(w, claimed, m, &c.memory.Expectations).sync(satisfied)
}

// releaseOrphan removes the finalizer from a pod that no Job will count.
func releaseOrphan(api *controller.Client, key controller.Key) *status.Status {
	it := api.Item(workload.Pods, key.Namespace, key.Name)
	if it == nil {
		return nil
	}
	p := podOf(it)
	if ref := p.Controller(); ref.UID != "" {
		if ref.Kind != "Job" || ref.APIVersion != "batch/v1" {
			return nil
		}
		if job, _ := jobOf(api, p); job.Name != "" {
			obj := api.Get(jobs, job.Namespace, job.Name)
			if managedElsewhere(obj) || finished(obj) == "" {
				return nil
			}
		}
	}
	return workload.Found(untrack(api, p))
}

// untrack removes the tracking finalizer from a pod, if the pod has it.
func untrack(api *controller.Client, p *pod) *status.Status {
	if !p.tracked {
		return nil
	}
	s := api.Patch(workload.Pods, "", p.Key(), func(live object.Object) {
		live.SetFinalizers(slices.DeleteFunc(live.Finalizers(), func(f string) bool { return f == tracking }))
	})
	return s
}
