//go:build !page

package kubelet

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
)

// These annotations of a ResourceSlice script the driver that published it, on the nodes that can use it. A driver without them
// prepares claims at once. Its devices have the health Unknown, as those of a driver without health checks.
const (
	prepareTime  = Annotation + "prepare-time"  // time that the preparation of a claim takes, such as 5s
	prepareError = Annotation + "prepare-error" // error with which the preparation fails
	deviceHealth = Annotation + "device-health" // DEVICE=HEALTH,…; HEALTH is Healthy, Unhealthy or Unknown
)

// deviceWatches returns the watches of the objects that a pod with resource claims may wait for.
func (k *Kubelet) deviceWatches() []controller.Watch {
	return []controller.Watch{
		{Resource: devices.Claims, Index: byNeed{k.nodes}, Value: k.node, Keys: k.awaited},
		{Resource: devices.Slices, Index: byDevices{k.nodes}, Value: k.node, Keys: k.withDevices},
	}
}

// withDevices returns the keys of the pods that use devices, and of the pods that wait for an object.
func (k *Kubelet) withDevices(*controller.Client, *commit.Commit) (keys []controller.Key) {
	for _, key := range object.SortedKeys(k.memory.Pods) {
		if p := k.memory.Pods[key]; !p.Prepares.IsZero() || p.Missing != "" {
			namespace, name, _ := strings.Cut(key, "/")
			keys = append(keys, controller.Key{Namespace: namespace, Name: name})
		}
	}
	return keys
}

// byDevices is a controller.Index of ResourceSlices by the nodes with pods that use devices, or wait.
type byDevices struct{ *Nodes }

// Values implements controller.Index.
func (n byDevices) Values(*commit.Commit) (nodes []string) {
	for _, k := range n.all {
		if len(k.withDevices(nil, nil)) > 0 {
			nodes = append(nodes, k.node)
		}
	}
	return nodes
}

// prepareDevices reports whether the devices of the pod's claims are prepared. If not, it records why, and the pod waits for a change
// of a claim or slice (dra.Manager.PrepareResources).
func (w *worker) prepareDevices() bool {
	if len(claimEntries(w.pod)) == 0 {
		return true
	}
	claims, why := w.usableClaims()
	took := time.Duration(0)
	for _, claim := range claims {
		for _, r := range devices.Results(claim) {
			if why == "" {
				var d time.Duration
				d, why = w.k.driverOf(w.api, claim, r)
				took = max(took, d)
			}
		}
	}
	if why == "" {
		w.rec.Missing = ""
		if w.rec.Prepares.IsZero() {
			w.rec.Prepares = w.now.Add(took)
		}
		if w.now.Before(w.rec.Prepares) {
			w.at(w.rec.Prepares)
			return false
		}
		return true
	}
	w.rec.Prepares = time.Time{}
	if text := "Failed to prepare dynamic resources: " + why; w.rec.Missing != text {
		w.rec.Missing = text
		w.event(nil, "Warning", "FailedPrepareDynamicResources", text)
	}
	return false
}

// claimEntries returns the entries for the claims of a pod. The last one is for the claim of its extended resources, if it has one.
func claimEntries(pod object.Object) []object.Object {
	entries := pod.Objects("spec", "resourceClaims")
	if name := pod.String("status", "extendedResourceClaimStatus", "resourceClaimName"); name != "" {
		entries = append(slices.Clip(entries), object.Object{"resourceClaimName": name})
	}
	return entries
}

// usableClaims returns the claims of the pod. If one of them cannot be used, why is the error.
func (w *worker) usableClaims() (claims []object.Object, why string) {
	namespace, pod := w.pod.Namespace(), w.pod
	for _, entry := range claimEntries(pod) {
		name := entry.String("resourceClaimName")
		if name == "" {
			s := statusOf(pod, entry.String("name"))
			if s == nil {
				return nil, fmt.Sprintf("pod %q: ResourceClaim not created yet", namespace+"/"+pod.Name())
			}
			if name = s.String("resourceClaimName"); name == "" {
				continue
			}
		}
		claim := w.api.LiveShared(devices.Claims, namespace, name)
		switch {
		case claim == nil:
			return nil, fmt.Sprintf("fetch ResourceClaim %s: resourceclaims.resource.k8s.io %q not found", name, name)
		case !entry.Has("resourceClaimName") && workload.ControllerOf(claim).String("uid") != pod.UID():
			return nil, fmt.Sprintf("ResourceClaim %s/%s was not created for Pod %[1]s/%s (Pod is not owner)", namespace, name, pod.Name())
		case !slices.ContainsFunc(claim.Objects("status", "reservedFor"), func(r object.Object) bool { return r.String("uid") == pod.UID() }):
			return nil, fmt.Sprintf("pod %s (%s) is not allowed to use ResourceClaim %s (%s)", pod.Name(), pod.UID(), name, claim.UID())
		}
		claims = append(claims, claim)
	}
	return claims, ""
}

