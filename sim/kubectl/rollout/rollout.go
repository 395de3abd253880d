// Package rollout determines the progress of a workload's rollout and the revisions of its pod template.
//
//	Deployment ─ StatusViewerFor ─▶ "Waiting for …", done
//	Deployment ─ Revisions ─▶ its ReplicaSets by number ─ Earlier ─▶ the one to go back to
package rollout

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
)

// StatusViewer returns a message about the progress of an object's rollout and reports whether the rollout is complete.
type StatusViewer func(obj object.Object) (text string, done bool, err error)

// StatusViewerFor returns the StatusViewer of a kind, or nil if it has none (polymorphichelpers.StatusViewerFor).
func StatusViewerFor(kind string) StatusViewer {
	return map[string]StatusViewer{
		"Deployment": deploymentStatus, "DaemonSet": daemonSetStatus, "StatefulSet": statefulSetStatus}[kind]
}

func deploymentStatus(obj object.Object) (string, bool, error) {
	if obj.Generation() > obj.Int64("status", "observedGeneration") {
		return "Waiting for deployment spec update to be observed...\n", false, nil
	}
	for _, cond := range obj.Objects("status", "conditions") {
		if cond.String("type") == "Progressing" && cond.String("reason") == "ProgressDeadlineExceeded" {
			return "", false, fmt.Errorf("deployment %q exceeded its progress deadline", obj.Name())
		}
	}
	status := obj.At("status")
	wanted, updated := obj.Int64("spec", "replicas"), status.Int64("updatedReplicas")
	before := fmt.Sprintf("Waiting for deployment %q rollout to finish: ", obj.Name())
	switch {
	case updated < wanted:
		return fmt.Sprintf("%s%d out of %d new replicas have been updated...\n", before, updated, wanted), false, nil
	case status.Int64("replicas") > updated:
		return fmt.Sprintf("%s%d old replicas are pending termination...\n", before, status.Int64("replicas")-updated), false, nil
	case status.Int64("availableReplicas") < updated:
		return fmt.Sprintf("%s%d of %d updated replicas are available...\n", before, status.Int64("availableReplicas"), updated), false, nil
	}
	return fmt.Sprintf("deployment %q successfully rolled out\n", obj.Name()), true, nil
}

func daemonSetStatus(obj object.Object) (string, bool, error) {
	if obj.String("spec", "updateStrategy", "type") != "RollingUpdate" {
		return "", true, fmt.Errorf("rollout status is only available for RollingUpdate strategy type")
	}
	if obj.Generation() > obj.Int64("status", "observedGeneration") {
		return "Waiting for daemon set spec update to be observed...\n", false, nil
	}
	status := obj.At("status")
	wanted, updated := status.Int64("desiredNumberScheduled"), status.Int64("updatedNumberScheduled")
	before := fmt.Sprintf("Waiting for daemon set %q rollout to finish: ", obj.Name())
	switch {
	case updated < wanted:
		return fmt.Sprintf("%s%d out of %d new pods have been updated...\n", before, updated, wanted), false, nil
	case status.Int64("numberAvailable") < wanted:
		return fmt.Sprintf("%s%d of %d updated pods are available...\n", before, status.Int64("numberAvailable"), wanted), false, nil
	}
	return fmt.Sprintf("daemon set %q successfully rolled out\n", obj.Name()), true, nil
}

func statefulSetStatus(obj object.Object) (string, bool, error) {
	if obj.String("spec", "updateStrategy", "type") != "RollingUpdate" {
		return "", true, fmt.Errorf("rollout status is only available for RollingUpdate strategy type")
	}
	if seen := obj.Int64("status", "observedGeneration"); seen == 0 || obj.Generation() > seen {
		return "Waiting for statefulset spec update to be observed...\n", false, nil
	}
	status, wanted := obj.At("status"), obj.Int64("spec", "replicas")
	if ready := status.Int64("readyReplicas"); ready < wanted {
		return fmt.Sprintf("Waiting for %d pods to be ready...\n", wanted-ready), false, nil
	}
	updated := status.Int64("updatedReplicas")
	if part, ok := obj.Int("spec", "updateStrategy", "rollingUpdate", "partition"); ok {
		if updated < wanted-part {
			return fmt.Sprintf("Waiting for partitioned roll out to finish: %d out of %d new pods have been updated...\n", updated, wanted-part), false, nil
		}
		return fmt.Sprintf("partitioned roll out complete: %d new pods have been updated...\n", updated), true, nil
	}
	if status.String("updateRevision") != status.String("currentRevision") {
		return fmt.Sprintf("waiting for statefulset rolling update to complete %d pods at revision %s...\n", updated, status.String("updateRevision")), false, nil
	}
	return fmt.Sprintf("statefulset rolling update complete %d pods at revision %s...\n", status.Int64("currentReplicas"), status.String("currentRevision")), true, nil
}

// Revision is a revision of a workload's pod template.
type Revision struct {
	Number int64
	Cause  string
	Object object.Object // the ReplicaSet or ControllerRevision
}

// Revisions returns the revisions of a workload, oldest first: the ReplicaSets of a Deployment, and the
// ControllerRevisions of any other workload.
func Revisions(r client.Reader, info *client.Info) ([]Revision, error) {
	resource := "controllerrevisions.apps"
	if info.Mapping.Kind == "Deployment" {
		resource = "replicasets.apps"
	}
	_, items, err := client.List(r, resource, info.Namespace, "labelSelector", client.LabelSelector(info.Object.Map("spec", "selector")))
	if err != nil {
		return nil, err
	}
	var out []Revision
	for _, obj := range items {
		if !client.IsOwnedBy(obj, info.Object) {
			continue
		}
		r := Revision{Number: obj.Int64("revision"), Cause: obj.Annotations()["kubernetes.io/change-cause"], Object: obj}
		if info.Mapping.Kind == "Deployment" {
			r.Number, _ = strconv.ParseInt(obj.Annotations()["deployment.kubernetes.io/revision"], 10, 64)
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Revision) int { return int(a.Number - b.Number) })
	return out, nil
}

// Template returns the pod template of the revision.
func (r *Revision) Template() map[string]any {
	if t := r.Object.Map("data", "spec", "template"); t != nil {
		return t
	}
	return r.Object.Map("spec", "template")
}

// Earlier returns the revision to which the workload obj rolls back: the one with number n, or the previous one if n is 0. list must
// be sorted, oldest first. If there is no such revision, Earlier returns kubectl's error.
func Earlier(obj object.Object, list []Revision, n int64) (*Revision, error) {
	if n == 0 {
		if len(list) < 2 && obj.Kind() == "Deployment" {
			return nil, fmt.Errorf("no rollout history found for deployment %q", obj.Name())
		}
		if len(list) < 2 {
			return nil, fmt.Errorf("no last revision to roll back to")
		}
		return &list[len(list)-2], nil
	}
	for i := range list {
		if list[i].Number == n {
			return &list[i], nil
		}
	}
	return nil, fmt.Errorf("unable to find specified revision %d in history", n)
}
