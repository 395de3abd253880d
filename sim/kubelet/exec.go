package kubelet

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/shell"
	"github.com/kubesim/kubesim/sim/status"
)

// exec runs a command in a container: its Image has the answer, or the shell works it out.
func (t *target) exec() (*Answer, *status.Status) {
	if t.c.run.State != running {
		return t.notRunning(), nil
	}
	args := t.query["command"]
	if len(args) == 0 {
		return nil, status.BadRequest("you must specify at least 1 command for the container")
	}
	s := t.nodes.session()
	s.Upgrade = true
	id := t.c.run.ID
	t.k.follow(t.key, s, func() {
		if _, runs := t.same(id); !runs {
			s.close(exitStatus(137))
		}
	})
	switch {
	case len(args) == 1 && shell.IsShell(args[0]) && t.is("stdin"):
		t.converse(s, func(code int) { s.close(exitStatus(code)) })
	case len(args) == 1 && args[0] == "cat" && t.is("stdin"):
		t.echo(s)
	default:
		if text, ok := t.c.program.Exec[strings.Join(args, " ")]; ok {
			s.say(false, text)
			s.close(nil)
			break
		}
		if !shell.Known(args[0]) {
			s.End()
			return t.internal(fmt.Sprintf("error executing command in container: failed to exec in container: failed to start exec %q: "+
				"OCI runtime exec failed: exec failed: unable to start container process: exec: %q: executable file not found in $PATH",
				digest(t.key, args[0], t.now.String()), args[0])), nil
		}
		t.command(s, shell.Words(args...))
	}
	return &Answer{Session: s}, nil
}

// commandSteps is how many commands of a script that is run in a container are worked out.
const commandSteps = 1 << 17

// command sends the output of a program at its times, and then its result.
func (t *target) command(s *Session, x *shell.Program) {
	r := x.Run(t.world(t.now, commandSteps))
	t.wrote(r)
	begin := t.now
	var say func(n int)
	say = func(n int) {
		now := t.nodes.schedule.Now()
		for ; n < len(r.Output); n++ {
			o := r.Output[n]
			if at := begin.Add(o.At); at.After(now) {
				s.after(at, func() { say(n) })
				return
			}
			s.say(o.Error && !t.is("tty"), t.line(o.Text))
		}
		if r.Ended {
			s.after(begin.Add(r.At), func() { s.close(exitStatus(r.Code)) })
		}
	}
	say(0)
}

// line is a text as a terminal has it.
func (t *target) line(text string) string {
	if t.is("tty") {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// world returns the environment of a command that is run in the container now.
func (t *target) world(now time.Time, steps int) shell.World {
	p, started := t.c.program, t.c.run.Started
	w := p.within(t.c.run, now, p.run(started, max(now.Sub(started), 1), 0))
	if w.Env == nil { // the environment is computed at its first use
		of := resolver{t.k.client(), t.k}.world(t.w.pod, t.c.spec, nil)
		w.Env, w.Open, w.Seed = of.Env, t.w.opens(t.c, of.Open), of.Seed
	}
	w.Steps = steps
	return w
}

// wrote keeps the files that a command has changed, those of volumes at once, and has probes look at them.
func (t *target) wrote(r *shell.Result) {
	if len(r.Files) == 0 {
		return
	}
	t.c.run.Files = r.Files
	t.w.keep(t.c, t.now)
	for _, p := range t.c.run.Probes { // order does not matter
		if p.Next.IsZero() {
			p.Next = t.now
		}
	}
	t.k.client().Enqueue(t.w.key())
}

// echo sends the client's input back.
func (t *target) echo(s *Session) {
	s.input = func(p []byte, end bool) {
		s.say(false, string(p))
		if end {
			s.close(nil)
		}
	}
}

// attach streams the output of a container from now on. If the container runs a shell, input goes to it.
func (t *target) attach() (*Answer, *status.Status) {
	if t.c.run.State != running {
		return t.notRunning(), nil
	}
	s := t.nodes.session()
	s.Upgrade = true
	id := t.c.run.ID
	t.tail(s, id, t.c.run.Started, t.now, func(lines []printed) {
		for _, x := range lines {
			s.say(x.error && !t.is("tty"), t.line(x.text))
		}
	})
	if t.is("stdin") && t.c.interactive() {
		t.converse(s, func(code int) {
			if r, runs := t.same(id); runs { // the shell was the container's process
				r.Due, r.Code, r.Killed = t.nodes.schedule.Now(), code, false
				t.k.client().Enqueue(t.w.key())
			}
			s.close(nil)
		})
	}
	return &Answer{Session: s}, nil
}

// prompt is the prompt of a shell that waits for a command.
const prompt = "/ # "

// converse makes a session a shell that reads commands, a line each, until exit or the end of the input.
func (t *target) converse(s *Session, done func(code int)) {
	tty := t.is("tty")
	line, last := "", 0
	if tty {
		s.say(false, prompt)
	}
	run := func() (ended bool) {
		text := strings.TrimSpace(line)
		line = ""
		if text == "" {
			return false
		}
		x, err := shell.Parse(text)
		if err != nil {
			s.say(!tty, t.line("sh: syntax error: kubesim's shell does not know this\n"))
			last = 2
			return false
		}
		t.now = t.nodes.schedule.Now()
		r := x.Run(t.world(t.now, stepsMax))
		t.wrote(r)
		for _, o := range r.Output { // at once: an interactive session does not wait for simulated pauses
			s.say(o.Error && !tty, t.line(o.Text))
		}
		last = r.Code
		return r.Exited
	}
	s.input = func(p []byte, end bool) {
		for _, c := range string(p) {
			switch {
			case c == '\r' || c == '\n':
				if tty {
					s.say(false, "\r\n")
				}
				if run() {
					done(last)
					return
				}
				if tty {
					s.say(false, prompt)
				}
			case tty && (c == 4 && line == ""):
				done(last)
				return
			case tty && c == 3:
				line = ""
				s.say(false, "^C\r\n"+prompt)
			case tty && (c == 127 || c == 8):
				if line != "" {
					line = line[:len(line)-1]
					s.say(false, "\b \b")
				}
			default:
				if line += string(c); tty {
					s.say(false, string(c))
				}
			}
		}
		if end {
			if run() || !s.ended {
				done(last)
			}
		}
	}
}
