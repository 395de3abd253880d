package kubelet

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/shell"
	"github.com/kubesim/kubesim/sim/object"
)

// probe is how one of a container's probes goes.
type probe struct {
	Next   time.Time `json:",omitzero"`  // when it runs next; if zero, its result stays until the container changes
	OK     bool      `json:",omitempty"` // the last result
	Run    int       `json:",omitempty"` // how often in a row
	Failed int       `json:",omitempty"` // how often it has failed
}

// The kinds of probes, as events name them.
const (
	startup   = "Startup"
	readiness = "Readiness"
	liveness  = "Liveness"
)

// fields are where the spec of a container has its probes.
var fields = map[string]string{startup: "startupProbe", readiness: "readinessProbe", liveness: "livenessProbe"}

// complaintsMax is how often a probe that fails for ever is heard of: the filter of a real kubelet lets through 25 events, and
// then one every five minutes, which is left out here.
const complaintsMax = 25

// probe runs the probes of a container that are due, and reports whether it has come up or changed its readiness.
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

// isHealthy reports whether a container is healthy at a time, by its Image.
func (w *worker) isHealthy(c *container, at time.Time) bool {
	age, p := at.Sub(c.run.Started), c.program
	return age >= p.Ready && (p.Unhealthy == 0 || age < p.Unhealthy)
}

// turns returns when that may change, or zero if it does not change any more.
func (w *worker) turns(c *container, after time.Time) (at time.Time) {
	for _, d := range []time.Duration{c.program.Ready, c.program.Unhealthy} {
		if t := c.run.Started.Add(d); t.After(after) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}

// tick runs a probe as often as it is due, and returns its result: that of as many runs in a row as its thresholds want.
func (w *worker) tick(c *container, kind string) (success bool) {
	spec := object.Object(c.spec.Map(fields[kind]))
	p := c.run.Probes[kind]
	if p == nil {
		p = &probe{Next: c.run.Started.Add(time.Duration(spec.Int64("initialDelaySeconds")) * time.Second)}
		if p.Next.Before(w.now) {
			p.Next = w.now // others begin when the startup probe has succeeded
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
	return kind == readiness && before // below the threshold all stays as it was
}

// decided ends a container whose startup or liveness probe has failed too often.
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

// after returns when a probe is to be run again: with its next period, or with the first in which its result may be another.
func (w *worker) after(c *container, p *probe, spec object.Object, last time.Time, period time.Duration, settled bool) time.Time {
	next := last.Add(period)
	switch {
	case p.OK && p.Run < int(spec.Int64("successThreshold")), !settled:
		return next
	case !p.OK && p.Failed < complaintsMax:
		return next
	}
	turn := w.turns(c, last)
	if turn.IsZero() {
		return turn
	}
	if turn.After(next) {
		next = next.Add((turn.Sub(next) + period - 1) / period * period)
	}
	return next
}

// try runs a probe at a time. text is the message of a failure. settled is set if the result stays the same until the container
// turns.
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

// port is the number of a port of a container, which may be named.
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

// within is the world of a command that is run in a container at a time, whose own program has come to a result.
func (p *program) within(r *run, at time.Time, own *shell.Result) shell.World {
	files := map[string]*string{}
	for name, text := range p.world.Files { // order does not matter: a map again
		files[name] = text
	}
	for name, text := range own.Files { // order does not matter: a map again
		files[name] = text
	}
	for name, text := range r.Files { // likewise
		files[name] = text
	}
	return shell.World{Start: at, Env: p.world.Env, Open: p.world.Open, Files: files, Missing: true, Steps: stepsMax}
}
