package volume

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// These are the storage names of the objects that attaching volumes needs.
const (
	nodeObjects = "nodes"
	drivers     = "csidrivers.storage.k8s.io"
	attachments = "volumeattachments.storage.k8s.io"
)

// These are the delays of kube-controller-manager and of its CSI plugin.
const (
	attachTimeout = 2 * time.Minute               // an attacher has to answer within this time
	unmountMax    = 6 * time.Minute               // then a volume of a node that is not ready is detached although it is mounted
	attachRetry   = 500 * time.Millisecond        // the first pause after an error, which then doubles
	attachRetries = 2*time.Minute + 2*time.Second // the longest pause
)

// attachDetach implements persistentvolume-attach-detach-controller.
type attachDetach struct {
	memory attachMemory
	nodes  map[string]map[string]bool // the nodes with a VolumeAttachment of each volume; rebuilt from the cache
}

// attachMemory is the state of attachments, each with the key NODE/VOLUME.
type attachMemory struct {
	Attached map[string]string    `json:",omitempty"` // the names of attached volumes in the status of nodes
	Refused  map[string]bool      `json:",omitempty"` // an event says that the volume is attached to another node
	Leaving  map[string]time.Time `json:",omitempty"` // when the volume was first not needed any more
	Failing  map[string]failing   `json:",omitempty"`
}

// failing is the state of a volume that could not be attached.
type failing struct {
	Pause time.Duration // before the next attempt
	Next  time.Time
}

// AttachDetach attaches the CSI volumes of pods to their nodes and detaches them: it creates and deletes VolumeAttachments, on which an
// attacher acts, and reports attached volumes in the status of nodes (pkg/controller/volume/attachdetach). Its keys are nodes. It
// ignores nodes whose kubelet attaches volumes itself.
func AttachDetach() controller.Controller {
	a := &attachDetach{}
	c := controller.Account(claims.AttachDetach, "attachdetach-controller", a,
		controller.Watch{Resource: workload.Pods, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			if it := c.Item(); it != nil && workload.PodOf(it).UsesVolumeClaims && it.Field("spec.nodeName") != "" {
				return []controller.Key{{Name: it.Field("spec.nodeName")}}
			}
			return nil
		}},
		controller.Watch{Resource: claims.Claims, Keys: nodesOfClaim}, controller.Watch{Resource: nodeObjects, Keys: attachNode},
		controller.Watch{Resource: attachments, Keys: a.attachmentWritten})
	c.Component = "attachdetach-controller"
	return c
}

// Memory implements controller.Rememberer.
func (a *attachDetach) Memory() any { return &a.memory }

// Learn implements controller.Learner.
func (a *attachDetach) Learn(api *controller.Client) { a.begin(api) }

// begin reads the existing attachments on the first call.
func (a *attachDetach) begin(api *controller.Client) {
	if a.nodes != nil {
		return
	}
	a.nodes = map[string]map[string]bool{}
	for _, x := range api.All(attachments, "") {
		a.index(x, true)
	}
}

func (a *attachDetach) index(attachment object.Object, exists bool) {
	volume, node := attachment.String("spec", "source", "persistentVolumeName"), attachment.String("spec", "nodeName")
	if a.nodes[volume] == nil {
		a.nodes[volume] = map[string]bool{}
	}
	if a.nodes[volume][node] = true; !exists {
		delete(a.nodes[volume], node)
	}
}

// attachmentWritten returns the node of an attachment and, if it was deleted, the nodes for which its volume was refused.
func (a *attachDetach) attachmentWritten(api *controller.Client, c *commit.Commit) []controller.Key {
	a.begin(api)
	x := c.Object()
	a.index(x, !c.Deleted())
	keys := []controller.Key{{Name: x.String("spec", "nodeName")}}
	if c.Deleted() {
		for _, key := range object.SortedKeys(a.memory.Refused) {
			if node, volume, _ := strings.Cut(key, "/"); volume == x.String("spec", "source", "persistentVolumeName") {
				keys = append(keys, controller.Key{Name: node})
			}
		}
	}
	return keys
}

// nodesOfClaim returns the nodes of the pods that use a claim, if the claim was just bound.
func nodesOfClaim(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	if c.Deleted() || c.Object().String("spec", "volumeName") == "" || !c.Created() && c.OldObject().String("spec", "volumeName") != "" {
		return nil
	}
	for _, it := range podsWith(api, c.Object()) {
		if node := it.Field("spec.nodeName"); node != "" {
			keys = append(keys, controller.Key{Name: node})
		}
	}
	return keys
}

// managed returns the annotation of a node that is true if this controller attaches its volumes.
func managed(node object.Object) string {
	return node.String("metadata", "annotations", claims.Managed)
}

