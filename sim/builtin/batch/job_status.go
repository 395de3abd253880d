package batch

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// jobStatus is the status of a Job that is being updated. Most rules apply only if the fields that they check have
// changed, so that a Job that already breaks them can still be updated (KEP-4368).
type jobStatus struct {
	field.Cursor
	obj, old    object.Object
	conditions  field.Cursor // cursor without a value, because errors do not contain it
	completions int64
	bounded     bool // spec.completions is set
}

func validateJobStatus(_ *resource.Context, all field.Cursor) {
	at := all.Child("status")
	s := jobStatus{Cursor: at, obj: all.Object(), old: all.Old(), conditions: at.Child("conditions").With(field.Omit)}
	s.completions, s.bounded = s.obj.Int("spec", "completions")
	kind.NonNegative(at, "active", "succeeded", "failed", "ready", "terminating")
	s.validateUncounted()
	s.validateCompletion()
	s.validateFinished()
	s.validateIndexes()
	s.validatePods()
	s.validateCriteria()
	s.validateHistory()
}

// is reports whether the given condition is True in the new object.
func (s *jobStatus) is(condition string) bool { return jobIs(s.obj, condition) }

// turned reports whether one of the given conditions changed to or from True.
func (s *jobStatus) turned(conditions ...string) bool {
	return slices.ContainsFunc(conditions, func(name string) bool { return jobIs(s.obj, name) != jobIs(s.old, name) })
}

// moved reports whether one of the named fields of the status changed.
func (s *jobStatus) moved(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return s.Child(name).Changed() })
}

// isFinished reports whether the condition Complete or Failed is True.
func isFinished(obj object.Object) bool { return jobIs(obj, "Complete") || jobIs(obj, "Failed") }

func (s *jobStatus) finishedTurned() bool { return isFinished(s.obj) != isFinished(s.old) }

func (s *jobStatus) validateUncounted() {
	seen := field.Seen{}
	for _, list := range []string{"succeeded", "failed"} {
		for uid := range s.Each("uncountedTerminatedPods", list) {
			switch text := uid.String(); {
			case text == "":
				uid.Invalid(text, "must not be empty")
			case seen.Again(text):
				uid.Duplicate(text)
			}
		}
	}
}

