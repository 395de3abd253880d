// Package resource implements the controllers of resource.k8s.io (dynamic resource allocation).
//
//	pod ─ ResourceClaims ─▶ claim from a template ─ scheduler ─▶ allocated, reserved for the pod
//	                                                                │ the pod has ended
//	         deleted, if it was generated ◀─ deallocated ◀──────────┘
//
//	ResourceSlice, DeviceTaintRule: a taint with NoExecute ─ DeviceTaintEviction ─▶ the pods of the device are deleted
package resource

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/devices"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	// claimPrefix precedes the name in the key of a claim. The key of a pod has no prefix.
	claimPrefix = "claim:"
	// podClaimName is the annotation of a generated claim with the name of the pod's entry for it.
	podClaimName = "resource.kubernetes.io/pod-claim-name"
	// claimManager is the field manager of the names of generated claims in the status of pods.
	claimManager = "ResourceClaimController"
)

// ResourceClaims creates claims from templates, removes the reservations of pods that have ended, and deallocates claims that are no
// longer reserved (pkg/controller/resourceclaim).
func ResourceClaims() controller.Controller {
	g := &generator{}
	c := controller.Account("resourceclaim-controller", "resource-claim-controller", g,
		controller.Watch{Resource: workload.Pods, Keys: podWritten},
		controller.Watch{Resource: devices.Claims, Keys: func(api *controller.Client, c *commit.Commit) []controller.Key {
			keys := podsWith(api, c.Namespace, func(pod object.Object) bool { return slices.Contains(claimNames(pod), c.Name) })
			if !c.Deleted() {
				keys = append(keys, claimKey(c.Namespace, c.Name))
			}
			return keys
		}},
		controller.Watch{Resource: devices.Templates, Keys: func(api *controller.Client, c *commit.Commit) []controller.Key {
			if c.Deleted() {
				return nil
			}
			return podsWith(api, c.Namespace, func(pod object.Object) bool {
				return slices.ContainsFunc(pod.Objects("spec", "resourceClaims"), func(r object.Object) bool {
					return r.String("resourceClaimTemplateName") == c.Name
				})
			})
		}})
	c.Component = "resource_claim"
	return c
}

func claimKey(namespace, name string) controller.Key {
	return controller.Key{Namespace: namespace, Name: claimPrefix + name}
}

// podsWith returns the keys of the pods in a namespace that use resource claims and match a condition.
func podsWith(api *controller.Client, namespace string, matches func(pod object.Object) bool) (keys []controller.Key) {
	api.Items(workload.Pods, namespace, func(it *resource.Item) bool {
		if workload.PodOf(it).UsesResourceClaims && matches(it.Shared()) {
			keys = append(keys, controller.Key{Namespace: it.Namespace, Name: it.Name})
		}
		return true
	})
	return keys
}

// claimName returns the name of the claim for an entry of a pod's resourceClaims. If it has not been generated yet, or is not
// needed, found is false (resourceclaim.Name).
func claimName(pod, entry object.Object) (name string, generated, found bool) {
	if name = entry.String("resourceClaimName"); name != "" {
		return name, false, true
	}
	for _, s := range pod.Objects("status", "resourceClaimStatuses") {
		if s.String("name") == entry.String("name") {
			name = s.String("resourceClaimName")
			return name, true, name != ""
		}
	}
	return "", true, false
}

// claimNames returns the names of the existing claims of a pod, and of the one for its extended resources (resourceclaim.PodClaims).
func claimNames(pod object.Object) (names []string) {
	for _, entry := range pod.Objects("spec", "resourceClaims") {
		if name, _, found := claimName(pod, entry); found {
			names = append(names, name)
		}
	}
	if name := pod.String("status", "extendedResourceClaimStatus", "resourceClaimName"); name != "" {
		names = append(names, name)
	}
	return names
}

// isOwned reports whether a claim was generated for a pod (resourceclaim.IsForPod).
func isOwned(claim, pod object.Object) bool {
	return workload.ControllerOf(claim).String("uid") == pod.UID()
}

// isDone reports whether a pod does not need its claims: it has ended, or was deleted before it had a node.
func isDone(pod object.Object) bool {
	phase := pod.String("status", "phase")
	return phase == "Succeeded" || phase == "Failed" || pod.DeletionTimestamp() != "" && pod.String("spec", "nodeName") == ""
}

// podWritten returns the keys of a pod and, if it does not need its claims any more, of these claims.
func podWritten(_ *controller.Client, c *commit.Commit) (keys []controller.Key) {
	it := c.Item()
	if it == nil || !workload.PodOf(it).UsesResourceClaims {
		return nil
	}
	pod := it.Shared()
	if c.Deleted() || isDone(pod) {
		for _, name := range claimNames(pod) {
			keys = append(keys, claimKey(c.Namespace, name))
		}
	}
	if !c.Deleted() {
		keys = append(keys, controller.Key{Namespace: c.Namespace, Name: c.Name})
	}
	return keys
}

