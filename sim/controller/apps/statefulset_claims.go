package apps

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// claimNames returns the names of a replica's volumes and of their claims, in the order of the claim templates.
func (s *statefulSet) claimNames(r *replica) (volumes, claims []string) {
	for _, t := range s.Object.Objects("spec", "volumeClaimTemplates") {
		volumes = append(volumes, t.Name())
		claims = append(claims, t.Name()+"-"+s.Object.Name()+"-"+strconv.FormatInt(r.ordinal, 10))
	}
	return volumes, claims
}

// stored reports whether a pod has the volumes for all its claims.
func (s *statefulSet) stored(r *replica) bool {
	volumes, claims := s.claimNames(r)
	for i, volume := range volumes {
		if r.Claims[volume] != claims[i] {
			return false
		}
	}
	return true
}

// mount sets the volumes for a pod's claims, and replaces volumes with the same names.
func (s *statefulSet) mount(pod object.Object, r *replica) {
	names, claims := s.claimNames(r)
	if len(names) == 0 {
		return
	}
	var volumes []any
	for i, name := range names {
		volumes = append(volumes, map[string]any{"name": name, "persistentVolumeClaim": map[string]any{"claimName": claims[i]}})
	}
	for _, v := range pod.List("spec", "volumes") {
		if !slices.Contains(names, object.As(v).String("name")) {
			volumes = append(volumes, v)
		}
	}
	pod.Set(volumes, "spec", "volumes")
}

// claim returns the named claim, or nil.
func (s *statefulSet) claim(name string) object.Object {
	return s.API.Get(persistentClaims, s.Object.Namespace(), name)
}

// createClaims creates the missing claims of a replica. It returns an error if a claim is being deleted. Therefore a set whose
// whenScaled is Delete may lack a pod after it is scaled down and immediately up again, until another change occurs. With
// kube-controller-manager 1.36.3 this also happens, but not always.
func (s *statefulSet) createClaims(r *replica) *status.Status {
	var wrong []string
	_, names := s.claimNames(r)
	for i, name := range names {
		there := s.claim(name)
		if there != nil {
			if there.DeletionTimestamp() != "" {
				wrong = append(wrong, "pvc "+name+" is being deleted")
			}
			continue
		}
		_, failed := s.API.Create(persistentClaims, s.claimOf(i, name))
		if failed != nil {
			wrong = append(wrong, "failed to create PVC "+name+": "+failed.Message)
		}
		if failed == nil || failed.Reason != status.ReasonAlreadyExists {
			action := fmt.Sprintf("Create Claim %s Pod %s in StatefulSet %s", name, r.name, s.Object.Name())
			if failed != nil {
				action = fmt.Sprintf("Create Claim %s for Pod %s in StatefulSet %s", name, r.name, s.Object.Name())
			}
			s.recordEvent("Create", action, "success", failed)
		}
	}
	switch len(wrong) {
	case 0:
		return nil
	case 1:
		return status.Plain("%s", wrong[0])
	}
	return status.Plain("[%s]", strings.Join(wrong, ", "))
}

// claimOf returns a new claim from a claim template, which the caller has to create.
func (s *statefulSet) claimOf(template int, name string) object.Object {
	t := s.Object.Objects("spec", "volumeClaimTemplates")[template].Copy()
	meta := map[string]any{"name": name, "namespace": s.Object.Namespace()}
	if notes := t.Map("metadata", "annotations"); len(notes) > 0 {
		meta["annotations"] = notes
	}
	claim := object.Object{"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": meta, "spec": t.Map("spec")}
	for _, labels := range []map[string]any{t.Map("metadata", "labels"), s.Object.Map("spec", "selector", "matchLabels")} {
		for label, value := range labels { // order does not matter
			claim.Set(value, "metadata", "labels", label)
		}
	}
	return claim
}

// deleted reports whether the retention policy for whenScaled or whenDeleted is Delete.
func (s *statefulSet) deleted(when string) bool {
	return s.Object.String("spec", "persistentVolumeClaimRetentionPolicy", when) == "Delete"
}

// retention returns the desired owners of a replica's claims.
func (s *statefulSet) retention(r *replica) retention {
	scaledDown := r.ordinal < s.start() || r.ordinal >= s.start()+s.want()
	x := retention{set: owner{"apps/v1", "StatefulSet", s.Object.Name(), s.Object.UID()}, pod: owner{"v1", "Pod", r.name, ""},
		policy: s.deleted("whenScaled") || s.deleted("whenDeleted"), toPod: s.deleted("whenScaled") && scaledDown}
	if r.Pod != nil {
		x.pod.uid = r.UID
	}
	x.toSet = s.deleted("whenDeleted") && !x.toPod
	return x
}

