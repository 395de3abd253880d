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

// program is the behaviour of a container's process after its start.
type program struct {
	Image
	script *shell.Program // the parsed command, or nil for a program that runs forever
	world  shell.World
	site   *site // the files that it serves, or nil if unknown
}

// idleShells lists the images whose default command is a shell, which ends immediately without input.
var idleShells = []string{"busybox", "alpine", "ubuntu", "debian", "fedora", "centos", "bash"}

// idle reports whether the default command of an image is a shell.
func idle(image string) bool { return slices.Contains(idleShells, path.Base(images.Untagged(image))) }

// programOf returns the program of a container. A task is expected to end: if its program is unknown, it succeeds after a second.
// programOf returns an error if an annotation is invalid.
func (k *Kubelet) programOf(r resolver, pod, container object.Object, task bool) (*program, error) {
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
		p.script = nil // a shell without arguments waits for input
	}
	if p.script == nil && task && !interactive {
		p.script = shell.Words("entrypoint")
	}
	if p.script == nil {
		p.site = siteOf(image, args)
	}
	if p.script != nil || p.site != nil {
		p.world = r.world(pod, container, p.site)
		p.world.Task = task
	}
	return p, nil
}

// world returns the environment in which a container's command starts: its variables and files.
func (r resolver) world(pod, container object.Object, s *site) shell.World {
	seed := fnv.New64a()
	seed.Write([]byte(pod.UID() + "/" + container.String("name")))
	uid, gid := userOf(pod, container)
	return shell.World{Env: r.environment(pod, container), Seed: seed.Sum64(), User: uid, Group: gid,
		FSGroup: pod.Int64("spec", "securityContext", "fsGroup"), Mounts: mounts(pod, container),
		Open: func(name string) (string, bool) {
			if text, ok := r.volumeFiles(pod, container)[name]; ok {
				return text, true
			}
			if name == "/etc/resolv.conf" {
				return resolvConf(pod), true
			}
			return s.open(name)
		},
		Names: object.SortedKeys(r.volumeFiles(pod, container)),
	}
}

// run returns the result of the program after it has run for limit, or until it ends if limit is 0.
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

// stepsMin is the number of commands that are simulated when a program starts, to find out when it ends.
const stepsMin = 2000

// end returns the time at which a program that began at started ends on its own, and its exit code. If the end is not known yet, it
// returns false, and the caller can try again at the returned time. If the program never ends, that time is zero.
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

// ignoresSIGTERM reports whether a program ignores SIGTERM. A script ignores it unless it has a trap, because the main process of
// a container has no default signal handlers. Servers are assumed to handle it.
func (p *program) ignoresSIGTERM(started, now time.Time) bool {
	if p.script == nil || p.Image.Stop != 0 {
		return false
	}
	r := p.run(started, max(now.Sub(started), 1), 0)
	return !r.Handles && !r.Server
}

// handles returns the time at which a program ends, and its exit code, if it receives SIGTERM at the given time. If it does not end,
// the returned time is zero. If the program has no trap for SIGTERM, handles returns false.
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

// output returns the output of a program between the times from and to, both inclusive, in order. started is the time at which the
// program started.
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

// linesMax limits how often a line of Image.Log is repeated.
const linesMax = 100_000

// printed is a piece of a container's output.
type printed struct {
	at    time.Time
	error bool
	text  string
}

// next returns the time of a program's next output after the given time, or zero if it prints nothing more.
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

// stepsMax limits the number of simulated commands when looking for a program's next output.
const stepsMax = 1 << 20

// wrapped joins and splits pieces of output into log lines. Each ends with a line break, except the last if it is not complete yet.
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
