// Package volume implements the controllers of persistent volumes and claims: those of kube-controller-manager, and a
// provisioner.
//
//	claim ─ Binder ─▶ existing suitable volume ─────────────────────────▶ both Bound
//	          ├──────▶ waits for a node ─ scheduler ─▶ selected-node ─┐
//	          └──────▶ storage-provisioner ◀─────────────────────────┘─▶ Provisioner ─▶ new volume
//
//	pod on a node ─ AttachDetach ─▶ VolumeAttachment ─ Attacher ─▶ attached ─▶ status.volumesAttached of the node
//
//	claim deleted ─▶ volume Released ─▶ retained or deleted
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

// binder implements persistentvolume-binder-controller. Its memory contains the claims that wait for a volume or a class.
type binder struct {
	memory struct {
		Waiting map[string]controller.Key `json:",omitempty"`
	}
}

// Binder binds claims and volumes, and reclaims volumes whose claims are gone (pkg/controller/volume/persistentvolume). The key
// of a claim has its namespace and name, the key of a volume only its name. The real controller processes everything every 15 s
// and counts an event each time. This one processes a waiting claim again when a volume or a class becomes available.
func Binder() controller.Controller {
	b := &binder{}
	c := controller.Account("persistentvolume-binder-controller", "persistent-volume-binder", b,
		controller.Watch{Resource: claims.Claims, Keys: b.claimWritten}, controller.Watch{Resource: claims.Volumes, Keys: b.volumeWritten},
		controller.Watch{Resource: claims.Classes, Keys: func(*controller.Client, *commit.Commit) []controller.Key { return b.waiting() }})
	c.Component = "persistentvolume-controller"
	return c
}

// Memory implements controller.Rememberer.
func (b *binder) Memory() any { return &b.memory }

func volumeKey(name string) controller.Key { return controller.Key{Name: name} }

func claimKey(ref object.Object) controller.Key {
	return controller.Key{Namespace: ref.String("namespace"), Name: ref.String("name")}
}

// claimWritten returns the key of a claim or, if the claim was deleted, of its volume.
func (b *binder) claimWritten(_ *controller.Client, c *commit.Commit) []controller.Key {
	if !c.Deleted() {
		return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
	}
	delete(b.memory.Waiting, c.Namespace+"/"+c.Name)
	if name := c.Object().String("spec", "volumeName"); name != "" {
		return []controller.Key{volumeKey(name)}
	}
	return nil
}

// volumeWritten returns the keys of a volume and, if it is available, of the claims that wait for one. If the volume was deleted,
// it returns the key of its claim.
func (b *binder) volumeWritten(_ *controller.Client, c *commit.Commit) []controller.Key {
	volume := c.Object()
	if c.Deleted() {
		if ref := volume.At("spec", "claimRef"); ref != nil {
			return []controller.Key{claimKey(ref)}
		}
		return nil
	}
	keys := []controller.Key{volumeKey(c.Name)}
	if volume.String("status", "phase") == "Available" && volume.DeletionTimestamp() == "" {
		keys = append(keys, b.waiting()...)
	}
	return keys
}

func (b *binder) waiting() (keys []controller.Key) {
	for _, name := range object.SortedKeys(b.memory.Waiting) {
		keys = append(keys, b.memory.Waiting[name])
	}
	return keys
}

// Reconcile implements controller.Reconciler.
func (b *binder) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if key.Namespace == "" {
		if volume := api.Get(claims.Volumes, "", key.Name); volume != nil {
			return 0, syncVolume(api, volume)
		}
		return 0, nil
	}
	claim := api.Get(claims.Claims, key.Namespace, key.Name)
	delete(b.memory.Waiting, key.String())
	switch {
	case claim == nil:
		return 0, nil
	case claims.Has(claim, claims.BindCompleted):
		return 0, syncBound(api, claim)
	}
	if b.memory.Waiting == nil {
		b.memory.Waiting = map[string]controller.Key{}
	}
	b.memory.Waiting[key.String()] = key
	if claim.String("spec", "volumeName") != "" {
		return 0, syncRequested(api, claim)
	}
	return 0, syncUnbound(api, claim)
}