// attachNode returns the key of a node if something has changed that the controller uses.
func attachNode(_ *controller.Client, c *commit.Commit) []controller.Key {
	if !c.Created() && !c.Deleted() {
		before, now := c.Before().Shared(), c.Item().Shared()
		same := managed(before) == managed(now) && object.Equal(before.List("spec", "taints"), now.List("spec", "taints"))
		for _, field := range []string{"volumesInUse", "volumesAttached"} {
			same = same && object.Equal(before.List("status", field), now.List("status", field))
		}
		if same {
			return nil
		}
	}
	return []controller.Key{{Name: c.Name}}
}

// Reconcile implements controller.Reconciler.
func (a *attachDetach) Reconcile(api *controller.Client, key controller.Key) (again time.Duration, failed *status.Status) {
	a.begin(api)
	node := api.GetShared(nodeObjects, "", key.Name)
	if node != nil && managed(node) != "true" {
		return 0, nil
	}
	var want map[string]*attachable
	if node != nil {
		want = needed(api, key.Name)
	}
	later := func(d time.Duration) {
		if d > 0 && (again == 0 || d < again) {
			again = d
		}
	}
	have := map[string]object.Object{}
	for _, volume := range object.SortedKeys(a.nodes) {
		if !a.nodes[volume][key.Name] {
			continue
		}
		x := a.attachment(api, volume, key.Name)
		if x == nil {
			continue
		}
		if want[volume] != nil {
			delete(a.memory.Leaving, key.Name+"/"+volume)
			have[volume] = x
			continue
		}
		wait, s := a.detach(api, node, volume, x)
		if later(wait); s != nil {
			return again, s
		}
	}
	for _, volume := range object.SortedKeys(want) {
		wait, s := a.attach(api, key.Name, want[volume], have[volume])
		if later(wait); s != nil {
			return again, s
		}
	}
	return again, nil
}

// attachment returns the VolumeAttachment of a volume on a node that has the name that this controller gives it, or nil.
func (a *attachDetach) attachment(api *controller.Client, volume, node string) (found object.Object) {
	if v := api.GetShared(claims.Volumes, "", volume); v != nil {
		return api.Get(attachments, "", attachmentName(v, node))
	}
	for _, x := range api.All(attachments, "") { // the volume is gone, so that its handle is unknown
		if x.String("spec", "source", "persistentVolumeName") == volume && x.String("spec", "nodeName") == node && strings.HasPrefix(x.Name(), "csi-") {
			found = x
		}
	}
	return found
}

// detach detaches a volume that no pod on the node needs, unless the node has it mounted (reconciler.reconcile). node is nil if it
// is gone. It returns the time to wait if the volume may be detached later.
func (a *attachDetach) detach(api *controller.Client, node object.Object, volume string, x object.Object) (wait time.Duration, failed *status.Status) {
	key := x.String("spec", "nodeName") + "/" + volume
	name := a.memory.Attached[key] // the volume may be gone
	if v := api.GetShared(claims.Volumes, "", volume); v != nil {
		name = claims.UniqueName(v)
	}
	if x.DeletionTimestamp() != "" {
		return 0, nil
	}
	if slices.Contains(node.Strings("status", "volumesInUse"), name) && !hasTaint(node, "node.kubernetes.io/out-of-service") {
		since, known := a.memory.Leaving[key]
		if !known {
			since = api.Now()
			put(&a.memory.Leaving, key, since)
		}
		ready := node.Condition("Ready").String("status") == "True"
		if left := since.Add(unmountMax).Sub(api.Now()); ready || left >= 0 {
			return max(left+1, 0), nil
		}
	}
	if s := report(api, node, name, false); s != nil {
		return 0, s
	}
	if s := workload.Found(api.Delete(attachments, controller.Key{Name: x.Name()}, controller.Preconditions{})); s != nil {
		return 0, s
	}
	delete(a.memory.Attached, key)
	delete(a.memory.Leaving, key)
	delete(a.memory.Failing, key)
	return 0, nil
}

// put sets an entry of a map that may be nil.
func put[T any](m *map[string]T, key string, v T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[key] = v
}

func hasTaint(node object.Object, key string) bool {
	return slices.ContainsFunc(node.Objects("spec", "taints"), func(t object.Object) bool { return t.String("key") == key })
}

// report adds a volume to the attached volumes in the status of a node, or removes it.
func report(api *controller.Client, node object.Object, name string, attached bool) *status.Status {
	is := slices.ContainsFunc(node.Objects("status", "volumesAttached"), func(v object.Object) bool { return v.String("name") == name })
	if node == nil || is == attached {
		return nil
	}
	return workload.Found(api.Patch(nodeObjects, "status", controller.Key{Name: node.Name()}, func(live object.Object) {
		all := slices.DeleteFunc(live.List("status", "volumesAttached"), func(v any) bool { return object.As(v).String("name") == name })
		if attached {
			all = append(all, map[string]any{"name": name, "devicePath": ""})
		}
		if live.Set(all, "status", "volumesAttached"); len(all) == 0 {
			live.Remove("status", "volumesAttached")
		}
	}))
}

