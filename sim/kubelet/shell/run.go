// Package shell interprets the command of a container without running it. It computes the output with its times, and the exit
// code. Its clock is advanced only by sleep.
//
//	sh -c 'echo hi; sleep 5; exit 3' ─ Parse ─▶ Program ─ Run ─▶ 0s "hi\n", ended at 5s with 3
//
// It supports lists, &&, ||, |, !, set -e, while, until, for, if, variables, $(…), $((…)) and redirections to files, and the commands in
// commands.go, filters.go and files.go: echo, printf, sleep, exit, cat, touch, rm, mv, date, expr, grep and a few more. An
// unknown command, such as the name of a server, runs forever and prints nothing; in a task (World.Task) it succeeds after a second.
// curl and other clients in commands.go cannot send requests: they succeed after a second, too. A script always produces the same
// output: $RANDOM is drawn from a seed.
package shell

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Program is a parsed script.
type Program struct{ list list }

// World is the environment of a program.
type World struct {
	Start time.Time         // when the program starts
	Env   map[string]string // the environment variables, which are not modified
	// Open returns the content of a file that existed when the program started, and whether the file existed. If Open is nil, no
	// files existed.
	Open func(path string) (text string, ok bool)
	// Names lists the paths of the files in volumes that Open knows.
	Names []string
	// Mounts maps the paths at which volumes are mounted to whether they are read-only. "/" is in it if the root is read-only.
	Mounts map[string]bool
	User   int64 // the user id of the process
	Group  int64 // its group id
	// FSGroup is the group id of files in volumes. If it is 0, they have no group of their own.
	FSGroup int64
	// Files holds files that were written earlier. A removed file is nil. The map is not modified.
	Files map[string]*string
	// Seed is the seed of $RANDOM.
	Seed uint64
	// Missing makes unknown commands fail with an error. Otherwise they run forever.
	Missing bool
	// Task makes unknown commands succeed after a second, because the program is expected to end.
	Task bool

	Limit time.Duration // maximum run time of the simulation; 0 means no limit
	Steps int           // the maximum number of commands; 0 means no limit
}

// Output is a piece of a program's output.
type Output struct {
	At    time.Duration // time since the program's start
	Error bool          // written to stderr
	Text  string
}

// Result is the outcome of a program.
type Result struct {
	Output []Output
	Ended  bool          // it ended by itself
	Exited bool          // it ended with the command exit, not at the end of the script
	Code   int           // the exit code
	At     time.Duration // the run time so far
	// Waits reports that the program makes no more progress: it is a server, or it loops without a pause.
	Waits bool
	Files map[string]*string // World.Files with the program's changes
	// Handles reports that the program has set a trap for signals.
	Handles bool
	// Term is the program's handler of SIGTERM, or nil.
	Term *Handler
	// Server reports that the program waits because of an unknown command.
	Server bool
}

// roomMax is the number of bytes that a program may print and expand. When it is exceeded, the simulation of the program stops.
const roomMax = 16 << 20

// process is a running program.
type process struct {
	world   World
	out     []Output
	vars    map[string]string
	files   map[string]*string
	now     time.Duration
	steps   int
	room    int // the number of bytes that it may still print and expand
	code    int // the exit code of the last command
	stopped bool
	ended   bool
	waits   bool
	handles bool
	server  bool
	in      string // the input of the current command
	term    list   // the handler of SIGTERM
	trapped bool   // there is a handler of SIGTERM
	strict  bool   // set -e: a failing command ends the program
	guarded int    // the depth of nested conditions, in which commands may fail
	folder  string // the current folder, or "" for the initial one

	functions map[string]list
	calls     int        // the depth of nested function calls
	random    *rand.Rand // created on first use
}

// Run runs a program until it ends or reaches the limits of its world.
func (x *Program) Run(w World) *Result {
	p := &process{world: w, vars: map[string]string{}, files: map[string]*string{}, room: roomMax}
	for name, value := range w.Env { // order does not matter: the result is a map
		p.vars[name] = value
	}
	for name, text := range w.Files { // order does not matter: the result is a map
		p.files[name] = text
	}
	x.list.run(p)
	return p.result()
}

func (p *process) result() *Result {
	r := &Result{Output: p.out, Ended: p.ended || !p.stopped, Exited: p.ended, Code: p.code, At: p.now, Waits: p.waits, Files: p.files, Handles: p.handles, Server: p.server}
	if p.trapped {
		r.Term = &Handler{p.term, p.vars, p.functions}
	}
	return r
}

// within runs a list in a subshell: exit ends only the subshell.
func (p *process) within(l list) {
	l.run(p)
	if p.ended {
		p.ended, p.stopped = false, false
	}
}

func (l list) run(p *process) {
	for _, s := range l {
		if p.stopped {
			return
		}
		s.run(p)
	}
}

// guard runs a condition, in which commands may fail in spite of set -e.
func (p *process) guard(condition statement) {
	p.guarded++
	condition.run(p)
	p.guarded--
}

func (n *inverse) run(p *process) {
	p.guard(n.of)
	if p.stopped {
		return
	}
	if p.code == 0 {
		p.code = 1
	} else {
		p.code = 0
	}
}