// generator implements resourceclaim-controller. It remembers the claims that it has created, even after they were deleted, as the
// real controller's mutation cache does. A deleted claim is therefore not created again at once.
type generator struct {
	memory struct {
		Made []made `json:",omitempty"` // the newest last
	}
}

// made is a claim that was created for an entry of a pod.
type made struct {
	Pod, Entry, Claim string // Pod is a UID
	Until             time.Time
}

// These are the limits of the mutation cache.
const (
	madeMax = 100
	madeFor = time.Hour
)

// Memory implements controller.Rememberer.
func (g *generator) Memory() any { return &g.memory }

// Reconcile implements controller.Reconciler.
func (g *generator) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if name, ok := strings.CutPrefix(key.Name, claimPrefix); ok {
		return 0, syncClaim(api, controller.Key{Namespace: key.Namespace, Name: name})
	}
	return 0, g.syncPod(api, key)
}

// find returns the name of the claim that was generated for an entry of a pod, even if the pod's status does not name it.
func (g *generator) find(api *controller.Client, pod object.Object, entry string) (name string) {
	for _, ref := range api.Owned(pod.UID()) {
		if ref.Resource != devices.Claims {
			continue
		}
		if claim := api.GetShared(devices.Claims, ref.Namespace, ref.Name); claim.Annotations()[podClaimName] == entry {
			return claim.Name()
		}
	}
	for _, m := range g.memory.Made {
		if m.Pod == pod.UID() && m.Entry == entry && api.Now().Before(m.Until) {
			return m.Claim
		}
	}
	return ""
}

// syncPod creates the claims of a pod, and reserves them if the pod has a node without having been scheduled.
func (g *generator) syncPod(api *controller.Client, key controller.Key) *status.Status {
	pod := api.Get(workload.Pods, key.Namespace, key.Name)
	if pod == nil || pod.DeletionTimestamp() != "" {
		return nil
	}
	var generated []any
	for _, entry := range pod.Objects("spec", "resourceClaims") {
		name, why := g.generate(api, pod, entry)
		if why != "" {
			_ = api.Event(pod, "Warning", "FailedResourceClaimCreation", fmt.Sprintf("PodResourceClaim %s: %s", entry.String("name"), why))
			return status.Plain("pod %s, PodResourceClaim %s: %s", key, entry.String("name"), why)
		}
		if name != "" {
			generated = append(generated, map[string]any{"name": entry.String("name"), "resourceClaimName": name})
		}
	}
	if len(generated) > 0 {
		if _, s := api.As(claimManager).Apply(workload.Pods, "status", key,
			object.Object{"status": map[string]any{"resourceClaimStatuses": generated}}); s != nil {
			return s
		}
	}
	if pod.String("spec", "nodeName") == "" {
		return nil // the scheduler reserves
	}
	return reserve(api, pod)
}

// reserve reserves the allocated claims of a pod that has a node.
func reserve(api *controller.Client, pod object.Object) *status.Status {
	for _, entry := range pod.Objects("spec", "resourceClaims") {
		name, generated, found := claimName(pod, entry)
		claim := api.Get(devices.Claims, pod.Namespace(), name)
		if !found || claim == nil || generated && !isOwned(claim, pod) || !claim.Has("status", "allocation") || isReserved(claim, pod.UID()) {
			continue
		}
		claim.Set(append(claim.List("status", "reservedFor"), any(map[string]any{"resource": "pods", "name": pod.Name(), "uid": pod.UID()})),
			"status", "reservedFor")
		if _, s := api.Update(devices.Claims, "status", claim); s != nil {
			return s
		}
	}
	return nil
}

func isReserved(claim object.Object, uid string) bool {
	return slices.ContainsFunc(claim.Objects("status", "reservedFor"), func(r object.Object) bool { return r.String("uid") == uid })
}

// generate creates the claim for an entry of a pod, if the entry has a template and the claim does not exist. It returns the name
// for the status of the pod, or "" if the status need not change.
func (g *generator) generate(api *controller.Client, pod, entry object.Object) (name, why string) {
	template := entry.String("resourceClaimTemplateName")
	if known, _, found := claimName(pod, entry); found {
		if claim := api.GetShared(devices.Claims, pod.Namespace(), known); template == "" || claim != nil && isOwned(claim, pod) {
			return "", ""
		}
	} else if isUnneeded(pod, entry) {
		return "", ""
	}
	if name = g.find(api, pod, entry.String("name")); name != "" {
		return name, ""
	}
	t := api.Get(devices.Templates, pod.Namespace(), template)
	if t == nil {
		return "", fmt.Sprintf("resource claim template %q: resourceclaimtemplate.resource.k8s.io %q not found", template, template)
	}
	it, s := api.Create(devices.Claims, claimFrom(t, pod, entry.String("name")))
	if s != nil {
		return "", "create ResourceClaim : " + s.Message
	}
	all := append(g.memory.Made, made{pod.UID(), entry.String("name"), it.Name, api.Now().Add(madeFor)})
	g.memory.Made = slices.Clone(all[max(len(all)-madeMax, 0):])
	return it.Name, ""
}

