package batch

import (
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	indexKey           = "batch.kubernetes.io/job-completion-index" // annotation and label
	indexFailures      = "batch.kubernetes.io/job-index-failure-count"
	indexIgnored       = "batch.kubernetes.io/job-index-ignored-failure-count"
	noIndex            = -1
	completionIndexEnv = "JOB_COMPLETION_INDEX"
)

// pod contains the fields of a pod that the Job controller reads. They are read from its item once and cached with the item.
type pod struct {
	workload.Pod
	*podFacts
	tracked bool // the pod has the finalizer that is removed after it is counted
}

type podFacts struct {
	common            workload.PodFacts
	tracked           bool
	index             int // the completion index, or noIndex
	failures, ignored int // earlier failures of its index: counted and ignored
	restarts          int64
	finishedAt        time.Time
	exits             []exit
	conditions        [][2]string // type and status
}

// exit is the termination of one container.
type exit struct {
	container string
	code      int64
}

// podOf returns the pod of an item.
func podOf(it *resource.Item) *pod {
	facts := resource.Derived(it, readPod)
	return &pod{workload.Pod{Item: it, PodFacts: &facts.common}, facts, facts.tracked}
}

func readPod(obj object.Object) *podFacts {
	annotations := obj.Annotations()
	f := &podFacts{common: *workload.ReadPod(obj), tracked: slices.Contains(obj.Finalizers(), tracking), index: noIndex,
		failures: countOf(annotations[indexFailures]), ignored: countOf(annotations[indexIgnored]), finishedAt: finishedAt(obj)}
	if i, err := strconv.Atoi(annotations[indexKey]); err == nil && i >= 0 {
		f.index = i
	}
	for _, list := range []string{"containerStatuses", "initContainerStatuses"} { // exit codes are checked in this order
		for _, s := range obj.Objects("status", list) {
			f.restarts += s.Int64("restartCount")
			if code := s.Int64("state", "terminated", "exitCode"); code != 0 {
				f.exits = append(f.exits, exit{object.Keep(s.String("name")), code})
			}
		}
	}
	for _, c := range obj.Objects("status", "conditions") {
		f.conditions = append(f.conditions, [2]string{object.Keep(c.String("type")), object.Keep(c.String("status"))})
	}
	return f
}

// countOf parses an annotation with a count. It returns 0 if the value is invalid.
func countOf(text string) int {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int(n)
}

// finishedAt returns the time when a pod ended. It is the end of its last container, or else the time when it became unready, was
// deleted or was created (pkg/controller/job.getFinishedTime).
func finishedAt(obj object.Object) time.Time {
	if at, ok := containersEnded(obj); ok {
		return at
	}
	if c := obj.Condition("Ready"); c.String("status") == "False" && c.String("lastTransitionTime") != "" {
		return workload.TimeOf(c.String("lastTransitionTime"))
	}
	if at := obj.DeletionTimestamp(); at != "" {
		grace, _ := obj.DeletionGracePeriodSeconds()
		return workload.TimeOf(at).Add(-time.Duration(grace) * time.Second)
	}
	return workload.TimeOf(obj.String("metadata", "creationTimestamp"))
}

// containersEnded returns the time at which the last container ended. It returns false if some containers have not ended. It
// ignores init containers other than sidecars.
func containersEnded(obj object.Object) (last time.Time, ok bool) {
	sidecar := map[string]bool{}
	for _, c := range obj.Objects("spec", "initContainers") {
		sidecar[c.String("name")] = c.String("restartPolicy") == "Always"
	}
	ended := func(list string, counts func(name string) bool) bool {
		for _, s := range obj.Objects("status", list) {
			if !counts(s.String("name")) {
				continue
			}
			at := workload.TimeOf(s.String("state", "terminated", "finishedAt"))
			if at.IsZero() {
				return false
			}
			if at.After(last) {
				last = at
			}
		}
		return !last.IsZero()
	}
	if ok = ended("containerStatuses", func(string) bool { return true }); !ok {
		last = time.Time{}
	}
	sidecars := func(name string) bool { return sidecar[name] }
	return last, ended("initContainerStatuses", sidecars)
}
