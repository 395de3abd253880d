package kubelet

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/shell"
	"github.com/kubesim/kubesim/sim/status"
)

// exec executes a command in a container. Its output comes from the container's Image or, if the Image does not define it, from
// the simulated shell.
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

// commandSteps limits the number of simulated commands in a script that is executed in a container.
const commandSteps = 1 << 17

// command sends the output of a program to a session, each piece at the time at which the program prints it, and then ends the
// session with the program's result.
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

// line converts line breaks to those of a terminal if the session has a terminal.
func (t *target) line(text string) string {
	if t.is("tty") {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// world returns the environment of a command that is executed in the container at time now. steps is the maximum number of
// simulated commands.
func (t *target) world(now time.Time, steps int) shell.World {
	p, started := t.c.program, t.c.run.Started
	w := p.within(t.c.run, now, p.run(started, max(now.Sub(started), 1), 0))
	if w.Env == nil { // the environment is computed on first use
		of := resolver{t.k.client(), t.k}.world(t.w.pod, t.c.spec, nil)
		of.Start, of.Files, of.Missing = w.Start, w.Files, w.Missing
		w, w.Open = of, t.w.opens(t.c, of.Open)
	}
	w.Steps = steps
	return w
}

// wrote stores the file changes of a command. It applies changes in volumes immediately, and schedules all probes whose result was
// considered final, because the changes may affect them.
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

// echo sends the client's input back, as cat does.
func (t *target) echo(s *Session) {
	s.input = func(p []byte, end bool) {
		s.say(false, string(p))
		if end {
			s.close(nil)
		}
	}
}

// attach streams the output of a container from now on. If the container runs a shell, the shell receives the client's input.
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
			if r, runs := t.same(id); runs { // the shell was the container's main process
				r.Due, r.Code, r.Killed = t.nodes.schedule.Now(), code, false
				t.k.client().Enqueue(t.w.key())
			}
			s.close(nil)
		})
	}
	return &Answer{Session: s}, nil
}

// prompt is the prompt of an interactive shell.
const prompt = "/ # "

// converse runs a shell in a session. The shell reads one command per line until exit or the end of the input. Then done is
// called with the exit code.
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
		for _, o := range r.Output { // sent without delays, because an interactive session does not wait for simulated pauses
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