// stale reports whether a claim of a missing pod belongs to the pod's predecessor and will be deleted with it.
func (s *statefulSet) stale(r *replica) bool {
	if !s.deleted("whenScaled") {
		return false
	}
	_, names := s.claimNames(r)
	return slices.ContainsFunc(names, func(name string) bool { return s.retention(r).pod.changed(s.claim(name)) })
}

// claimsMatch reports whether the claims of a replica have the owners that the retention policy requires.
func (s *statefulSet) claimsMatch(r *replica) bool {
	_, names := s.claimNames(r)
	return !slices.ContainsFunc(names, func(name string) bool {
		claim := s.claim(name)
		return claim != nil && !s.retention(r).matches(claim)
	})
}

// updateClaims sets the owners of a replica's claims according to the retention policy.
func (s *statefulSet) updateClaims(r *replica) *status.Status {
	_, names := s.claimNames(r)
	to := s.retention(r)
	for _, name := range names {
		claim := s.claim(name)
		if claim == nil {
			continue
		}
		if to.conflict(claim) {
			_ = s.API.Event(s.Object, "Warning", "ConflictingController", "PersistentVolumeClaim "+name+
				" has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim")
		}
		if to.matches(claim) {
			continue
		}
		to.apply(claim)
		if _, failed := s.API.Update(persistentClaims, "", claim); failed != nil {
			failed.Message = fmt.Sprintf("could not update claim %s for delete policy ownerRefs: %s", name, failed.Message)
			return failed
		}
	}
	return nil
}

// retention specifies which of two possible owners, the set and the pod, own a claim (KEP-1847).
type retention struct {
	set, pod     owner
	policy       bool // the set has a retention policy other than keeping all claims
	toSet, toPod bool
}

// owner is a possible owner of a claim.
type owner struct{ apiVersion, kind, name, uid string }

// named reports whether a reference has the owner's kind and name. Its UID may be that of a predecessor.
func (o owner) named(ref object.Object) bool {
	return ref.String("apiVersion") == o.apiVersion && ref.String("kind") == o.kind && ref.String("name") == o.name
}

// owns reports whether a claim has a reference to the owner.
func (o owner) owns(claim object.Object) bool {
	return slices.ContainsFunc(claim.Objects("metadata", "ownerReferences"), func(ref object.Object) bool { return ref.String("uid") == o.uid })
}

// changed reports whether a claim refers to a different object with the owner's name.
func (o owner) changed(claim object.Object) bool {
	for _, ref := range claim.Objects("metadata", "ownerReferences") {
		if o.named(ref) {
			return ref.String("uid") != o.uid
		}
	}
	return false
}

// conflict reports whether a claim has a controller other than the set and the pod, or an owner with the name but not the UID of
// either.
func (t retention) conflict(claim object.Object) bool {
	return t.policy && slices.ContainsFunc(claim.Objects("metadata", "ownerReferences"), func(ref object.Object) bool {
		switch uid := ref.String("uid"); {
		case t.set.named(ref):
			return uid != t.set.uid
		case t.pod.named(ref):
			return uid != t.pod.uid
		}
		return ref.True("controller")
	})
}

// matches reports whether a claim has the desired owners, or owners that must not be changed.
func (t retention) matches(claim object.Object) bool {
	set, pod := t.set.owns(claim), t.pod.owns(claim)
	switch {
	case t.set.changed(claim), t.pod.changed(claim):
		return true
	case t.conflict(claim):
		return !set && !pod
	}
	for _, ref := range claim.Objects("metadata", "ownerReferences") {
		if uid := ref.String("uid"); (uid == t.set.uid || uid == t.pod.uid) && !ref.True("controller") {
			return false
		}
	}
	return set == t.toSet && pod == t.toPod
}

// apply sets the owners of a claim. If the claim has a conflicting controller, it only removes the set and the pod.
func (t retention) apply(claim object.Object) {
	conflict := t.conflict(claim)
	refs := slices.DeleteFunc(claim.List("metadata", "ownerReferences"), func(v any) bool {
		ref := object.As(v)
		return t.set.named(ref) || t.pod.named(ref)
	})
	for _, o := range []struct {
		owner
		owns bool
	}{{t.set, t.toSet}, {t.pod, t.toPod}} {
		if o.owns && !conflict {
			refs = append(refs, map[string]any{"apiVersion": o.apiVersion, "kind": o.kind, "name": o.name, "uid": o.uid,
				"controller": true, "blockOwnerDeletion": true})
		}
	}
	if claim.Remove("metadata", "ownerReferences"); len(refs) > 0 {
		claim.Set(refs, "metadata", "ownerReferences")
	}
}