// syncUnbound finds a volume for a claim that does not name one.
func syncUnbound(api *controller.Client, claim object.Object) *status.Status {
	delayed := claims.Delayed(api, claim)
	if volume := bestFor(api, claim, delayed); volume != nil {
		return bind(api, volume, claim)
	}
	if !claims.HasClass(claim) {
		if class := defaultClass(api); class != "" {
			claim.Set(class, "spec", "storageClassName")
			_, s := api.Update(claims.Claims, "", claim)
			return s
		}
	}
	switch {
	case delayed && !claims.Has(claim, claims.SelectedNode):
		waitForConsumer(api, claim)
	case claims.ClassOf(claim) != "":
		return provision(api, claim)
	default:
		_ = api.Event(claim, "Normal", "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
	}
	_, s := setClaim(api, claim, "Pending", nil)
	return s
}

// bestFor returns the best volume for a claim, or nil. It considers only volumes with all requested access modes, and prefers
// volumes with few other modes (persistentVolumeOrderedIndex.findByClaim).
func bestFor(api *controller.Client, claim object.Object, delayed bool) object.Object {
	groups := map[string][]object.Object{}
	for _, v := range api.All(claims.Volumes, "") {
		if claims.HasModes(claim, v) {
			modes := slices.Clone(v.Strings("spec", "accessModes"))
			slices.Sort(modes)
			key := fmt.Sprint(len(slices.Compact(modes)), modes)
			groups[key] = append(groups[key], v)
		}
	}
	for _, key := range object.SortedKeys(groups) {
		if best := claims.Match(claim, groups[key], nil, delayed); best != nil {
			return best
		}
	}
	return nil
}

// defaultClass returns the StorageClass for claims that do not specify one: the newest default class, or the first by name if
// several are equally new.
func defaultClass(api *controller.Client) string {
	var best object.Object
	made := func(obj object.Object) time.Time { return workload.TimeOf(obj.String("metadata", "creationTimestamp")) }
	for _, class := range api.All(claims.Classes, "") {
		a := class.Annotations()
		if a["storageclass.kubernetes.io/is-default-class"] == "true" || a["storageclass.beta.kubernetes.io/is-default-class"] == "true" {
			if best == nil || made(class).After(made(best)) {
				best = class
			}
		}
	}
	return best.Name()
}

// waitForConsumer records an event with the reason why a claim waits.
func waitForConsumer(api *controller.Client, claim object.Object) {
	reason, message := "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
	var names []string
	for _, pod := range podsWith(api, claim) {
		if p := workload.PodOf(pod); !p.Finished() && p.Node == "" {
			names = append(names, pod.Name)
		}
	}
	if len(names) > 0 {
		reason, message = "WaitForPodScheduled", fmt.Sprintf("waiting for pod %s to be scheduled", names[0])
	}
	if len(names) > 1 {
		message = fmt.Sprintf("waiting for pods %s to be scheduled", strings.Join(names, ","))
	}
	_ = api.Event(claim, "Normal", reason, message)
}

// syncRequested binds a claim to the volume that its spec names.
func syncRequested(api *controller.Client, claim object.Object) *status.Status {
	name := claim.String("spec", "volumeName")
	volume := api.Get(claims.Volumes, "", name)
	pending := func() *status.Status {
		_, s := setClaim(api, claim, "Pending", nil)
		return s
	}
	switch {
	case volume == nil:
		return pending()
	case !volume.Has("spec", "claimRef"):
		if why := unsuitable(volume, claim); why != "" {
			_ = api.Event(claim, "Warning", "VolumeMismatch", fmt.Sprintf("Cannot bind to requested volume %q: %s", name, why))
			return pending()
		}
		return bind(api, volume, claim)
	case claims.BoundTo(volume, claim):
		return bind(api, volume, claim)
	}
	_ = api.Event(claim, "Warning", "FailedBinding", fmt.Sprintf("volume %q already bound to a different claim.", name))
	return pending()
}

// unsuitable returns the reason why a claim cannot be bound to the volume that its spec names, or "" if it can
// (checkVolumeSatisfyClaim).
func unsuitable(volume, claim object.Object) string {
	switch {
	case volume.DeletionTimestamp() != "":
		return fmt.Sprintf("the volume is marked for deletion %q", volume.Name())
	case claims.Size(volume).Cmp(claims.Size(claim)) < 0:
		return "requested PV is too small"
	case claims.ClassOf(volume) != claims.ClassOf(claim):
		return "storageClassName does not match"
	case volume.String("spec", "volumeAttributesClassName") != claim.String("spec", "volumeAttributesClassName"):
		return "volumeAttributesClassName does not match"
	case !claims.SameMode(claim, volume):
		return "incompatible volumeMode"
	case !claims.HasModes(claim, volume):
		return "incompatible accessMode"
	}
	return ""
}

// syncBound checks whether a bound claim still has its volume. If not, the claim is lost.
func syncBound(api *controller.Client, claim object.Object) *status.Status {
	name := claim.String("spec", "volumeName")
	volume := api.Get(claims.Volumes, "", name)
	switch {
	case name == "":
		return lose(api, claim, "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
	case volume == nil:
		return lose(api, claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
	case !volume.Has("spec", "claimRef"), volume.String("spec", "claimRef", "uid") == claim.UID():
		return bind(api, volume, claim)
	}
	return lose(api, claim, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
}

// lose marks a claim as lost and records an event, unless the claim is already lost.
func lose(api *controller.Client, claim object.Object, reason, message string) *status.Status {
	if claim.String("status", "phase") == "Lost" {
		return nil
	}
	claim, s := setClaim(api, claim, "Lost", nil)
	if s == nil {
		_ = api.Event(claim, "Warning", reason, message)
	}
	return s
}

// provision requests a volume for a claim from the provisioner of its class.
func provision(api *controller.Client, claim object.Object) *status.Status {
	class := claims.Class(api, claim)
	name := class.String("provisioner")
	switch {
	case class == nil:
		_ = api.Event(claim, "Warning", "ProvisioningFailed", fmt.Sprintf("storageclass.storage.k8s.io %q not found", claims.ClassOf(claim)))
		return nil
	case strings.HasPrefix(name, "kubernetes.io/"):
		_ = api.Event(claim, "Warning", "ProvisioningFailed", fmt.Sprintf("no volume plugin matched name: %s", name))
		return nil
	}
	if claim.Annotations()[claims.Provisioner] != name {
		claim.Set(name, "metadata", "annotations", claims.BetaProvisioner)
		claim.Set(name, "metadata", "annotations", claims.Provisioner)
		var s *status.Status
		if claim, s = api.Update(claims.Claims, "", claim); s != nil {
			return s
		}
	}
	_ = api.Event(claim, "Normal", "ExternalProvisioning", fmt.Sprintf("Waiting for a volume to be created either by the external provisioner "+
		"'%s' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running "+
		"and correctly registered.", name))
	return nil
}
