package batch

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// jobStatusChange is an update of the status of a Job. Most rules count only when the fields they speak about changed,
// so that a Job which broke them already can still be written (KEP-4368).
type jobStatusChange struct {
	obj, old    object.Object
	status      object.Object
	completions int64
	bounded     bool // completions is set
	errs        field.ErrorList
}

func validateJobStatus(obj, old object.Object) field.ErrorList {
	c := &jobStatusChange{obj: obj, old: old, status: obj.At("status")}
	c.completions, c.bounded = obj.Int("spec", "completions")
	p := field.Root("status")
	c.errs = kind.NonNegatives(p, c.status, "active", "succeeded", "failed", "ready", "terminating")
	c.uncounted()
	c.completion()
	c.finished()
	c.indexes()
	c.pods()
	c.criteria()
	c.history()
	return c.errs
}

// is reports whether the condition is True now.
func (c *jobStatusChange) is(condition string) bool { return jobIs(c.obj, condition) }

// turned reports whether one of the conditions is True now and was not, or the other way round.
func (c *jobStatusChange) turned(conditions ...string) bool {
	for _, name := range conditions {
		if jobIs(c.obj, name) != jobIs(c.old, name) {
			return true
		}
	}
	return false
}

// moved reports whether one of the fields of the status changed.
func (c *jobStatusChange) moved(names ...string) bool {
	for _, name := range names {
		if !object.SemanticEqual(c.status[name], c.old.At("status")[name]) {
			return true
		}
	}
	return false
}

// isFinished and finishedTurned speak of the conditions Complete and Failed together.
func isFinished(obj object.Object) bool { return jobIs(obj, "Complete") || jobIs(obj, "Failed") }

func (c *jobStatusChange) finishedTurned() bool { return isFinished(c.obj) != isFinished(c.old) }

// refuse adds an error about a field when bad is true.
func (c *jobStatusChange) refuse(bad bool, name string, value any, detail string) {
	if bad {
		c.errs = append(c.errs, field.Invalid(field.Root("status").Child(name), value, detail))
	}
}

// require adds an error about a field that is missing when bad is true.
func (c *jobStatusChange) require(bad bool, name, detail string) {
	if bad {
		c.errs = append(c.errs, field.Required(field.Root("status").Child(name), detail))
	}
}

// conflict adds an error about the conditions when bad is true.
func (c *jobStatusChange) conflict(bad bool, detail string) {
	c.refuse(bad, "conditions", field.Omit, detail)
}

func (c *jobStatusChange) uncounted() {
	seen := map[string]bool{}
	for _, list := range []string{"succeeded", "failed"} {
		p := field.Root("status").Child("uncountedTerminatedPods", list)
		for i, uid := range c.status.Strings("uncountedTerminatedPods", list) {
			switch {
			case uid == "":
				c.errs = append(c.errs, field.Invalid(p.Index(i), uid, "must not be empty"))
			case seen[uid]:
				c.errs = append(c.errs, field.Duplicate(p.Index(i), uid))
			}
			seen[uid] = true
		}
	}
}

