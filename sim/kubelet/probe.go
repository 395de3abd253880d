package kubelet

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/shell"
	"github.com/kubesim/kubesim/sim/object"
)

// probe is the state of one of a container's probes.
type probe struct {
	Next   time.Time `json:",omitzero"`  // time of the next run; if zero, the result stays the same until the container changes
	OK     bool      `json:",omitempty"` // the last result
	Run    int       `json:",omitempty"` // the number of consecutive runs with that result
	Failed int       `json:",omitempty"` // the total number of failures
}

// These are the kinds of probes, as named in events.
const (
	startup   = "Startup"
	readiness = "Readiness"
	liveness  = "Liveness"
)

// fields maps the kinds of probes to their fields in a container's spec.
var fields = map[string]string{startup: "startupProbe", readiness: "readinessProbe", liveness: "livenessProbe"}

// complaintsMax is the number of events about a probe that fails forever. The event filter of a real kubelet passes 25 events,
// and then one every five minutes. The simulator omits the latter.
const complaintsMax = 25

// probe runs the container's probes that are due, and reports whether the container's startup or readiness state changed.
func (w *worker) probe(c *container) (changed bool) {
	r := c.run
	up, ready := r.Up, r.Ready
	if !r.Stopping.IsZero() {
		return false
	}
	if !r.Up && (!c.spec.Has(fields[startup]) || w.tick(c, startup)) {
		r.Up = true
		delete(r.Probes, startup)
	}
	if r.Up {
		if c.spec.Has(fields[liveness]) {
			w.tick(c, liveness)
		}
		if c.spec.Has(fields[readiness]) {
			r.Ready = w.tick(c, readiness)
		} else {
			at := r.Started.Add(c.program.Ready)
			if r.Ready = !w.now.Before(at); !r.Ready {
				w.at(at)
			}
		}
	}
	return up != r.Up || ready != r.Ready || !r.Stopping.IsZero()
}

// isHealthy reports whether a container is healthy at a time, according to its Image.
func (w *worker) isHealthy(c *container, at time.Time) bool {
	age, p := at.Sub(c.run.Started), c.program
	return age >= p.Ready && (p.Unhealthy == 0 || age < p.Unhealthy)
}

