package apps

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// These are the annotations that a Deployment writes to its ReplicaSets (deployment/util), and related constants.
const (
	templateHash     = "pod-template-hash"
	revisionKey      = "deployment.kubernetes.io/revision"
	revisionHistory  = "deployment.kubernetes.io/revision-history"
	desiredReplicas  = "deployment.kubernetes.io/desired-replicas"
	maxReplicas      = "deployment.kubernetes.io/max-replicas"
	rollbackKey      = "deprecated.deployment.rollback.to"
	lastApplied      = "kubectl.kubernetes.io/last-applied-configuration"
	revisionChars    = 2000 // the maximum length of revision-history
	safeCharacters   = "bcdfghjklmnpqrstvwxz2456789"
	collisionsToSeed = 4 // in bytes of the encoded count
)

// revisionOf returns the revision of an object, or 0 if it has none.
func revisionOf(obj object.Object) int64 {
	n, _ := strconv.ParseInt(obj.Annotations()[revisionKey], 10, 64)
	return n
}

// number parses a non-negative number. It returns false if text is not one.
func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return n, err == nil && n >= 0
}

// revise sets the next revision on the newest ReplicaSet. If that ReplicaSet does not exist and make is set, revise creates it.
func (r *rollout) revise(make bool) {
	highest := int64(0)
	for _, s := range r.old {
		highest = max(highest, revisionOf(s.Object))
	}
	revision := strconv.FormatInt(highest+1, 10)
	switch {
	case r.newest != nil:
		r.reuse(revision)
	case make:
		r.make(revision)
	}
}

// reuse sets a revision and the annotations of the Deployment on the existing newest ReplicaSet.
func (r *rollout) reuse(revision string) {
	changed := r.annotate(r.newest.Object, revision)
	if ready := r.Object.Int64("spec", "minReadySeconds"); r.newest.Int64("spec", "minReadySeconds") != ready {
		r.newest.Set(ready, "spec", "minReadySeconds")
		changed = true
	}
	if changed {
		live, s := r.API.Update(replicaSets, "", r.newest.Object)
		if r.failed = s; s == nil {
			r.newest.Object = live
		}
		return
	}
	changed = r.takeRevision(r.newest.Annotations()[revisionKey])
	if r.hasDeadline() && r.Object.Condition("Progressing") == nil {
		r.progress("True", "FoundNewReplicaSet", fmt.Sprintf("Found new replica set %q", r.newest.Name()))
		changed = true
	}
	if changed {
		r.update()
	}
}

// make creates the ReplicaSet for the Deployment's template.
func (r *rollout) make(revision string) {
	template := object.Object(r.Object.Map("spec", "template")).Copy()
	hash := hashOf(r.template(), r.Object)
	template.Set(hash, "metadata", "labels", templateHash)
	selector := object.Object(r.Object.Map("spec", "selector")).Copy()
	selector.Set(hash, "matchLabels", templateHash)
	labels := map[string]any{}
	for name, v := range template.Map("metadata", "labels") { // order does not matter
		labels[name] = v
	}
	set := object.Object{"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": map[string]any{"name": nameOf(r.Object.Name(), hash),
		"namespace": r.Object.Namespace(), "labels": labels, "ownerReferences": []any{r.Ref()}},
		"spec": map[string]any{"selector": map[string]any(selector), "template": map[string]any(template), "minReadySeconds": r.Object.Int64("spec", "minReadySeconds")}}
	replicas := r.room(&replicaSetOf{set})
	set.Set(replicas, "spec", "replicas")
	r.annotate(set, revision)
	r.annotateSize(&replicaSetOf{set})
	made, s := r.API.Create(replicaSets, set)
	switch {
	case s == nil:
		r.newest = &replicaSetOf{made.Object()}
	case s.Reason == status.ReasonAlreadyExists:
		if r.newest = r.there(set.Name(), s); r.newest != nil && r.takeRevision(revision) {
			r.update()
		}
		return
	case workload.Terminating(s):
		r.failed = s
		return
	default:
		message := fmt.Sprintf("Failed to create new replica set %q: %s", set.Name(), s.Message)
		if r.hasDeadline() {
			r.progress("False", "ReplicaSetCreateError", message)
			r.update() // the write is needed because the status counts collisions
		}
		_ = r.API.Event(r.Object, "Warning", "ReplicaSetCreateError", message)
		r.failed = s
		return
	}
	if replicas > 0 {
		r.recordScaled(made.Name, 0, replicas)
	}
	changed := r.takeRevision(revision)
	if r.hasDeadline() {
		r.progress("True", "NewReplicaSetCreated", fmt.Sprintf("Created new replica set %q", made.Name))
		changed = true
	}
	if changed {
		r.update()
	}
}

// nameOf returns the name of a ReplicaSet. It truncates the Deployment's name if necessary.
func nameOf(deployment, hash string) string {
	return deployment[:min(len(deployment), 253-len("-")-len(hash))] + "-" + hash
}

