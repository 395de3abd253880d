package core

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// podSummary is the summary of a pod's containers in a Table row.
type podSummary struct {
	ready, total int
	status       string
	restarts     int64
	lastRestart  time.Time
}

func podRow(now time.Time, obj object.Object) resource.Row {
	s := summarize(obj)
	restarts := strconv.FormatInt(s.restarts, 10)
	if s.restarts != 0 && !s.lastRestart.IsZero() {
		restarts += " (" + codec.Age(now, s.lastRestart) + " ago)"
	}
	row := table.Row(obj.Name(), fmt.Sprintf("%d/%d", s.ready, s.total), s.status, restarts, table.AgeCell(now, obj),
		cmp.Or(podIP(obj), table.None), cmp.Or(obj.String("spec", "nodeName"), table.None),
		cmp.Or(obj.String("status", "nominatedNodeName"), table.None), cellReadinessGates(obj))
	row.Conditions = completed(obj.String("status", "phase"))
	return row
}

// completed returns the conditions of a row. They enable clients to hide finished pods.
func completed(phase string) []any {
	text, ok := map[string]string{"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}[phase]
	if !ok {
		return nil
	}
	return []any{map[string]any{"type": "Completed", "status": "True", "reason": phase, "message": text}}
}

// cellReadinessGates returns the number of readiness gates whose condition is true, as in "1/2".
func cellReadinessGates(obj object.Object) string {
	gates := obj.Objects("spec", "readinessGates")
	if len(gates) == 0 {
		return table.None
	}
	met := 0
	for _, gate := range gates {
		if obj.Condition(gate.String("conditionType")).String("status") == "True" {
			met++
		}
	}
	return fmt.Sprintf("%d/%d", met, len(gates))
}

// summarize combines the states of all containers into the status that kubectl get shows.
func summarize(obj object.Object) podSummary {
	phase := obj.String("status", "phase")
	s := podSummary{status: cmp.Or(obj.String("status", "reason"), phase), total: len(obj.List("spec", "containers"))}
	for _, c := range obj.Objects("status", "conditions") {
		if c.String("type") == "PodScheduled" && c.String("reason") == "SchedulingGated" {
			s.status = "SchedulingGated"
		}
	}
	var sidecars []string
	for _, c := range obj.Objects("spec", "initContainers") {
		if podspec.IsSidecar(c) {
			sidecars = append(sidecars, c.String("name"))
		}
	}
	s.total += len(sidecars)
	initializing := s.initContainers(obj, sidecars)
	if !initializing || obj.Condition("Initialized").String("status") == "True" {
		s.containers(obj, sidecars)
	}
	if obj.DeletionTimestamp() != "" {
		if obj.String("status", "reason") == "NodeLost" {
			s.status = "Unknown"
		} else if phase != "Succeeded" && phase != "Failed" {
			s.status = "Terminating"
		}
	}
	return s
}

// countRestarts adds the restarts of a container to the summary.
func (s *podSummary) countRestarts(c object.Object) {
	s.restarts += c.Int64("restartCount")
	at, err := time.Parse(time.RFC3339, c.String("lastState", "terminated", "finishedAt"))
	if err == nil && at.After(s.lastRestart) {
		s.lastRestart = at
	}
}

// initContainers processes the init containers in order. If one of them is not done, it sets the status accordingly and returns
// true.
func (s *podSummary) initContainers(obj object.Object, sidecars []string) (initializing bool) {
	for i, c := range obj.Objects("status", "initContainerStatuses") {
		s.countRestarts(c)
		ended := c.At("state", "terminated")
		waiting := c.String("state", "waiting", "reason")
		switch {
		case ended != nil && ended.Int64("exitCode") == 0:
			continue
		case slices.Contains(sidecars, c.String("name")) && c.True("started"):
			if c.True("ready") {
				s.ready++
			}
			continue
		case ended != nil:
			s.status = "Init:" + endReason(ended)
		case waiting != "" && waiting != "PodInitializing":
			s.status = "Init:" + waiting
		default:
			s.status = fmt.Sprintf("Init:%d/%d", i, len(obj.List("spec", "initContainers")))
		}
		return true
	}
	return false
}

// endReason returns the reason why a container terminated.
func endReason(ended object.Object) string {
	if reason := ended.String("reason"); reason != "" {
		return reason
	}
	if signal := ended.Int64("signal"); signal != 0 {
		return fmt.Sprintf("Signal:%d", signal)
	}
	return fmt.Sprintf("ExitCode:%d", ended.Int64("exitCode"))
}

// containers processes the regular containers from the last to the first. The first container with a problem determines the
// status. The restarts of sidecars are counted, but those of other init containers no longer are.
func (s *podSummary) containers(obj object.Object, sidecars []string) {
	s.restarts, s.lastRestart = 0, time.Time{}
	for _, c := range obj.Objects("status", "initContainerStatuses") {
		if slices.Contains(sidecars, c.String("name")) {
			s.countRestarts(c)
		}
	}
	running, failure := false, ""
	list := obj.Objects("status", "containerStatuses")
	for _, c := range slices.Backward(list) {
		s.countRestarts(c)
		ended := c.At("state", "terminated")
		switch waiting := c.String("state", "waiting", "reason"); {
		case waiting != "":
			s.status = waiting
		case ended != nil:
			if s.status = endReason(ended); ended.Int64("exitCode") != 0 {
				failure = s.status
			}
		case c.True("ready") && c.Has("state", "running"):
			running = true
			s.ready++
		}
	}
	if s.status != "Completed" {
		return
	}
	switch {
	case running && kind.HasCondition(obj, "Ready", "True"):
		s.status = "Running"
	case failure != "":
		s.status = failure
	case running:
		s.status = "NotReady"
	}
}