func (l *link) run(p *process) {
	p.guard(l.left)
	if !p.stopped && (p.code == 0) == l.and {
		l.right.run(p)
	}
}

// run passes the output of the first command to the second one, which starts after the first has ended.
func (x *pipe) run(p *process) {
	before, in := p.out, p.in
	p.out = nil
	p.guard(x.left)
	all := p.out
	p.out, p.in = before, ""
	for _, o := range all {
		if o.Error || p.stopped {
			p.out = append(p.out, o)
		} else {
			p.in += o.Text
		}
	}
	if p.ended { // exit ends only the subshell of the first command
		p.ended, p.stopped = false, false
	}
	if !p.stopped {
		x.right.run(p)
	}
	p.in = in
}

func (l *loop) run(p *process) {
	for at, rounds := p.now, 0; !p.stopped; rounds++ {
		p.guard(l.cond)
		if p.stopped {
			return
		}
		if (p.code == 0) == l.until {
			p.code = 0
			return
		}
		l.body.run(p)
		if p.now != at {
			at, rounds = p.now, 0
		} else if rounds > roundsMax { // further iterations would change nothing
			p.waits, p.stopped = true, true
		}
	}
}

// roundsMax is the maximum number of iterations of a loop without a pause.
const roundsMax = 1000

func (e *each) run(p *process) {
	for _, text := range p.fields(e.words) {
		if p.stopped {
			return
		}
		p.vars[e.name] = text
		e.body.run(p)
	}
}

func (c *choice) run(p *process) {
	p.guard(c.cond)
	switch {
	case p.stopped:
	case p.code == 0:
		c.then.run(p)
	default:
		p.code = 0
		c.otherwise.run(p)
	}
}

func (c *command) run(p *process) {
	if p.steps++; p.world.Steps > 0 && p.steps > p.world.Steps {
		p.stopped = true
		return
	}
	substituted := false
	for _, s := range c.sets {
		p.vars[s.name] = strings.Join(p.expand(s.value), " ")
		substituted = substituted || slices.ContainsFunc(s.value, func(x piece) bool { return x.kind == substitution })
	}
	args := p.fields(c.words)
	first := len(p.out)
	if len(args) > 0 {
		p.call(args)
	} else if !substituted {
		p.code = 0
	}
	for _, r := range c.redirects {
		p.redirect(r, first)
	}
	if p.strict && p.guarded == 0 && p.code != 0 && !p.stopped {
		p.exit(p.code)
	}
}

func (p *process) print(text string) {
	if text != "" && p.use(text) {
		p.out = append(p.out, Output{At: p.now, Text: text})
	}
}

func (p *process) complain(text string) {
	if p.use(text) {
		p.out = append(p.out, Output{At: p.now, Error: true, Text: text + "\n"})
	}
}

// use deducts the length of text from the process's room. It returns false and stops the process if there is not enough.
func (p *process) use(text string) bool {
	if p.room -= len(text) + 1; p.room < 0 {
		p.stopped = true
	}
	return p.room >= 0
}

// sleep advances the clock. At the limit it stops the process.
func (p *process) sleep(d time.Duration) {
	p.now += d
	if limit := p.world.Limit; limit > 0 && p.now > limit {
		p.now, p.stopped = limit, true
	}
}

// exit ends the program with an exit code.
func (p *process) exit(code int) { p.code, p.stopped, p.ended = code, true, true }

// fields returns the words of a command after expansion.
func (p *process) fields(words []word) (all []string) {
	for _, w := range words {
		all = append(all, p.expand(w)...)
	}
	return all
}

// expand returns the words that a word expands to. It splits unquoted substitutions at blanks.
func (p *process) expand(w word) (all []string) {
	open := false // the next piece extends the last word
	add := func(text string) {
		if open {
			all[len(all)-1] += text
		} else {
			all = append(all, text)
		}
		open = true
	}
	for _, x := range w {
		text := p.value(x)
		if !p.use(text) {
			return nil
		}
		if x.kind == literal || x.quoted {
			add(text)
			continue
		}
		parts := strings.Fields(text)
		for i, part := range parts {
			if i > 0 {
				open = false
			}
			add(part)
		}
	}
	return all
}

// value evaluates a piece of a word.
func (p *process) value(x piece) string {
	switch x.kind {
	case variable:
		switch x.text {
		case "?":
			return number(p.code)
		case "$":
			return "1"
		case "RANDOM":
			return number(p.draw())
		}
		return p.vars[x.text]
	case arithmetic:
		return number(p.arithmetic(x.text))
	case substitution:
		before := p.out
		p.out = nil
		p.within(x.script)
		text := ""
		for _, o := range p.out {
			if !o.Error {
				text += o.Text
			}
		}
		p.out = before
		return strings.TrimRight(text, "\n")
	}
	return x.text
}

// draw returns the next value of $RANDOM, from 0 to 32767.
func (p *process) draw() int {
	if p.random == nil {
		p.random = rand.New(rand.NewPCG(p.world.Seed, uint64(p.world.Start.UnixNano())))
	}
	return p.random.IntN(1 << 15)
}