// there returns the ReplicaSet with the given name if it exists, belongs to the Deployment and has its template; it was then not in
// the cache yet. Otherwise it increments collisionCount, so that the next attempt uses another name, and returns nil. taken is the
// error of the attempt to create it.
func (r *rollout) there(name string, taken *status.Status) *replicaSetOf {
	r.failed = taken
	set := r.API.Get(replicaSets, r.Object.Namespace(), name)
	if set == nil {
		return nil // the cache does not contain the ReplicaSet yet
	}
	if workload.ControllerOf(set).String("uid") == r.Object.UID() && object.SemanticEqual(r.template(), withoutHash(set.Map("spec", "template"))) {
		r.failed = nil
		return &replicaSetOf{set}
	}
	r.Object.Set(r.Object.Int64("status", "collisionCount")+1, "status", "collisionCount")
	r.update()
	r.failed = taken
	return nil
}

// update writes the status and the annotations of the Deployment.
func (r *rollout) update() {
	live, s := r.API.Update(deployments, "status", r.Object)
	if s != nil {
		r.failed = s
		return
	}
	r.Object = live
}

// takeRevision sets the Deployment's revision to that of its ReplicaSet, and reports whether it changed.
func (r *rollout) takeRevision(revision string) bool {
	if r.Object.Annotations()[revisionKey] == revision {
		return false
	}
	r.Object.Set(revision, "metadata", "annotations", revisionKey)
	return true
}

// annotate copies the annotations of the Deployment to a ReplicaSet. It also sets the ReplicaSet's revision, unless that is
// already at least as high. It reports whether anything changed.
func (r *rollout) annotate(set object.Object, revision string) (changed bool) {
	have := set.Annotations()
	for name, value := range r.Object.Annotations() { // order does not matter
		if !slices.Contains([]string{lastApplied, revisionKey, revisionHistory, desiredReplicas, maxReplicas, rollbackKey}, name) && have[name] != value {
			set.Set(value, "metadata", "annotations", name)
			changed = true
		}
	}
	before, had := have[revisionKey]
	was, err := strconv.ParseInt(before, 10, 64)
	if err != nil && before != "" {
		return false
	}
	next, _ := strconv.ParseInt(revision, 10, 64)
	if was >= next {
		return changed
	}
	set.Set(revision, "metadata", "annotations", revisionKey)
	if had {
		history := have[revisionHistory]
		if history != "" {
			before = history + "," + before
		}
		for len(before) > revisionChars {
			if _, rest, more := strings.Cut(before, ","); more {
				before = rest
			} else {
				break
			}
		}
		set.Set(before, "metadata", "annotations", revisionHistory)
	}
	return true
}

// annotateSize records the desired and maximum number of the Deployment's pods on a ReplicaSet, and reports whether either
// changed.
func (r *rollout) annotateSize(s *replicaSetOf) (changed bool) {
	surge, _ := r.fenceposts()
	for name, n := range map[string]int64{desiredReplicas: r.want(), maxReplicas: r.want() + surge} { // order does not matter
		if text := strconv.FormatInt(n, 10); s.Annotations()[name] != text {
			s.Set(text, "metadata", "annotations", name)
			changed = true
		}
	}
	return changed
}

// hashOf returns the value of the label pod-template-hash: the FNV-1a hash of the template's JSON and the collision count, in
// characters that cannot form words. The real controller hashes the Go representation of the template, so its values differ.
func hashOf(template map[string]any, d object.Object) string {
	h := fnv.New32a()
	h.Write(object.JSON(template))
	if n, ok := d.Int("status", "collisionCount"); ok {
		bytes := make([]byte, collisionsToSeed*2)
		for i := range collisionsToSeed {
			bytes[i] = byte(n >> (8 * i))
		}
		h.Write(bytes)
	}
	return safe(h.Sum32())
}

// rollbackTo returns the revision to roll back to from the annotation of extensions/v1beta1, or nil if there is none.
func (r *rollout) rollbackTo() *int64 {
	text, ok := r.Object.Annotations()[rollbackKey]
	if n, err := strconv.ParseInt(text, 10, 64); ok && err == nil {
		return &n
	}
	return nil
}

// rollBack restores the template of a revision. Revision 0 means the previous one.
func (r *rollout) rollBack() {
	r.revise(true)
	if r.failed != nil {
		return
	}
	want := *r.rollbackTo()
	r.Object.Remove("metadata", "annotations", rollbackKey)
	if want == 0 {
		want = r.previousRevision()
	}
	kind, reason, message := "Warning", "DeploymentRollbackRevisionNotFound", "Unable to find last revision."
	if want != 0 {
		message = "Unable to find the revision to rollback to."
		for _, s := range r.all() {
			if revisionOf(s.Object) != want {
				continue
			}
			kind, reason = "Normal", "DeploymentRollback"
			message = fmt.Sprintf("Rolled back deployment %q to revision %d", r.Object.Name(), want)
			if template := withoutHash(s.Map("spec", "template")); object.SemanticEqual(template, r.template()) {
				kind, reason = "Warning", "DeploymentRollbackTemplateUnchanged"
				message = fmt.Sprintf("The rollback revision contains the same template as current deployment %q", r.Object.Name())
			} else {
				r.Object.Set(template, "spec", "template")
			}
			break
		}
	}
	_ = r.API.Event(r.Object, kind, reason, message)
	_, r.failed = r.API.Update(deployments, "", r.Object)
}

// previousRevision returns the second-highest revision, or 0 if there is none.
func (r *rollout) previousRevision() int64 {
	var all []int64
	for _, s := range r.all() {
		all = append(all, revisionOf(s.Object))
	}
	slices.Sort(all)
	if len(all) < 2 {
		return 0
	}
	return all[len(all)-2]
}
