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

// The annotations that a Deployment writes to its ReplicaSets (deployment/util).
const (
	templateHash     = "pod-template-hash"
	revisionKey      = "deployment.kubernetes.io/revision"
	revisionHistory  = "deployment.kubernetes.io/revision-history"
	desiredReplicas  = "deployment.kubernetes.io/desired-replicas"
	maxReplicas      = "deployment.kubernetes.io/max-replicas"
	rollbackKey      = "deprecated.deployment.rollback.to"
	lastApplied      = "kubectl.kubernetes.io/last-applied-configuration"
	revisionChars    = 2000 // of revision-history
	safeCharacters   = "bcdfghjklmnpqrstvwxz2456789"
	collisionsToSeed = 4 // bytes
)

// revisionOf returns the revision of an object, 0 if it has none.
func revisionOf(obj object.Object) int64 {
	n, _ := strconv.ParseInt(obj.Annotations()[revisionKey], 10, 64)
	return n
}

// number reads a number that is not negative.
func number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return n, err == nil && n >= 0
}

// revise gives the newest ReplicaSet the next revision, and makes it where there is none and make says so.
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

// reuse gives a ReplicaSet that is there the annotations of the Deployment and a revision.
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

// make makes the ReplicaSet of the Deployment's template.
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
			r.update() // the failure to make it counts
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

// nameOf is the name of a ReplicaSet; that of its Deployment is cut where it is too long.
func nameOf(deployment, hash string) string {
	return deployment[:min(len(deployment), 253-len("-")-len(hash))] + "-" + hash
}

// there returns the ReplicaSet that has a name already, if it is the Deployment's and of its template: one that the cache did not
// know. That another has it is counted, so that the next attempt tries another name.
func (r *rollout) there(name string, taken *status.Status) *replicaSetOf {
	r.failed = taken
	set := r.API.Get(replicaSets, r.Object.Namespace(), name)
	if set == nil {
		return nil // the cache has yet to know it
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

// update writes the status of the Deployment, with its annotations.
func (r *rollout) update() {
	live, s := r.API.Update(deployments, "status", r.Object)
	if s != nil {
		r.failed = s
		return
	}
	r.Object = live
}

// takeRevision gives the Deployment the revision of its ReplicaSet, and reports whether it had another.
func (r *rollout) takeRevision(revision string) bool {
	if r.Object.Annotations()[revisionKey] == revision {
		return false
	}
	r.Object.Set(revision, "metadata", "annotations", revisionKey)
	return true
}

// annotate gives a ReplicaSet the annotations of the Deployment and a revision, where its own is not higher. It reports
// whether anything changed.
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

// annotateSize notes on a ReplicaSet how many pods the Deployment wants and may have, and reports whether that changed.
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

// hashOf is the value of the label pod-template-hash: FNV-1a of the template's JSON, and of how often that was taken, in
// characters that make no words. The real one hashes how Go prints the template, and so has other values.
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

// rollbackTo returns the revision to roll back to, as the annotation of extensions/v1beta1 names it, or nil if there is none.
func (r *rollout) rollbackTo() *int64 {
	text, ok := r.Object.Annotations()[rollbackKey]
	if n, err := strconv.ParseInt(text, 10, 64); ok && err == nil {
		return &n
	}
	return nil
}

// rollBack gives the Deployment the template of a revision; 0 is the one before the newest.
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

// previousRevision is the highest but one.
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