// statusOf returns the status of an entry of a pod's resourceClaims, or nil.
func statusOf(pod object.Object, entry string) object.Object {
	all := pod.Objects("status", "resourceClaimStatuses")
	if i := slices.IndexFunc(all, func(s object.Object) bool { return s.String("name") == entry }); i >= 0 {
		return all[i]
	}
	return nil
}

// driverOf returns the time that the driver of an allocated device takes to prepare it, or the error. A driver runs on the node if
// it has published a slice that is not for another node.
func (k *Kubelet) driverOf(api *controller.Client, claim, result object.Object) (took time.Duration, why string) {
	id := devices.IDOf(result)
	registered := false
	api.Items(devices.Slices, "", func(it *resource.Item) bool {
		slice := it.Shared()
		if node := slice.String("spec", "nodeName"); slice.String("spec", "driver") != id.Driver || node != "" && node != k.node {
			return true
		}
		registered = true
		if !hasDevice(slice, id) {
			return true
		}
		script := slice.Annotations()
		if text := script[prepareError]; text != "" {
			why = fmt.Sprintf("NodePrepareResources failed for ResourceClaim %s: %s", claim.Name(), text)
		}
		if text := script[prepareTime]; text != "" {
			d, err := time.ParseDuration(text)
			if took = d; err != nil {
				why = fmt.Sprintf("NodePrepareResources: annotation %s of ResourceSlice %s: %v", prepareTime, slice.Name(), err)
			}
		}
		return why == ""
	})
	if !registered {
		return 0, fmt.Sprintf("DRA driver %s is not registered", id.Driver)
	}
	return took, why
}

func hasDevice(slice object.Object, id devices.ID) bool {
	return slice.String("spec", "pool", "name") == id.Pool &&
		slices.ContainsFunc(slice.Objects("spec", "devices"), func(d object.Object) bool { return d.String("name") == id.Device })
}

// setDevices sets the devices of a container and their health in its status (KEP-4680, on since 1.36).
func (w *worker) setDevices(c *container, status object.Object) {
	if len(c.spec.List("resources", "claims")) == 0 || c.list != "containers" || !w.rec.Mounted || !w.api.Since(36) {
		return
	}
	var all []any
	for _, use := range c.spec.Objects("resources", "claims") {
		name, request := "claim:"+use.String("name"), use.String("request")
		if request != "" {
			name += "/" + request
		}
		var list []any
		for _, r := range devices.Results(w.claimOf(use.String("name"))) {
			base, _, _ := strings.Cut(r.String("request"), "/")
			if request == "" || request == base {
				id := devices.IDOf(r)
				list = append(list, map[string]any{"resourceID": id.String(), "health": w.k.healthOf(w.api, id)})
			}
		}
		if len(list) > 0 {
			all = append(all, map[string]any{"name": name, "resources": list})
		}
	}
	if len(all) > 0 {
		status["allocatedResourcesStatus"] = all
	}
}

// claimOf returns the claim of an entry of the pod's resourceClaims, or nil.
func (w *worker) claimOf(entry string) object.Object {
	for _, e := range w.pod.Objects("spec", "resourceClaims") {
		if e.String("name") == entry {
			name := e.String("resourceClaimName")
			if name == "" {
				name = statusOf(w.pod, entry).String("resourceClaimName")
			}
			return w.api.GetShared(devices.Claims, w.pod.Namespace(), name)
		}
	}
	return nil
}

// healthOf returns the health that the driver of a device reports.
func (k *Kubelet) healthOf(api *controller.Client, id devices.ID) (health string) {
	health = "Unknown"
	api.Items(devices.Slices, "", func(it *resource.Item) bool {
		slice := it.Shared()
		if slice.String("spec", "driver") != id.Driver || !hasDevice(slice, id) {
			return true
		}
		for part := range strings.SplitSeq(slice.Annotations()[deviceHealth], ",") {
			if name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name == id.Device && (value == "Healthy" || value == "Unhealthy") {
				health = value
			}
		}
		return true
	})
	return health
}