// isUnneeded reports whether the status of a pod says that an entry needs no claim.
func isUnneeded(pod, entry object.Object) bool {
	return slices.ContainsFunc(pod.Objects("status", "resourceClaimStatuses"), func(s object.Object) bool {
		return s.String("name") == entry.String("name") && !s.Has("resourceClaimName")
	})
}

// claimFrom returns the claim that a template describes, for an entry of a pod.
func claimFrom(template, pod object.Object, entry string) object.Object {
	const most = 57 // 63 without a hyphen and five random characters
	prefix := pod.Name() + "-" + entry + "-"
	if n := len(prefix); n > most {
		prefix = pod.Name()[:len(pod.Name())*most/n] + "-" + entry[:len(entry)*most/n]
	}
	meta := map[string]any{"generateName": prefix, "namespace": pod.Namespace(), "ownerReferences": []any{map[string]any{"apiVersion": "v1",
		"kind": "Pod", "name": pod.Name(), "uid": pod.UID(), "controller": true}}}
	annotations := map[string]any{podClaimName: entry}
	for name, v := range template.Map("spec", "metadata", "annotations") { // order does not matter: the result is a map
		if name != podClaimName {
			annotations[name] = v
		}
	}
	meta["annotations"] = annotations
	if labels := template.Map("spec", "metadata", "labels"); len(labels) > 0 {
		meta["labels"] = labels
	}
	return object.Object{"kind": "ResourceClaim", "apiVersion": template.APIVersion(), "metadata": meta, "spec": template.Map("spec", "spec")}
}

// syncClaim removes reservations of pods that have ended. After the last one it deallocates the claim, and deletes it if its pod has
// ended.
func syncClaim(api *controller.Client, key controller.Key) *status.Status {
	claim := api.Get(devices.Claims, key.Namespace, key.Name)
	if claim == nil {
		return nil
	}
	before := claim.List("status", "reservedFor")
	left := slices.DeleteFunc(slices.Clone(before), func(r any) bool { return isGone(api, key.Namespace, object.As(r)) })
	var s *status.Status
	switch protected := slices.Contains(claim.Finalizers(), devices.Finalizer); {
	case len(left) < len(before):
		claim.Set(left, "status", "reservedFor")
		if len(left) == 0 {
			claim.Remove("status", "reservedFor")
			if protected {
				claim.Remove("status", "allocation")
			}
		}
		if claim, s = api.Update(devices.Claims, "status", claim); s == nil && !claim.Has("status", "allocation") {
			s = unprotect(api, claim)
		}
	case protected && claim.DeletionTimestamp() != "" && len(left) == 0:
		if claim.Has("status", "allocation") {
			claim.Remove("status", "allocation")
			claim, s = api.Update(devices.Claims, "status", claim)
		}
		if s == nil {
			s = unprotect(api, claim)
		}
	}
	if s != nil || len(left) > 0 {
		return s
	}
	owner := workload.ControllerOf(claim)
	if owner.String("kind") != "Pod" || owner.String("apiVersion") != "v1" {
		return nil
	}
	if pod := api.GetShared(workload.Pods, key.Namespace, owner.String("name")); pod != nil && (pod.UID() != owner.String("uid") || isDone(pod)) {
		return workload.Found(api.Delete(devices.Claims, key, controller.Preconditions{}))
	}
	return nil
}

// isGone reports whether a consumer of a claim is a pod that has ended or does not exist.
func isGone(api *controller.Client, namespace string, consumer object.Object) bool {
	if consumer.String("apiGroup") != "" || consumer.String("resource") != "pods" {
		return false
	}
	pod := api.GetShared(workload.Pods, namespace, consumer.String("name"))
	if pod == nil {
		live := api.LiveShared(workload.Pods, namespace, consumer.String("name")) // the cache may lag
		return live.UID() != consumer.String("uid")
	}
	return pod.UID() != consumer.String("uid") || isDone(pod)
}

// unprotect removes the finalizer of a claim.
func unprotect(api *controller.Client, claim object.Object) *status.Status {
	if !slices.Contains(claim.Finalizers(), devices.Finalizer) {
		return nil
	}
	claim = claim.Copy()
	claim.SetFinalizers(slices.DeleteFunc(claim.Finalizers(), func(f string) bool { return f == devices.Finalizer }))
	_, s := api.Update(devices.Claims, "", claim)
	return s
}
