package kubelet

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/images"
	"github.com/kubesim/kubesim/sim/kubelet/shell"
	"github.com/kubesim/kubesim/sim/object"
)

// These are the states of a container. The zero state is that of a waiting container.
const (
	creating = "creating"
	running  = "running"
	exited   = "exited"
)

// These are the reasons why a container waits.
const (
	configError  = "CreateContainerConfigError"
	invalidImage = "InvalidImageName"
	pullError    = "ErrImagePull"
	pullBackOff  = "ImagePullBackOff"
	crashBackOff = "CrashLoopBackOff"
)

// run is the kubelet's record of a container.
//
//	wait ─▶ creating ─▶ running ─▶ exited ─┬─▶ it is not restarted
//	 ▲         └── image cannot be pulled    └─▶ creating, at first at once, then after 10 s, 20 s, … (CrashLoopBackOff)
//	 └─────────────┘
type run struct {
	State    string             `json:",omitempty"`
	Why      string             `json:",omitempty"` // the reason and the message of a waiting container
	Text     string             `json:",omitempty"`
	Due      time.Time          `json:",omitzero"` // time at which the state ends on its own, or zero
	Restarts int                `json:",omitempty"`
	ID       string             `json:",omitempty"` // ID of the current or last container, or "" if none was created
	Image    string             `json:",omitempty"` // image of the current or last container
	Pulls    bool               `json:",omitempty"` // the image is being pulled
	Began    time.Time          `json:",omitzero"`  // time at which the creation of the container began
	Started  time.Time          `json:",omitzero"`
	Finished time.Time          `json:",omitzero"`
	Code     int                `json:",omitempty"` // the exit code, or the expected one at Due; -1 if unknown
	Killed   bool               `json:",omitempty"` // it is killed at Due
	Steps    int                `json:",omitempty"` // number of commands of its program that were simulated to find its end
	Stopping time.Time          `json:",omitzero"`  // time at which its termination began, or zero
	Last     *past              `json:",omitempty"` // the previous container
	Pause    pause              `json:",omitzero"`  // the backoff between restarts
	Pull     pause              `json:",omitzero"`  // the backoff between pulls of its image
	Up       bool               `json:",omitempty"` // its startup probe has succeeded
	Ready    bool               `json:",omitempty"`
	Probes   map[string]*probe  `json:",omitempty"`
	Found    map[string]*string `json:",omitempty"` // the files in its volumes when it started
	Files    map[string]*string `json:",omitempty"` // the files that exec commands have changed

	Resources object.Object `json:",omitempty"` // the resources of the running container
	Again     bool          `json:",omitempty"` // restart it regardless of the restart policy, because it was stopped for a resize
}

// past is a container that has ended.
type past struct {
	ID                string
	Code              int
	Started, Finished time.Time
}

// pause is an exponential backoff (client-go's flowcontrol.Backoff).
type pause struct {
	Length time.Duration `json:",omitempty"`
	Since  time.Time     `json:",omitzero"` // time at which Length last increased
}

const (
	pauseMin = 10 * time.Second
	pauseMax = 300 * time.Second
)

// next doubles the pause. After a long time without a failure, it resets the pause to the minimum.
func (p *pause) next(now time.Time) {
	switch {
	case p.Length == 0 || now.Sub(p.Since) > 2*pauseMax:
		p.Length = pauseMin
	default:
		p.Length = min(2*p.Length, pauseMax)
	}
	p.Since = now
}

// until returns the end of a pause that began at since, or the zero time if there is no pause.
func (p *pause) until(since time.Time) time.Time {
	if p.Length == 0 || since.Sub(p.Since) > 2*pauseMax {
		return time.Time{}
	}
	return since.Add(p.Length)
}

// wait sets a container to waiting. It keeps the last termination state.
func (r *run) wait(why, text string) { r.State, r.Why, r.Text, r.Due = "", why, text, time.Time{} }

// abort cancels the creation of a container.
func (r *run) abort() {
	if r.wait("", ""); r.ID != "" {
		r.State = exited
	}
}

// killAt schedules the kill of a container at the given time, with exit code 137.
func (r *run) killAt(at time.Time) { r.Due, r.Code, r.Killed = at, 137, true }