// completion checks what goes with the condition Complete.
func (c *jobStatusChange) completion() {
	complete, end := c.is("Complete"), c.status["completionTime"]
	c.conflict(c.turned("Complete", "Failed") && complete && c.is("Failed"), "cannot set Complete=True and Failed=true conditions")
	c.conflict(c.turned("Complete", "FailureTarget") && complete && c.is("FailureTarget"), "cannot set Complete=True and FailureTarget=true conditions")
	if c.turned("Complete") || c.moved("completionTime") {
		c.refuse(end != nil && !complete, "completionTime", end, "cannot set completionTime when there is no Complete=True condition")
		c.require(end == nil && complete, "completionTime", "completionTime is required for Complete jobs")
	}
	if c.moved("startTime", "completionTime") {
		c.refuse(timeBefore(end, c.status["startTime"]), "completionTime", end, "must be equal to or after `startTime`")
	}
	c.conflict((c.turned("Failed") || c.moved("failedIndexes")) && c.is("Failed") && !c.is("FailureTarget"),
		"cannot set Failed=True condition without the FailureTarget=true condition")
	c.conflict(c.turned("Complete", "SuccessCriteriaMet") && complete && !c.is("SuccessCriteriaMet"),
		"cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
}

// timeBefore reports whether a is a time before b.
func timeBefore(a, b any) bool {
	x, _ := a.(string)
	y, _ := b.(string)
	ta, errA := time.Parse(time.RFC3339, x)
	tb, errB := time.Parse(time.RFC3339, y)
	return errA == nil && errB == nil && ta.Before(tb)
}

// finished checks what a Job that is Complete or Failed may not have any more.
func (c *jobStatusChange) finished() {
	if !isFinished(c.obj) {
		return
	}
	active := c.status.Int64("active")
	c.refuse((c.finishedTurned() || c.moved("active")) && active > 0, "active", active, "active>0 is invalid for finished job")
	neverRan := c.obj.True("spec", "suspend") && c.bounded && c.completions == 0
	c.require((c.finishedTurned() || c.moved("startTime")) && !neverRan && !c.status.Has("startTime"), "startTime", "startTime is required for finished job")
	pods := c.status.At("uncountedTerminatedPods")
	if c.finishedTurned() || c.moved("uncountedTerminatedPods") {
		c.refuse(len(pods.List("succeeded"))+len(pods.List("failed")) > 0, "uncountedTerminatedPods",
			gotext.Value("UncountedTerminatedPods", pods), "must be empty for finished job")
	}
}

// indexes checks the lists of indexes of an Indexed Job.
func (c *jobStatusChange) indexes() {
	completed, failed := c.status.String("completedIndexes"), c.status.String("failedIndexes")
	perIndex, hasFailed := c.obj.Has("spec", "backoffLimitPerIndex"), c.status.Has("failedIndexes")
	completedMoved, failedMoved := c.moved("completedIndexes"), c.moved("failedIndexes")
	if completedMoved && c.bounded {
		if _, err := countIndexes(completed, c.completions); err != nil {
			c.refuse(true, "completedIndexes", completed, "error parsing completedIndexes: "+err.Error())
		}
	}
	if failedMoved && c.bounded && perIndex && hasFailed {
		if _, err := countIndexes(failed, c.completions); err != nil {
			c.refuse(true, "failedIndexes", failed, "error parsing failedIndexes: "+err.Error())
		}
	}
	c.refuse(completedMoved && completed != "" && c.obj.String("spec", "completionMode") != "Indexed", "completedIndexes", completed,
		"cannot set non-empty completedIndexes when non-indexed completion mode")
	c.refuse(failedMoved && !perIndex && hasFailed, "failedIndexes", failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	if (failedMoved || completedMoved) && c.bounded && hasFailed {
		if err := indexesOverlap(completed, failed, c.completions); err != nil {
			c.refuse(true, "failedIndexes", failed, err.Error())
		}
	}
}

// pods checks the counts of pods against each other.
func (c *jobStatusChange) pods() {
	terminating, ready := c.status.Int64("terminating"), c.status.Int64("ready")
	c.refuse((c.finishedTurned() || c.moved("terminating")) && isFinished(c.obj) && terminating > 0, "terminating", terminating,
		"terminating>0 is invalid for finished job")
	c.refuse(c.moved("ready", "active") && c.status.Has("ready") && ready > c.status.Int64("active"), "ready", ready, "cannot set more ready pods than active")
}

// criteria checks what goes with the condition SuccessCriteriaMet.
func (c *jobStatusChange) criteria() {
	met := c.is("SuccessCriteriaMet")
	c.conflict(met && c.is("Failed"), "cannot set SuccessCriteriaMet=True and Failed=true conditions")
	c.conflict(met && c.is("FailureTarget"), "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	c.conflict(c.obj.Has("spec", "successPolicy") && !met && c.is("Complete"),
		"cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
}

// history checks what may not go back.
func (c *jobStatusChange) history() {
	old := c.old.At("status")
	for _, name := range []string{"Failed", "Complete", "FailureTarget"} {
		c.conflict(jobIs(c.old, name) && !c.is(name), fmt.Sprintf("cannot disable the terminal %s=True condition", name))
	}
	failed, succeeded := c.status.Int64("failed"), c.status.Int64("succeeded")
	c.refuse(failed < old.Int64("failed"), "failed", failed, "cannot decrease the failed counter")
	elastic := c.obj.String("spec", "completionMode") == "Indexed" &&
		object.SemanticEqual(c.obj.At("spec")["completions"], c.obj.At("spec")["parallelism"])
	c.refuse(!elastic && succeeded < old.Int64("succeeded"), "succeeded", succeeded, "cannot decrease the succeeded counter")
	c.refuse(c.status.Has("completionTime") && old.Has("completionTime") && c.moved("completionTime"), "completionTime",
		c.status["completionTime"], field.TextImmutable)
	resuming := jobIs(c.old, "Suspended") && jobCondition(c.obj, "Suspended", "False")
	c.refuse(old.Has("startTime") && c.moved("startTime") && !resuming && !c.obj.True("spec", "suspend"), "startTime",
		c.status["startTime"], "field is immutable for unsuspended job once set")
	was, is := jobIs(c.old, "SuccessCriteriaMet"), c.is("SuccessCriteriaMet")
	c.conflict(was && !is, "cannot disable the SuccessCriteriaMet=True condition")
	c.conflict(jobIs(c.old, "Complete") && !was && is, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
}
