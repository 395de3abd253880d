package volume

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// These are the finalizers of claims and volumes in use.
const (
	claimFinalizer  = "kubernetes.io/pvc-protection"
	volumeFinalizer = "kubernetes.io/pv-protection"
)

// ClaimProtection delays the deletion of claims until no pod on a node uses them, and records whether they are used
// (pkg/controller/volume/pvcprotection).
func ClaimProtection() controller.Controller {
	return controller.Account("persistentvolumeclaim-protection-controller", "pvc-protection-controller",
		controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
			if s := recordUse(api, key); s != nil {
				return 0, s
			}
			return 0, protect(api, claims.Claims, key, claimFinalizer, func(claim object.Object) bool {
				return slices.ContainsFunc(podsWith(api, claim), func(it *resource.Item) bool {
					return it.Field("spec.nodeName") != "" && (!isEphemeral(it, claim) || !workload.PodOf(it).Finished())
				})
			})
		}), controller.Watch{Resource: claims.Claims}, controller.Watch{Resource: workload.Pods, Keys: claimsOfPod})
}

// isEphemeral reports whether a claim was created for an ephemeral volume of a pod.
func isEphemeral(it *resource.Item, claim object.Object) bool {
	return workload.ControllerOf(claim).String("uid") == workload.PodOf(it).UID
}

// claimsOfPod returns the keys of the claims of a pod that has ended or was deleted, and from 1.37 on of any pod.
func claimsOfPod(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	it := c.Item()
	if it == nil || !workload.PodOf(it).UsesVolumeClaims {
		return nil
	}
	if phase := it.Field("status.phase"); !api.Since(37) && !c.Deleted() && phase != "Succeeded" && phase != "Failed" {
		return nil
	}
	for _, v := range it.Object().Objects("spec", "volumes") {
		if name, _ := claims.Of(it.Name, v); name != "" {
			keys = append(keys, controller.Key{Namespace: c.Namespace, Name: name})
		}
	}
	return keys
}

// VolumeProtection delays the deletion of volumes until they are no longer bound (pkg/controller/volume/pvprotection).
func VolumeProtection() controller.Controller {
	return controller.Account("persistentvolume-protection-controller", "pv-protection-controller",
		controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
			return 0, protect(api, claims.Volumes, key, volumeFinalizer, func(volume object.Object) bool {
				return volume.String("status", "phase") == "Bound"
			})
		}), controller.Watch{Resource: claims.Volumes})
}

// protect adds a finalizer to an object, and removes it when the object is being deleted and is not used.
func protect(api *controller.Client, of string, key controller.Key, finalizer string, used func(object.Object) bool) *status.Status {
	obj := api.Get(of, key.Namespace, key.Name)
	if obj == nil {
		return nil
	}
	deleted, has := obj.DeletionTimestamp() != "", slices.Contains(obj.Finalizers(), finalizer)
	switch {
	case !deleted && !has:
		obj.SetFinalizers(append(obj.Finalizers(), finalizer))
	case deleted && has && !used(obj):
		obj.SetFinalizers(slices.DeleteFunc(obj.Finalizers(), func(f string) bool { return f == finalizer }))
	default:
		return nil
	}
	_, s := api.Update(of, "", obj)
	return workload.Found(s)
}

// Ephemeral creates the claims for the ephemeral volumes of pods (pkg/controller/volume/ephemeral).
func Ephemeral() controller.Controller {
	c := controller.Account("ephemeral-volume-controller", "ephemeral-volume-controller", controller.Func(makeClaims),
		controller.Watch{Resource: workload.Pods, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			if it := c.Item(); c.Deleted() || it == nil || !c.Created() || !workload.PodOf(it).UsesVolumeClaims {
				return nil
			}
			return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
		}},
		controller.Watch{Resource: claims.Claims, Keys: func(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
			if c.Deleted() {
				for _, it := range podsWith(api, c.Object()) {
					keys = append(keys, controller.Key{Namespace: it.Namespace, Name: it.Name})
				}
			}
			return keys
		}})
	c.Component = "ephemeral_volume"
	return c
}

// makeClaims creates the claims for a pod's ephemeral volumes.
func makeClaims(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	pod := api.Get(workload.Pods, key.Namespace, key.Name)
	if pod == nil || pod.DeletionTimestamp() != "" {
		return 0, nil
	}
	for _, v := range pod.Objects("spec", "volumes") {
		name, ephemeral := claims.Of(pod.Name(), v)
		if !ephemeral {
			continue
		}
		var why string
		if it := api.Item(claims.Claims, key.Namespace, name); it == nil {
			if s := makeClaim(api, pod, name, v.At("ephemeral", "volumeClaimTemplate")); s != nil {
				why = fmt.Sprintf("create PVC %s: %s", name, s.Message)
			}
		} else if !claims.OwnedBy(it, pod.UID()) {
			why = fmt.Sprintf("PVC %s/%s was not created for pod %s (pod is not owner)", key.Namespace, name, key)
		}
		if why != "" {
			_ = api.Event(pod, "Warning", "FailedBinding", fmt.Sprintf("ephemeral volume %s: %s", v.String("name"), why))
			return 0, status.Plain("pod %s, ephemeral volume %s: %s", key, v.String("name"), why)
		}
	}
	return 0, nil
}

func makeClaim(api *controller.Client, pod object.Object, name string, template object.Object) *status.Status {
	meta := map[string]any{"name": name, "namespace": pod.Namespace(), "ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Pod",
		"name": pod.Name(), "uid": pod.UID(), "controller": true, "blockOwnerDeletion": true}}}
	for _, field := range []string{"annotations", "labels"} {
		if v, ok := template.Get("metadata", field); ok {
			meta[field] = v
		}
	}
	_, s := api.Create(claims.Claims, object.Object{"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": meta, "spec": template.Map("spec")})
	return s
}