// step advances a container that should run, and reports whether anything changed.
func (w *worker) step(c *container) (changed bool) {
	r := c.run
	switch r.State {
	case exited:
		if !w.restarts(c) {
			return false
		}
		if at := r.Pause.until(r.Finished); w.now.Before(at) {
			changed = r.Why != crashBackOff
			if changed {
				id := w.id()
				w.event(c, "Warning", "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s", c.name, id))
				r.Why, r.Text = crashBackOff, fmt.Sprintf("back-off %v restarting failed container=%s pod=%s", r.Pause.Length, c.name, id)
			}
			w.at(at)
			return changed
		}
		return w.create(c)
	case creating:
		if w.now.Before(r.Due) {
			w.at(r.Due)
			return false
		}
		w.started(c)
		return true
	case running:
		return w.elapse(c)
	}
	if w.now.Before(r.Due) {
		w.at(r.Due)
		return false
	}
	return w.create(c)
}

// id returns the name of the pod as the kubelet's messages contain it: name, namespace and UID.
func (w *worker) id() string {
	return fmt.Sprintf("%s_%s(%s)", w.pod.Name(), w.pod.Namespace(), w.pod.UID())
}

// create starts the creation of a container, and reports whether anything changed.
func (w *worker) create(c *container) (changed bool) {
	r := c.run
	image := c.spec.String("image")
	before := *r
	switch {
	case !images.WellFormed(image):
		if r.Why != invalidImage {
			text := fmt.Sprintf("Failed to apply default image tag %q: couldn't parse image name %q: invalid reference format", image, image)
			w.event(c, "Warning", "InspectFailed", text)
			w.event(c, "Warning", "Failed", "Error: "+invalidImage)
			r.wait(invalidImage, text)
		}
	case c.wrong != nil:
		w.misconfigured(c, c.wrong)
	case c.program.PullError != "":
		w.pullFails(c)
		return true
	default:
		if err := (resolver{w.api, w.k}).check(w.pod, c.spec); err != nil {
			w.misconfigured(c, err)
			break
		}
		policy := c.spec.String("imagePullPolicy")
		if r.Pulls = policy == "Always" || policy != "Never" && !w.k.memory.Images[image]; r.Pulls {
			w.event(c, "Normal", "Pulling", fmt.Sprintf("Pulling image %q", image))
		}
		if r.ID != "" {
			r.Pause.next(r.Finished)
		}
		r.State, r.Why, r.Text, r.Began = creating, "", "", w.now
		r.Due = w.now.Add(delay(c.program.Start))
		return true
	}
	return r.Why != before.Why || r.Text != before.Text
}

// misconfigured makes a container wait because its configuration is invalid or refers to a missing object.
func (w *worker) misconfigured(c *container, err error) {
	if c.run.Why != configError || c.run.Text != err.Error() {
		w.event(c, "Warning", "Failed", "Error: "+err.Error())
		c.run.wait(configError, err.Error())
	}
}

// delay returns d. If d is 0, it returns the default of one second. If d is negative, it returns 0.
func delay(d time.Duration) time.Duration {
	if d == 0 {
		return time.Second
	}
	return max(d, 0)
}

// pullFails records that an image cannot be pulled, and schedules the next attempt (images.imageManager).
func (w *worker) pullFails(c *container) {
	image, r := c.spec.String("image"), c.run
	if at := r.Pull.until(r.Pull.Since); w.now.Before(at) {
		backOff := fmt.Sprintf("Back-off pulling image %q", image)
		w.event(c, "Normal", "BackOff", backOff)
		w.event(c, "Warning", "Failed", "Error: "+pullBackOff)
		r.wait(pullBackOff, fmt.Sprintf("%s: %s: %s", backOff, pullError, c.program.PullError))
		r.Due = at
		w.at(at)
		return
	}
	w.event(c, "Normal", "Pulling", fmt.Sprintf("Pulling image %q", image))
	w.event(c, "Warning", "Failed", fmt.Sprintf("Failed to pull image %q: %s", image, c.program.PullError))
	w.event(c, "Warning", "Failed", "Error: "+pullError)
	r.wait(pullError, c.program.PullError)
	r.Pull.next(w.now)
	r.Due = w.now.Add(pullRetry)
	w.at(r.Due)
}

// pullRetry is the delay before a kubelet syncs a pod again after it failed to pull an image.
const pullRetry = time.Second

