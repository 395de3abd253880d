package kubelet

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// pod is the kubelet's record of a pod.
type pod struct {
	UID        string
	Address    int                `json:",omitempty"` // number of its address in the node's range, or 0 if none is allocated yet
	Mounted    bool               `json:",omitempty"` // its volumes are mounted, and its devices prepared
	Missing    string             `json:",omitempty"` // reason why its volumes are not mounted, or its devices not prepared
	Prepares   time.Time          `json:",omitzero"`  // time at which its devices are prepared
	Volumes    []string           `json:",omitempty"` // attachable volumes that it uses, by their names in the status of the node
	Containers few[*run]          `json:",omitempty"`
	Ending     time.Time          `json:",omitzero"`  // time at which its termination began, or zero
	Until      time.Time          `json:",omitzero"`  // time at which its containers are killed
	Overdue    bool               `json:",omitempty"` // it exceeded activeDeadlineSeconds
	IP         string             `json:",omitempty"` // the address of an imported pod that is not in the node's range
	Imported   object.Object      `json:",omitempty"` // the status that was not written because the pod is still as it was imported
	Said       few[recordedEvent] // by reason, field and message
	Files      map[string]string  `json:",omitempty"` // the files in its own volumes, by VOLUME/path

	Refused   *refusal            `json:",omitempty"` // the reason why the node rejected it
	Admitted  bool                `json:",omitempty"` // the node accepted it
	Over      bool                `json:",omitempty"` // it has ended, and its resources are free
	Needs     workload.Amounts    `json:",omitzero"`  // the node's resources that it occupies
	Ports     []workload.HostPort `json:",omitempty"`
	Allocated few[object.Object]  `json:",omitempty"` // allocated resources by container name; "" is the pod as a whole
	Level     object.Object       `json:",omitempty"` // the pod-level resources that are in effect

	Resizing   bool      `json:",omitempty"` // its requests differ from the allocated resources
	Pending    *resizing `json:",omitempty"` // the condition PodResizePending
	InProgress *resizing `json:",omitempty"` // the condition PodResizeInProgress
	Actuates   time.Time `json:",omitzero"`  // when the latest allocation takes effect
}

// isWaiting reports whether the pod waits for an object that does not exist.
func (p *pod) isWaiting() bool {
	if p.Missing != "" {
		return true
	}
	for _, c := range p.Containers {
		if c.value.Why == configError {
			return true
		}
	}
	return false
}

// worker processes one pod.
type worker struct {
	k          *Kubelet
	api        *controller.Client
	now        time.Time
	pod        object.Object // the Pod object in the kubelet's cache
	rec        *pod
	containers []*container // init containers first
	again      time.Time    // time at which to sync the pod again, or zero
}

// container is a container of the pod, with its record.
type container struct {
	name    string
	list    string // field of the spec that contains it
	spec    object.Object
	run     *run
	program *program // nil if the pod's annotations are invalid
	wrong   error
	init    bool // an init container that is not a sidecar
	sidecar bool // a restartable init container
}

// at requests that the pod be synced again at the given time.
func (w *worker) at(t time.Time) {
	if !t.IsZero() && (w.again.IsZero() || t.Before(w.again)) {
		w.again = t
	}
}

// syncPod moves a pod toward its desired state, and returns the delay until its next call (kubelet.SyncPod, SyncTerminatingPod
// and SyncTerminatedPod).
func (k *Kubelet) syncPod(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	it := api.Item(pods, key.Namespace, key.Name)
	if it == nil {
		k.unmount(api, k.memory.Pods[key.String()])
		delete(k.memory.Pods, key.String())
		k.forget()
		k.noteWaiting(key)
		k.changed(key.String())
		k.retryResizes(api, nil)
		return 0, nil
	}
	defer func() {
		k.noteWaiting(key)
		k.changed(key.String())
	}()
	w := k.worker(api, it.Shared())
	phase := w.pod.String("status", "phase")
	finished := phase == "Succeeded" || phase == "Failed"
	if finished && !w.active() {
		k.unmount(api, w.rec)
		if w.pod.DeletionTimestamp() == "" {
			return 0, nil
		}
		return 0, w.remove()
	}
	if finished || w.pod.DeletionTimestamp() != "" {
		w.end()
	} else {
		w.run()
	}
	if s := w.report(); s != nil {
		return 0, s
	}
	if w.pod.DeletionTimestamp() != "" && !w.active() {
		k.unmount(api, w.rec)
		return 0, w.remove()
	}
	if w.again.IsZero() {
		return 0, nil
	}
	return max(w.again.Sub(w.now), 1), nil
}

// worker returns the worker for a pod. It creates the record of a new pod.
func (k *Kubelet) worker(api *controller.Client, obj object.Object) *worker {
	key := controller.Key{Namespace: obj.Namespace(), Name: obj.Name()}.String()
	if k.memory.Pods == nil {
		k.memory.Pods = map[string]*pod{}
	}
	rec := k.memory.Pods[key]
	first := rec == nil || rec.UID != obj.UID()
	if first {
		was := rec
		rec = k.recordOf(obj)
		if k.memory.Pods[key] = rec; was != nil || rec.Address != 0 {
			k.forget()
		}
	}
	w := &worker{k: k, api: api, now: api.Now(), pod: obj, rec: rec}
	if w.populate(); first {
		w.readmit()
		if k.imported {
			w.keepImported()
		}
	}
	return w
}

