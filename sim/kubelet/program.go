package kubelet

import (
	"hash/fnv"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/images"
	"github.com/kubesim/kubesim/sim/kubelet/shell"
	"github.com/kubesim/kubesim/sim/object"
)

// program is the behaviour of a container's process from its start on.
type program struct {
	Image
	script *shell.Program // parsed command; nil for a server
	world  shell.World
	site   *site // files that it serves, if known
}

// idleShells are images whose own command is a shell, which ends at once without an input stream.
var idleShells = []string{"busybox", "alpine", "ubuntu", "debian", "fedora", "centos", "bash"}

// idle reports whether the command of an image is a shell.
func idle(image string) bool { return slices.Contains(idleShells, path.Base(images.Untagged(image))) }

// programOf returns the program of a container. An error is about an annotation.
func (k *Kubelet) programOf(r resolver, pod, container object.Object) (*program, error) {
	image := container.String("image")
	x, err := images.Of(k.images, pod, container.String("name"), image)
	if err != nil {
		return nil, err
	}
	p := &program{Image: x}
	args := append(container.Strings("command"), container.Strings("args")...)
	interactive := container.True("stdin") || container.True("tty")
	switch {
	case len(container.Strings("command")) > 0:
		p.script = shell.Words(args...)
	case len(args) > 0 && (idle(image) || shell.Known(args[0])):
		p.script = shell.Words(args...) // a shell, or an entrypoint that runs its arguments
	case len(args) == 0 && !interactive && idle(image):
		p.script = shell.Words("true")
	case images.Untagged(image) == "hello-world":
		p.script = shell.Words("echo", "\nHello from Docker!\nThis message shows that your installation appears to be working correctly.\n")
	}
	if interactive && len(args) == 1 && shell.IsShell(args[0]) {
		p.script = nil // it waits for input
	}
	if p.script == nil {
		p.site = siteOf(image, args)
	}
	if p.script != nil || p.site != nil {
		p.world = r.world(pod, container, p.site)
	}
	return p, nil
}

// world returns the environment of a container's command at its start.
func (r resolver) world(pod, container object.Object, s *site) shell.World {
	mounted := r.files(pod, container)
	seed := fnv.New64a()
	seed.Write([]byte(pod.UID() + "/" + container.String("name")))
	return shell.World{Env: r.environment(pod, container), Seed: seed.Sum64(), Open: func(name string) (string, bool) {
		if text, ok := mounted(name); ok {
			return text, true
		}
		return s.open(name)
	}}
}

// run returns the output of the program until a time after its start, and whether it has ended.
func (p *program) run(started time.Time, limit time.Duration, steps int) *shell.Result {
	r := &shell.Result{Waits: true}
	if p.script != nil {
		w := p.world
		w.Start, w.Limit, w.Steps = started, limit, steps
		r = p.script.Run(w)
	}
	if p.Exit != nil && (limit == 0 || p.Exit.After <= limit) {
		r.Ended, r.Waits, r.Code, r.At = true, false, p.Exit.Code, p.Exit.After
		r.Output = slices.DeleteFunc(r.Output, func(o shell.Output) bool { return o.At > p.Exit.After })
	} else if p.Exit != nil {
		r.Ended = false
	}
	return r
}

// stepsMin is how many commands of a program are tried at its start to find out when it ends.
const stepsMin = 2000

// end returns when a program that began at a time ends by itself, and with which code. It is not known yet where ok is false;
// it may be asked again at that time, which is zero when it never ends.
func (p *program) end(started time.Time, steps int) (at time.Time, code int, ok bool) {
	r := p.run(started, 0, steps)
	switch {
	case r.Ended:
		return started.Add(r.At), r.Code, true
	case r.Waits || r.At == 0:
		return time.Time{}, 0, false
	}
	return started.Add(r.At), 0, false
}

// deaf reports whether a program ignores SIGTERM: the first process of a container has no default signal handlers.
func (p *program) deaf(started, now time.Time) bool {
	if p.script == nil || p.Image.Stop != 0 {
		return false
	}
	r := p.run(started, max(now.Sub(started), 1), 0)
	return !r.Handles && !r.Server
}

// handles returns when a program that gets SIGTERM at a time is done, and its exit code, if the program has a trap. Otherwise it returns
// false. The time is zero if the program does not end at all.
func (p *program) handles(r *run, at time.Time) (done time.Time, code int, ok bool) {
	if p.script == nil || p.Image.Stop != 0 {
		return done, 0, false
	}
	own := p.run(r.Started, max(at.Sub(r.Started), 1), 0)
	if own.Term == nil {
		return done, 0, false
	}
	w := p.within(r, at, own)
	if x := own.Term.Run(w); x.Exited {
		return at.Add(x.At), x.Code, true
	}
	return done, 0, true
}

// output returns the output between two instants of a program that began at a time, in order.
func (p *program) output(started, from, to time.Time) (all []printed) {
	for _, o := range p.run(started, max(to.Sub(started), 1), 0).Output {
		if at := started.Add(o.At); !at.Before(from) && !at.After(to) {
			all = append(all, printed{at, o.Error, o.Text})
		}
	}
	for _, l := range p.Log {
		at := started.Add(l.After)
		if l.Every > 0 && at.Before(from) {
			at = at.Add((from.Sub(at) + l.Every - 1) / l.Every * l.Every)
		}
		for n := 0; !at.After(to) && n < linesMax; n++ {
			if !at.Before(from) {
				all = append(all, printed{at, false, l.Text + "\n"})
			}
			if l.Every <= 0 {
				break
			}
			at = at.Add(l.Every)
		}
	}
	slices.SortStableFunc(all, func(a, b printed) int { return a.at.Compare(b.at) })
	return all
}

// linesMax is how often one line of a log is shown.
const linesMax = 100_000

// printed is something that a container has printed.
type printed struct {
	at    time.Time
	error bool
	text  string
}

// next returns when a program prints something after a time, or zero if it does not print again.
func (p *program) next(started, after time.Time) (at time.Time) {
	sooner := func(t time.Time) {
		if t.After(after) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	for _, l := range p.Log {
		t := started.Add(l.After)
		if l.Every > 0 && !t.After(after) {
			t = t.Add((after.Sub(t)/l.Every + 1) * l.Every)
		}
		sooner(t)
	}
	if p.script != nil {
		for steps := stepsMin; at.IsZero() || steps == stepsMin; steps *= 4 {
			r := p.run(started, 0, steps)
			for _, o := range r.Output {
				sooner(started.Add(o.At))
			}
			if r.Ended || r.Waits || r.At == 0 || steps > stepsMax {
				break
			}
		}
	}
	return at
}

// stepsMax bounds the steps that are run to find out when a program prints next.
const stepsMax = 1 << 20

// wrapped splits output into the lines of a log: each piece that ends in a line break is a line.
func wrapped(all []printed) (lines []printed) {
	open := -1
	for _, x := range all {
		for text := range strings.SplitAfterSeq(x.text, "\n") {
			switch {
			case text == "":
			case open >= 0:
				lines[open].text += text
			default:
				lines = append(lines, printed{x.at, x.error, text})
				open = len(lines) - 1
			}
			if strings.HasSuffix(text, "\n") {
				open = -1
			}
		}
	}
	return lines
}
