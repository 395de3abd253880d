package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// absent reports whether an image of the pod cannot be pulled. Some tests use such images.
func absent(pod *core.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c core.Container) bool {
		return strings.HasSuffix(c.Image, ":404") || strings.Contains(c.Image, "doesnt-exist") || strings.Contains(c.Image, "non-existent")
	})
}

// begin makes the pod Running and Ready, or lets it wait for an image that does not exist.
func begin(pod *core.Pod, ip string) {
	s, now := &pod.Status, meta.Now()
	s.StartTime, s.HostIP = &now, "172.30.0."+strings.TrimPrefix(pod.Spec.NodeName, "node-")
	if pod.Spec.HostNetwork {
		ip = s.HostIP
	}
	s.HostIPs, s.InitContainerStatuses, s.ContainerStatuses = []core.HostIP{{IP: s.HostIP}}, nil, nil
	waiting := absent(pod)
	for _, c := range pod.Spec.InitContainers {
		state := core.ContainerState{Terminated: &core.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}}
		s.InitContainerStatuses = append(s.InitContainerStatuses, container(c, state))
	}
	for _, c := range pod.Spec.Containers {
		state := core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: now}}
		if waiting {
			state = core.ContainerState{Waiting: &core.ContainerStateWaiting{Reason: "ErrImagePull"}}
		}
		s.ContainerStatuses = append(s.ContainerStatuses, container(c, state))
	}
	s.ObservedGeneration = pod.Generation
	setCondition(s, core.PodReadyToStartContainers, core.ConditionTrue, "")
	setCondition(s, core.PodInitialized, core.ConditionTrue, "")
	if waiting {
		setCondition(s, core.ContainersReady, core.ConditionFalse, "ContainersNotReady")
		setCondition(s, core.PodReady, core.ConditionFalse, "ContainersNotReady")
		markConditions(pod)
		return
	}
	s.Phase, s.PodIP, s.PodIPs = core.PodRunning, ip, []core.PodIP{{IP: ip}}
	observe(pod)
}

func container(c core.Container, state core.ContainerState) core.ContainerStatus {
	running := state.Running != nil
	return core.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: c.Image, ContainerID: "none://" + c.Name, State: state,
		Started: &running, Ready: state.Waiting == nil}
}

// observe reports the newest generation of a running pod and its readiness gates. It returns whether there is anything new.
func observe(pod *core.Pod) bool {
	seen := pod.Status.ObservedGeneration == pod.Generation
	pod.Status.ObservedGeneration = pod.Generation
	markConditions(pod)
	return setReady(pod) || !seen
}

// markConditions sets the observed generation of all conditions to the newest one.
func markConditions(pod *core.Pod) {
	for i := range pod.Status.Conditions {
		pod.Status.Conditions[i].ObservedGeneration = pod.Generation
	}
}

// delay returns the time until the containers of a running pod are ready: the longest initial delay of their readiness probes.
func delay(pod *core.Pod) time.Duration {
	longest := int32(0)
	for _, c := range pod.Spec.Containers {
		if c.ReadinessProbe != nil {
			longest = max(longest, c.ReadinessProbe.InitialDelaySeconds)
		}
	}
	return max(0, time.Until(pod.Status.StartTime.Add(time.Duration(longest)*time.Second)))
}

// setReady sets the conditions of a running pod that is or is not ready. It reports whether that is new.
func setReady(pod *core.Pod) bool {
	state, reason := core.ConditionTrue, ""
	if delay(pod) > 0 {
		state, reason = core.ConditionFalse, "ContainersNotReady"
	}
	setCondition(&pod.Status, core.ContainersReady, state, reason)
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].Ready = state == core.ConditionTrue
	}
	for _, gate := range pod.Spec.ReadinessGates {
		if !holds(&pod.Status, gate.ConditionType) {
			state, reason = core.ConditionFalse, "ReadinessGatesNotReady"
		}
	}
	return setCondition(&pod.Status, core.PodReady, state, reason)
}

// finish ends the containers of a pod.
func finish(pod *core.Pod, exit int32) {
	s, state := &pod.Status, core.ContainerStateTerminated{ExitCode: exit, Reason: "Completed", FinishedAt: meta.Now()}
	s.Phase = core.PodSucceeded
	if exit != 0 {
		s.Phase, state.Reason = core.PodFailed, "Error"
	}
	for i := range s.ContainerStatuses {
		c := &s.ContainerStatuses[i]
		state.StartedAt, state.ContainerID = *s.StartTime, c.ContainerID
		c.Ready, c.Started, c.State = false, new(false), core.ContainerState{Terminated: new(state)}
	}
	setCondition(s, core.ContainersReady, core.ConditionFalse, "PodCompleted")
	setCondition(s, core.PodReady, core.ConditionFalse, "PodCompleted")
}

// restart starts the containers of a pod again if its policy says so after they ended.
func restart(pod *core.Pod, exit int32) bool {
	again := pod.Spec.RestartPolicy == core.RestartPolicyAlways || exit != 0 && pod.Spec.RestartPolicy == core.RestartPolicyOnFailure
	for i := range pod.Status.ContainerStatuses {
		if again {
			c, now := &pod.Status.ContainerStatuses[i], meta.Now()
			c.LastTerminationState.Terminated = &core.ContainerStateTerminated{ExitCode: exit, StartedAt: *pod.Status.StartTime, FinishedAt: now}
			c.RestartCount++
			c.ContainerID = fmt.Sprintf("none://%s-%d", c.Name, c.RestartCount)
			c.State = core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: now}}
		}
	}
	return again
}

// setCondition reports whether the condition has changed.
func setCondition(s *core.PodStatus, kind core.PodConditionType, state core.ConditionStatus, reason string) bool {
	fresh := core.PodCondition{Type: kind, Status: state, Reason: reason, LastTransitionTime: meta.Now(), ObservedGeneration: s.ObservedGeneration}
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == kind {
			changed := c.Status != state
			if changed {
				*c = fresh
			}
			return changed
		}
	}
	s.Conditions = append(s.Conditions, fresh)
	return true
}

func holds(s *core.PodStatus, kind core.PodConditionType) bool {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c.Status == core.ConditionTrue
		}
	}
	return false
}