// nextChange returns the next time when the result of isHealthy can change, or zero if it no longer changes.
func (w *worker) nextChange(c *container, after time.Time) (at time.Time) {
	for _, d := range []time.Duration{c.program.Ready, c.program.Unhealthy} {
		if t := c.run.Started.Add(d); t.After(after) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}

// tick runs the probe of a kind as often as it is due. It reports whether the probe is successful according to its thresholds.
func (w *worker) tick(c *container, kind string) (success bool) {
	spec := object.Object(c.spec.Map(fields[kind]))
	p := c.run.Probes[kind]
	if p == nil {
		p = &probe{Next: c.run.Started.Add(time.Duration(spec.Int64("initialDelaySeconds")) * time.Second)}
		if p.Next.Before(w.now) {
			p.Next = w.now // the other probes begin after the startup probe has succeeded
		}
		if c.run.Probes == nil {
			c.run.Probes = map[string]*probe{}
		}
		c.run.Probes[kind] = p
		if kind == liveness {
			p.OK, p.Run = true, int(spec.Int64("successThreshold"))
		}
	}
	period := time.Duration(max(spec.Int64("periodSeconds"), 1)) * time.Second
	for !p.Next.IsZero() && !w.now.Before(p.Next) {
		ok, text, settled := w.try(c, spec, p.Next)
		if ok != p.OK {
			p.OK, p.Run = ok, 0
		}
		p.Run++
		if !ok {
			p.Failed++
			w.event(c, "Warning", "Unhealthy", kind+" probe failed: "+text)
		}
		if w.decided(c, kind, spec, p) {
			p.Next = time.Time{}
			break
		}
		p.Next = w.after(c, p, spec, p.Next, period, settled)
	}
	if c.run.Stopping.IsZero() {
		w.at(p.Next)
	}
	before := c.run.Ready
	switch {
	case p.OK && p.Run >= int(spec.Int64("successThreshold")):
		return true
	case !p.OK && p.Run >= int(spec.Int64("failureThreshold")):
		return false
	}
	return kind == readiness && before // below the threshold, readiness stays as it was
}

// decided stops a container whose startup or liveness probe has failed too often, and reports whether it did.
func (w *worker) decided(c *container, kind string, spec object.Object, p *probe) bool {
	if kind == readiness || p.OK || p.Run < int(spec.Int64("failureThreshold")) {
		return false
	}
	grace, own := spec.Int("terminationGracePeriodSeconds")
	if !own {
		grace = w.pod.Int64("spec", "terminationGracePeriodSeconds")
	}
	name := map[string]string{liveness: "liveness", startup: "startup"}[kind]
	w.stop(c, fmt.Sprintf("Container %s failed %s probe, will be restarted", c.name, name), w.now.Add(time.Duration(max(grace, 2))*time.Second))
	return true
}

// after returns the time of the next run of a probe. This is the next period or, if the result is settled, the first period in
// which the result can change.
func (w *worker) after(c *container, p *probe, spec object.Object, last time.Time, period time.Duration, settled bool) time.Time {
	next := last.Add(period)
	switch {
	case p.OK && p.Run < int(spec.Int64("successThreshold")), !settled:
		return next
	case !p.OK && p.Failed < complaintsMax:
		return next
	}
	turn := w.nextChange(c, last)
	if turn.IsZero() {
		return turn
	}
	if turn.After(next) {
		next = next.Add((turn.Sub(next) + period - 1) / period * period)
	}
	return next
}

// try runs a probe at the given time. text is the failure message. settled reports that the result stays the same until the
// container's health changes.
func (w *worker) try(c *container, spec object.Object, at time.Time) (ok bool, text string, settled bool) {
	args := spec.Strings("exec", "command")
	if len(args) > 0 && (c.program.script != nil || c.program.site != nil) {
		elapsed := at.Sub(c.run.Started)
		if r := c.program.run(c.run.Started, max(elapsed, 1), 0); !r.Server {
			x := shell.Words(args...).Run(c.program.within(c.run, at, r))
			for _, o := range x.Output {
				text += o.Text
			}
			return x.Code == 0 && w.isHealthy(c, at), text, r.Waits
		}
	}
	if spec.Has("httpGet") && c.program.site.isRemoved(spec.String("httpGet", "path"), c.run.Files) {
		return false, "HTTP probe failed with statuscode: 404", true
	}
	if w.isHealthy(c, at) {
		return true, "", true
	}
	host := w.k.podIP(w.rec, w.pod)
	switch {
	case spec.Has("httpGet"):
		text = "HTTP probe failed with statuscode: 503"
	case spec.Has("tcpSocket"):
		port, _ := spec.Get("tcpSocket", "port")
		text = fmt.Sprintf("dial tcp %s:%d: connect: connection refused", host, w.port(c, port))
	case spec.Has("grpc"):
		text = fmt.Sprintf("timeout: failed to connect service \"%s:%d\" within %ds: context deadline exceeded", host,
			spec.Int64("grpc", "port"), max(spec.Int64("timeoutSeconds"), 1))
	}
	return false, text, true
}

// port returns the number of a container port, which may be given by name. It returns 0 for an unknown name.
func (w *worker) port(c *container, port any) int64 {
	if n, ok := port.(int64); ok {
		return n
	}
	for _, p := range c.spec.Objects("ports") {
		if p.String("name") == port {
			return p.Int64("containerPort")
		}
	}
	return 0
}

// within returns the environment of a command that is executed in a container at a time. own is the result so far of the
// container's own program.
func (p *program) within(r *run, at time.Time, own *shell.Result) shell.World {
	files := map[string]*string{}
	for name, text := range p.world.Files { // order does not matter: the result is a map
		files[name] = text
	}
	for name, text := range own.Files { // order does not matter: the result is a map
		files[name] = text
	}
	for name, text := range r.Files { // order does not matter: the result is a map
		files[name] = text
	}
	w := p.world
	w.Start, w.Files, w.Missing, w.Steps, w.Seed = at, files, true, stepsMax, 0
	return w
}