// validateCompletion checks the rules for the condition Complete.
func (s *jobStatus) validateCompletion() {
	complete, start, end := s.is("Complete"), s.Child("startTime"), s.Child("completionTime")
	s.conditions.InvalidIf(s.turned("Complete", "Failed") && complete && s.is("Failed"), "cannot set Complete=True and Failed=true conditions")
	s.conditions.InvalidIf(s.turned("Complete", "FailureTarget") && complete && s.is("FailureTarget"), "cannot set Complete=True and FailureTarget=true conditions")
	if s.turned("Complete") || end.Changed() {
		end.InvalidIf(end.Has() && !complete, "cannot set completionTime when there is no Complete=True condition")
		end.RequireIf(!end.Has() && complete, "completionTime is required for Complete jobs")
	}
	end.InvalidIf((start.Changed() || end.Changed()) && timeBefore(end.String(), start.String()), "must be equal to or after `startTime`")
	s.conditions.InvalidIf((s.turned("Failed") || s.moved("failedIndexes")) && s.is("Failed") && !s.is("FailureTarget"),
		"cannot set Failed=True condition without the FailureTarget=true condition")
	s.conditions.InvalidIf(s.turned("Complete", "SuccessCriteriaMet") && complete && !s.is("SuccessCriteriaMet"),
		"cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
}

// timeBefore reports whether time a is before time b.
func timeBefore(a, b string) bool {
	ta, errA := time.Parse(time.RFC3339, a)
	tb, errB := time.Parse(time.RFC3339, b)
	return errA == nil && errB == nil && ta.Before(tb)
}

// validateFinished checks that a Complete or Failed Job has a startTime, and that it does not have certain other fields.
func (s *jobStatus) validateFinished() {
	if !isFinished(s.obj) {
		return
	}
	active, start, pods := s.Child("active"), s.Child("startTime"), s.Child("uncountedTerminatedPods")
	active.InvalidIf((s.finishedTurned() || active.Changed()) && active.Int64() > 0, "active>0 is invalid for finished job")
	neverRan := s.obj.True("spec", "suspend") && s.bounded && s.completions == 0
	start.RequireIf((s.finishedTurned() || start.Changed()) && !neverRan && !start.Has(), "startTime is required for finished job")
	kind.InvalidStructIf(pods, (s.finishedTurned() || pods.Changed()) && pods.Len("succeeded")+pods.Len("failed") > 0,
		gotext.UncountedTerminatedPods, "must be empty for finished job")
}

// validateIndexes checks the lists of indexes of an Indexed Job.
func (s *jobStatus) validateIndexes() {
	completed, failed := s.Child("completedIndexes"), s.Child("failedIndexes")
	perIndex := s.obj.Has("spec", "backoffLimitPerIndex")
	if _, err := countIndexes(completed.String(), s.completions); err != nil && completed.Changed() && s.bounded {
		completed.Invalid(completed.String(), "error parsing completedIndexes: "+err.Error())
	}
	if _, err := countIndexes(failed.String(), s.completions); err != nil && failed.Changed() && s.bounded && perIndex {
		failed.Invalid(failed.String(), "error parsing failedIndexes: "+err.Error())
	}
	completed.InvalidIf(completed.Changed() && completed.String() != "" && s.obj.String("spec", "completionMode") != "Indexed",
		"cannot set non-empty completedIndexes when non-indexed completion mode")
	failed.InvalidIf(failed.Changed() && failed.Has() && !perIndex, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	if (failed.Changed() || completed.Changed()) && s.bounded && failed.Has() {
		failed.CheckError(indexesOverlap(completed.String(), failed.String(), s.completions))
	}
}

// validatePods checks the counts of pods.
func (s *jobStatus) validatePods() {
	terminating, ready := s.Child("terminating"), s.Child("ready")
	terminating.InvalidIf((s.finishedTurned() || terminating.Changed()) && isFinished(s.obj) && terminating.Int64() > 0,
		"terminating>0 is invalid for finished job")
	ready.InvalidIf(s.moved("ready", "active") && ready.Int64() > s.Int64("active") && ready.Has(), "cannot set more ready pods than active")
}

// validateCriteria checks the rules for the condition SuccessCriteriaMet.
func (s *jobStatus) validateCriteria() {
	met := s.is("SuccessCriteriaMet")
	s.conditions.InvalidIf(met && s.is("Failed"), "cannot set SuccessCriteriaMet=True and Failed=true conditions")
	s.conditions.InvalidIf(met && s.is("FailureTarget"), "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	s.conditions.InvalidIf(s.obj.Has("spec", "successPolicy") && !met && s.is("Complete"),
		"cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
}

// validateHistory checks that terminal conditions, counters and timestamps are not reverted.
func (s *jobStatus) validateHistory() {
	was, spec := s.Old(), s.obj.At("spec")
	for _, name := range []string{"Failed", "Complete", "FailureTarget"} {
		s.conditions.InvalidIf(jobIs(s.old, name) && !s.is(name), fmt.Sprintf("cannot disable the terminal %s=True condition", name))
	}
	failed, succeeded, start, end := s.Child("failed").OrZero(), s.Child("succeeded").OrZero(), s.Child("startTime"), s.Child("completionTime")
	failed.Min(was.Int64("failed"), "cannot decrease the failed counter")
	elastic := spec.String("completionMode") == "Indexed" && object.SemanticEqual(spec["completions"], spec["parallelism"])
	succeeded.InvalidIf(!elastic && succeeded.Int64() < was.Int64("succeeded"), "cannot decrease the succeeded counter")
	end.InvalidIf(end.Has() && was.Has("completionTime") && end.Changed(), field.TextImmutable)
	resuming := jobIs(s.old, "Suspended") && kind.HasCondition(s.obj, "Suspended", "False")
	start.InvalidIf(was.Has("startTime") && start.Changed() && !resuming && !spec.True("suspend"), "field is immutable for unsuspended job once set")
	met := s.is("SuccessCriteriaMet")
	s.conditions.InvalidIf(jobIs(s.old, "SuccessCriteriaMet") && !met, "cannot disable the SuccessCriteriaMet=True condition")
	s.conditions.InvalidIf(jobIs(s.old, "Complete") && !jobIs(s.old, "SuccessCriteriaMet") && met,
		"cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
}
