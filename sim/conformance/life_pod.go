package conformance

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// deleted reports whether an object is being deleted.
func (o *Object) deleted() bool { return valueAt(o, "metadata", "deletionTimestamp") != nil }

func pathOf(pod *Object) string {
	return "/api/v1/namespaces/" + textAt(pod, "metadata", "namespace") + "/pods/" + textAt(pod, "metadata", "name")
}

// ownerOf returns the uid of a pod's first owner, or the pod's own uid if it has no owner.
func ownerOf(pod *Object) string {
	if owners := itemsAt(pod, "metadata", "ownerReferences"); len(owners) > 0 {
		return textAt(owners[0], "uid")
	}
	return textAt(pod, "metadata", "uid")
}

// ordinal returns the key by which pods of the same owner are sorted: the name without a generated suffix, and the
// node.
func ordinal(pod *Object) string {
	return cmp.Or(textAt(pod, "metadata", "generateName"), textAt(pod, "metadata", "name")) + " " + textAt(pod, "spec", "nodeName")
}

// condition returns a condition of an object, or nil.
func condition(obj *Object, kind string) *Object {
	for _, c := range itemsAt(obj, "status", "conditions") {
		if c, ok := c.(*Object); ok && c.Get("type") == kind {
			return c
		}
	}
	return nil
}

// silent reports whether a node should not send heartbeats.
func silent(node *Object) bool { return valueAt(node, "metadata", "annotations", "play") == "silent" }

// hasLabels reports whether an object has the labels a=b,c=d.
func hasLabels(obj *Object, labels string) bool {
	for label := range strings.SplitSeq(labels, ",") {
		name, value, _ := strings.Cut(label, "=")
		if valueAt(obj, "metadata", "labels", name) != value {
			return false
		}
	}
	return true
}

// code returns the exit code of a pod from a list such as "0,1". If the list has several codes, the pod's completion
// index selects one.
func code(pod *Object, codes string) int {
	all := strings.Split(codes, ",")
	i, _ := strconv.Atoi(textAt(pod, "metadata", "annotations", "batch.kubernetes.io/job-completion-index"))
	n, _ := strconv.Atoi(all[min(i, len(all)-1)])
	return n
}

func containerNames(pod *Object) (names []string) {
	for _, c := range itemsAt(pod, "spec", "containers") {
		names = append(names, textAt(c, "name"))
	}
	return names
}

// restarts returns the restart count of the first container.
func restarts(pod *Object) int {
	for _, c := range itemsAt(pod, "status", "containerStatuses") {
		if n, ok := c.(*Object).Get("restartCount").(Int); ok {
			count, _ := strconv.Atoi(string(n))
			return count
		}
	}
	return 0
}

// containers returns the status members for a pod whose containers all run, preceded by the given members.
func containers(pod *Object, ready bool, restarts int, before string) string {
	states := make([]string, 0, 1)
	for _, name := range containerNames(pod) {
		states = append(states, fmt.Sprintf(`{"name": %q, "image": "i", "imageID": "i", "ready": %t, "started": true, "restartCount": %d, `+
			`"state": {"running": {"startedAt": %q}}}`, name, ready, restarts, now()))
	}
	return before + `"containerStatuses": [` + strings.Join(states, ", ") + `]`
}

// readiness returns the status members that set the readiness of a running pod.
func readiness(pod *Object, ready bool) string {
	return containers(pod, ready, restarts(pod), `"conditions": [`+conditionOf("ContainersReady", text(ready))+`, `+
		conditionOf("Ready", text(ready))+`], `)
}

func conditionOf(kind, status string) string {
	return `{"type": "` + kind + `", "status": "` + status + `", "lastTransitionTime": "` + now() + `"}`
}

func text(ready bool) string {
	if ready {
		return "True"
	}
	return "False"
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000Z") }

// wait waits for d. It returns false if ctx is done first.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