// attach attaches a volume to a node, or reports that it is attached. x is its VolumeAttachment, if it exists.
func (a *attachDetach) attach(api *controller.Client, node string, v *attachable, x object.Object) (wait time.Duration, failed *status.Status) {
	name, key := v.volume.Name(), node+"/"+v.volume.Name()
	switch {
	case x == nil && a.isTaken(v.volume, node):
		if !a.memory.Refused[key] {
			put(&a.memory.Refused, key, true)
			a.refuse(api, node, v)
		}
		return 0, nil
	case x == nil:
		delete(a.memory.Refused, key)
		_, s := api.Create(attachments, object.Object{"kind": "VolumeAttachment", "apiVersion": "storage.k8s.io/v1",
			"metadata": map[string]any{"name": attachmentName(v.volume, node)},
			"spec": map[string]any{"attacher": v.volume.String("spec", "csi", "driver"), "nodeName": node,
				"source": map[string]any{"persistentVolumeName": name}}})
		if s != nil && s.Reason == status.ReasonAlreadyExists {
			s = nil
		}
		return attachTimeout, s
	case x.DeletionTimestamp() != "":
		return 0, nil
	case x.True("status", "attached"):
		delete(a.memory.Failing, key)
		if a.memory.Attached[key] == "" {
			put(&a.memory.Attached, key, claims.UniqueName(v.volume))
			recordAttach(api, v, "Normal", "SuccessfulAttachVolume", fmt.Sprintf("AttachVolume.Attach succeeded for volume %q ", name))
		}
		return 0, report(api, api.GetShared(nodeObjects, "", node), claims.UniqueName(v.volume), true)
	}
	return a.await(api, key, v, x), nil
}

// await records an event if an attacher has failed or does not answer, and returns the time until the next one.
func (a *attachDetach) await(api *controller.Client, key string, v *attachable, x object.Object) (wait time.Duration) {
	why := x.String("status", "attachError", "message")
	f, known := a.memory.Failing[key]
	if !known {
		f = failing{Next: workload.TimeOf(x.String("metadata", "creationTimestamp")).Add(attachTimeout)}
	}
	if why == "" {
		why = fmt.Sprintf("timed out waiting for external-attacher of %s CSI driver to attach volume %s", v.volume.String("spec", "csi", "driver"),
			v.volume.String("spec", "csi", "volumeHandle"))
	} else if !known {
		f.Next = api.Now()
	}
	if left := f.Next.Sub(api.Now()); left > 0 {
		return left
	}
	recordAttach(api, v, "Warning", "FailedAttachVolume", fmt.Sprintf("AttachVolume.Attach failed for volume %q : %s", v.volume.Name(), why))
	f.Pause = min(max(2*f.Pause, attachRetry), attachRetries)
	f.Next = api.Now().Add(f.Pause)
	put(&a.memory.Failing, key, f)
	return f.Pause
}

// isTaken reports whether a volume that only one node can use is attached to another one (util.IsMultiAttachAllowed).
func (a *attachDetach) isTaken(volume object.Object, node string) bool {
	modes := volume.Strings("spec", "accessModes")
	if len(modes) == 0 || slices.Contains(modes, "ReadWriteMany") || slices.Contains(modes, "ReadOnlyMany") {
		return false
	}
	for other := range a.nodes[volume.Name()] { // order does not matter
		if other != node {
			return true
		}
	}
	return false
}

// refuse records an event for each pod whose volume is attached to another node (reportMultiAttachError).
func (a *attachDetach) refuse(api *controller.Client, node string, v *attachable) {
	for _, pod := range v.pods {
		var local []string
		others := 0
		for _, other := range object.SortedKeys(a.nodes[v.volume.Name()]) {
			if other == node {
				continue
			}
			if use := needed(api, other)[v.volume.Name()]; use != nil {
				for _, p := range use.pods {
					if p.Namespace() == pod.Namespace() {
						local = append(local, p.Name())
					} else {
						others++
					}
				}
			}
		}
		text := "Volume is already exclusively attached to one node and can't be attached to another"
		switch {
		case len(local) > 0 && others > 0:
			text = fmt.Sprintf("Volume is already used by pod(s) %s and %d pod(s) in different namespaces", strings.Join(local, ", "), others)
		case len(local) > 0:
			text = "Volume is already used by pod(s) " + strings.Join(local, ", ")
		case others > 0:
			text = fmt.Sprintf("Volume is already used by %d pod(s) in different namespaces", others)
		}
		_ = api.Event(pod, "Warning", "FailedAttachVolume", fmt.Sprintf("Multi-Attach error for volume %q %s", v.volume.Name(), text))
	}
}

// recordAttach records an event for each pod that needs a volume.
func recordAttach(api *controller.Client, v *attachable, kind, reason, message string) {
	for _, pod := range v.pods {
		_ = api.Event(pod, kind, reason, message)
	}
}
