// Package shell interprets the command of a container without running it: it computes the output and its times, and the exit code, on
// a clock of its own that only sleep moves.
//
//	sh -c 'echo hi; sleep 5; exit 3' ─ Parse ─▶ Program ─ Run ─▶ 0s "hi\n", ended at 5s with 3
//
// It knows lists, &&, ||, |, while, until, for, if, variables, $(…), $((…)) and > to files, and the commands of commands.go,
// filters.go and files.go: echo, printf, sleep, exit, cat, touch, rm, mv, date, expr, grep and a few more. An unknown command, such as
// the name of a server, runs forever and prints nothing. The same script gives the same
// output each time: $RANDOM is drawn from a seed.
package shell

import (
	"math/rand/v2"
	"strings"
	"time"
)

// Program is a script that was read.
type Program struct{ list list }

// World is the environment of a program.
type World struct {
	Start time.Time         // when it begins
	Env   map[string]string // its environment; it is not changed
	// Open returns the contents of a file that existed before. If Open is nil, there are none.
	Open func(path string) (text string, ok bool)
	// Files are the files that were written before. A removed file is nil. They are not changed.
	Files map[string]*string
	// Seed is the seed of $RANDOM.
	Seed uint64
	// Missing makes unknown commands fail as missing. Otherwise they run forever.
	Missing bool

	Limit time.Duration // the longest run time; 0 means no limit
	Steps int           // the most commands that it may run; 0 means no limit
}

// Output is something that a program prints.
type Output struct {
	At    time.Duration // since its beginning
	Error bool          // on its standard error
	Text  string
}

// Result is the outcome of a program.
type Result struct {
	Output []Output
	Ended  bool          // by itself
	Exited bool          // by the command exit
	Code   int           // with which it ended
	At     time.Duration // how far it came
	// Waits is set if it does nothing any more: a server, or a loop without a pause.
	Waits bool
	Files map[string]*string // as World.Files, with its changes
	// Handles is set if it has set a trap for signals.
	Handles bool
	// Term is its handler of SIGTERM, if it has set one.
	Term *Handler
	// Server is set if it waits because of an unknown command.
	Server bool
}

// roomMax is how many bytes a program may print and expand: then it is not followed any further.
const roomMax = 16 << 20

// process is a program that runs.
type process struct {
	world   World
	out     []Output
	vars    map[string]string
	files   map[string]*string
	now     time.Duration
	steps   int
	room    int // how many bytes it may still print and expand
	code    int // of the last command
	stopped bool
	ended   bool
	waits   bool
	handles bool
	server  bool
	in      string // the input of the command
	term    list   // the handler of SIGTERM
	trapped bool   // term is set

	functions map[string]list
	calls     int        // of functions that it is in
	random    *rand.Rand // made when it is needed
}

// Run runs a program until it ends, or to the limits of its world.
func (x *Program) Run(w World) *Result {
	p := &process{world: w, vars: map[string]string{}, files: map[string]*string{}, room: roomMax}
	for name, value := range w.Env { // order does not matter: a map again
		p.vars[name] = value
	}
	for name, text := range w.Files { // likewise
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

// within runs a list in a shell of its own: exit ends that one.
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

func (l *link) run(p *process) {
	l.left.run(p)
	if !p.stopped && (p.code == 0) == l.and {
		l.right.run(p)
	}
}

// run passes the output of the first command to the second one, which begins when the first has ended.
func (x *pipe) run(p *process) {
	before, in := p.out, p.in
	p.out = nil
	x.left.run(p)
	all := p.out
	p.out, p.in = before, ""
	for _, o := range all {
		if o.Error || p.stopped {
			p.out = append(p.out, o)
		} else {
			p.in += o.Text
		}
	}
	if p.ended { // each part has a shell of its own
		p.ended, p.stopped = false, false
	}
	if !p.stopped {
		x.right.run(p)
	}
	p.in = in
}

func (l *loop) run(p *process) {
	for at, rounds := p.now, 0; !p.stopped; rounds++ {
		l.cond.run(p)
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
		} else if rounds > roundsMax { // nothing changes any more
			p.waits, p.stopped = true, true
		}
	}
}

// roundsMax is how often a loop may go round without a pause.
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
	c.cond.run(p)
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
	for _, s := range c.sets {
		p.vars[s.name] = strings.Join(p.expand(s.value), " ")
	}
	args := p.fields(c.words)
	if len(args) == 0 {
		p.code = 0
		return
	}
	first := len(p.out)
	p.call(args)
	for _, r := range c.redirects {
		p.redirect(r, first)
	}
}

// redirect moves the output since a position to its target.
func (p *process) redirect(r redirect, first int) {
	if r.same {
		for i := range p.out[first:] {
			if o := &p.out[first+i]; o.Error == (r.from == 2) {
				o.Error = !o.Error
			}
		}
		return
	}
	name := strings.Join(p.expand(r.to), "")
	text := ""
	if old, ok := p.read(name); ok && r.append {
		text = old
	}
	kept := p.out[:first]
	for _, o := range p.out[first:] {
		if o.Error == (r.from == 2) {
			text += o.Text
		} else {
			kept = append(kept, o)
		}
	}
	p.out = kept
	if name == "/proc/1/fd/1" || name == "/dev/stdout" {
		p.print(text)
		return
	}
	p.files[name] = &text
}

// read returns the contents of a file.
func (p *process) read(name string) (string, bool) {
	if text, known := p.files[name]; known {
		if text == nil {
			return "", false
		}
		return *text, true
	}
	if p.world.Open == nil {
		return "", false
	}
	return p.world.Open(name)
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

// use takes the room of a text, and reports whether there was enough.
func (p *process) use(text string) bool {
	if p.room -= len(text) + 1; p.room < 0 {
		p.stopped = true
	}
	return p.room >= 0
}

// sleep lets time pass.
func (p *process) sleep(d time.Duration) {
	p.now += d
	if limit := p.world.Limit; limit > 0 && p.now > limit {
		p.now, p.stopped = limit, true
	}
}

// exit ends the program.
func (p *process) exit(code int) { p.code, p.stopped, p.ended = code, true, true }

// fields returns the words of a command after expansion.
func (p *process) fields(words []word) (all []string) {
	for _, w := range words {
		all = append(all, p.expand(w)...)
	}
	return all
}

// expand returns the words that a word becomes: substitutions outside of quotes are split at blanks.
func (p *process) expand(w word) (all []string) {
	open := false // the next text extends the last word
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

// value returns the value of a piece.
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

// draw returns a number as $RANDOM has: from 0 to 32767.
func (p *process) draw() int {
	if p.random == nil {
		p.random = rand.New(rand.NewPCG(p.world.Seed, uint64(p.world.Start.UnixNano())))
	}
	return p.random.IntN(1 << 15)
}