// started marks a container as running, determines its next exit, and records the event.
func (w *worker) started(c *container) {
	r, image := c.run, c.spec.String("image")
	if r.Pulls {
		took := w.now.Sub(r.Began).Truncate(time.Millisecond)
		w.event(c, "Normal", "Pulled", fmt.Sprintf("Successfully pulled image %q in %v (%v including waiting). Image size: %d bytes.", image, took, took, size(image)))
	} else {
		w.event(c, "Normal", "Pulled", fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", image))
	}
	if w.k.memory.Images == nil {
		w.k.memory.Images = map[string]bool{}
	}
	w.k.memory.Images[image] = true
	w.event(c, "Normal", "Created", "Container created")
	w.event(c, "Normal", "Started", "Container started")
	if r.ID != "" {
		r.Last = &past{r.ID, r.Code, r.Started, r.Finished}
		r.Restarts++
	}
	r.ID = digest(w.pod.UID(), c.name, fmt.Sprint(r.Restarts))
	r.State, r.Started, r.Finished, r.Code, r.Killed, r.Image = running, w.now, time.Time{}, 0, false, object.Keep(image)
	r.Steps, r.Stopping, r.Probes, r.Files, r.Pull = stepsMin, time.Time{}, nil, nil, pause{}
	c.program.world.Files = w.mountedFiles(c)
	if hook := c.spec.Strings("lifecycle", "postStart", "exec", "command"); len(hook) > 0 {
		x := c.program.world
		x.Start, x.Missing, x.Steps = w.now, true, stepsMin
		c.program.world.Files = shell.Words(hook...).Run(x).Files // the container's command sees them at once
	}
	r.Found = c.program.world.Files
	r.Up, r.Ready, r.Again, r.Resources = false, false, false, w.rec.Allocated.get(c.name)
	w.scheduleExit(c)
	w.probe(c)
}

// size returns the size of an image in bytes, which it derives from the image's name.
func size(image string) int {
	n := 0
	for _, c := range digest(image)[:6] {
		n = n*16 + int(c%16)
	}
	return 10_000_000 + n
}

// scheduleExit determines when a running container ends on its own.
func (w *worker) scheduleExit(c *container) {
	at, code, ends := c.program.end(c.run.Started, c.run.Steps)
	c.run.Due, c.run.Code = at, code
	if !ends {
		c.run.Code = -1 // the end is not known yet: scheduleExit is called again at Due
	}
}

// findExit simulates the program of a running container until the current time, and so determines whether it has ended.
func (w *worker) findExit(c *container) {
	for r := c.run; r.Code < 0 && !r.Due.IsZero() && !w.now.Before(r.Due); {
		r.Steps *= 4
		w.scheduleExit(c)
	}
}

// elapse advances a running container to the current time, and reports whether anything changed.
func (w *worker) elapse(c *container) (changed bool) {
	r := c.run
	if r.State != running {
		return false
	}
	if c.program == nil { // its annotations have become invalid since it started
		c.program = &program{}
	}
	w.findExit(c)
	if r.Due.IsZero() || w.now.Before(r.Due) {
		if changed = w.probe(c); r.Due.IsZero() || w.now.Before(r.Due) {
			w.at(r.Due)
			return changed
		}
	}
	w.keep(c, r.Due)
	r.State, r.Finished, r.Ready, r.Up, r.Why, r.Text = exited, r.Due, false, false, "", "" // Due, not now, because the kubelet may notice the end later
	r.Due, r.Probes = time.Time{}, nil
	return true
}

// stop begins the termination of a container. until is the deadline at which the container is killed. If message is empty, stop uses
// the default message (kuberuntime.killContainer).
func (w *worker) stop(c *container, message string, until time.Time) {
	if message == "" {
		message = "Stopping container " + c.name
	}
	w.event(c, "Normal", "Killing", message)
	r := c.run
	r.Stopping = w.now
	if c.program == nil {
		c.program = &program{}
	}
	at := w.now.Add(w.preStop(c, until.Sub(w.now)))
	natural, code := r.Due, r.Code
	done, exit, handles := c.program.handles(r, at)
	switch ends := at.Add(delay(c.program.Stop)); {
	case handles && !done.IsZero() && !done.After(until):
		r.Due, r.Code, r.Killed = done, exit, false
	case handles:
		r.killAt(until)
	case c.program.ignoresSIGTERM(r.Started, w.now) || ends.After(until):
		r.killAt(until)
	default:
		r.Due, r.Code, r.Killed = ends, c.program.StopCode, false
	}
	if code >= 0 && !natural.IsZero() && natural.Before(r.Due) {
		r.Due, r.Code, r.Killed = natural, code, false
	}
}

// preStop returns the duration of the container's preStop hook, but at most grace.
func (w *worker) preStop(c *container, grace time.Duration) time.Duration {
	hook := object.Object(c.spec.Map("lifecycle", "preStop"))
	d := time.Duration(hook.Int64("sleep", "seconds")) * time.Second
	if args := hook.Strings("exec", "command"); len(args) > 0 {
		if r := shell.Words(args...).Run(shell.World{Limit: grace, Steps: stepsMin}); r.Ended || !r.Waits {
			d = r.At
		}
	}
	return min(d, grace)
}