// populate initializes the worker's containers from the pod's spec.
func (w *worker) populate() {
	obj, rec := w.pod, w.rec
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, spec := range obj.Objects("spec", list) {
			c := &container{name: spec.String("name"), list: list, spec: spec}
			if list == "initContainers" {
				c.sidecar = spec.String("restartPolicy") == "Always"
				c.init = !c.sidecar
			}
			if rec.Containers.get(c.name) == nil {
				rec.Containers.set(object.Keep(c.name), &run{})
			}
			c.run = rec.Containers.get(c.name)
			if c.program, c.wrong = w.k.programOf(resolver{w.api, w.k}, obj, spec, c.init || completes(obj)); c.program != nil {
				c.program.world.Files = c.run.Found
				c.program.world.Open = w.opens(c, c.program.world.Open)
			}
			w.containers = append(w.containers, c)
		}
	}
}

// completes reports whether a pod is expected to end on its own: a controller has created it with a restartPolicy other than Always.
// The only built-in controller that does this is the Job controller.
func completes(pod object.Object) bool {
	policy := pod.String("spec", "restartPolicy")
	return (policy == "Never" || policy == "OnFailure") && workload.ControllerOf(pod) != nil
}

// active reports whether a container of the pod runs.
func (w *worker) active() bool {
	return slices.ContainsFunc(w.containers, func(c *container) bool { return c.run.State == running })
}

// run starts and advances containers until there is nothing left to do at the current time.
func (w *worker) run() {
	if w.overdue() {
		return
	}
	if !w.rec.Admitted && !w.admit() {
		return
	}
	w.resize()
	if !w.rec.Mounted {
		if !w.mount() || !w.prepareDevices() {
			return
		}
		w.rec.Mounted = true
		if !w.pod.True("spec", "hostNetwork") {
			w.rec.Address = w.k.address()
		}
	}
	for range roundsMax {
		w.again = time.Time{}
		if changed := w.actuate(); !w.advance() && !changed {
			break
		}
	}
	w.atDeadline()
}

// roundsMax limits how often a pod can change at one instant. A container that ends immediately is restarted after a pause.
const roundsMax = 1000

// advance steps each container and reports whether anything changed.
func (w *worker) advance() (changed bool) {
	if w.failed() || w.done() {
		return w.endSidecars()
	}
	for _, c := range w.containers {
		if c.init || c.sidecar {
			if !w.ended(c) {
				changed = w.step(c) || changed
				if !w.initialized(c) {
					return changed
				}
			}
			continue
		}
		changed = w.step(c) || changed
	}
	return changed
}

// initialized reports whether the containers that follow an init container may start.
func (w *worker) initialized(c *container) bool {
	if c.sidecar {
		return c.run.State == running && c.run.Up || w.begun()
	}
	return w.ended(c)
}

// ended reports whether an init container has completed successfully.
func (w *worker) ended(c *container) bool { return c.init && c.run.State == exited && c.run.Code == 0 }

// begun reports whether a regular container has ever started.
func (w *worker) begun() bool {
	return slices.ContainsFunc(w.containers, func(c *container) bool { return c.list == "containers" && c.run.ID != "" })
}

// failed reports whether an init container has failed and will not be restarted.
func (w *worker) failed() bool {
	return slices.ContainsFunc(w.containers, func(c *container) bool {
		return c.init && c.run.State == exited && c.run.Code != 0 && !w.restarts(c)
	})
}

// done reports whether all regular containers have ended and none will be restarted.
func (w *worker) done() bool {
	return !slices.ContainsFunc(w.containers, func(c *container) bool {
		return c.list == "containers" && (c.run.State != exited || w.restarts(c))
	})
}

// restarts reports whether a container that has ended should be restarted (podutil.ContainerShouldRestart).
func (w *worker) restarts(c *container) bool {
	if c.run.Again {
		return true
	}
	for _, rule := range c.spec.Objects("restartPolicyRules") {
		in := slices.Contains(rule.List("exitCodes", "values"), any(int64(c.run.Code)))
		if in == (rule.String("exitCodes", "operator") == "In") {
			return rule.String("action") == "Restart"
		}
	}
	if c.list == "ephemeralContainers" {
		return false
	}
	policy := cmp.Or(c.spec.String("restartPolicy"), w.pod.String("spec", "restartPolicy"), "Always")
	if c.init && policy == "Always" {
		policy = "OnFailure"
	}
	return policy == "Always" || policy == "OnFailure" && c.run.Code != 0
}

// endSidecars terminates the sidecars and ephemeral containers when no other container runs. It reports whether it changed the
// state of any of them.
func (w *worker) endSidecars() (changed bool) {
	for _, c := range slices.Backward(w.containers) {
		if c.sidecar || c.list == "ephemeralContainers" {
			if c.run.State == creating {
				c.run.abort()
				changed = true
			}
			if c.run.State == running && c.run.Stopping.IsZero() {
				w.stop(c, "", w.now.Add(w.grace()))
				changed = true
			}
			changed = w.elapse(c) || changed
		}
	}
	return changed
}

func (w *worker) key() controller.Key {
	return controller.Key{Namespace: w.pod.Namespace(), Name: w.pod.Name()}
}

// remove deletes the pod from the API after its containers have ended.
func (w *worker) remove() *status.Status {
	s := w.api.Delete(pods, w.key(), controller.Preconditions{UID: w.pod.UID(), Now: true})
	if s != nil && s.Reason != status.ReasonNotFound && s.Reason != status.ReasonConflict {
		return s
	}
	return nil
}
