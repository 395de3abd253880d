package shell

import (
	"errors"
	"strings"
)

// The syntax tree of a script:
//
//	list    statements, one after the other
//	link    a && b, a || b
//	pipe    a | b
//	list    { a; b; }
//	function name() { body }
//	loop    while cond; do body; done
//	each    for name in words; do body; done
//	choice  if cond; then a; else b; fi
//	command NAME=word word word >file
type (
	statement interface{ run(p *process) }
	list      []statement
	link      struct {
		left  statement
		and   bool
		right statement
	}
	pipe     struct{ left, right statement }
	function struct {
		name string
		body list
	}
	loop struct {
		cond, body list
		until      bool
	}
	each struct {
		name  string
		words []word
		body  list
	}
	choice  struct{ cond, then, otherwise list }
	command struct {
		sets      []assignment
		words     []word
		redirects []redirect
	}
	assignment struct {
		name  string
		value word
	}
	redirect struct {
		from   int // 1 or 2
		append bool
		to     word // a file
		same   bool // to the other stream
	}
)

// word is one word, in pieces.
type word []piece

// piece is a part of a word.
type piece struct {
	text   string // as it is, the name of a variable, or arithmetic
	kind   pieceKind
	script list // of a substitution
	quoted bool
}

type pieceKind int

const (
	literal pieceKind = iota
	variable
	arithmetic
	substitution
)

// errUnknown is the error for unsupported syntax.
var errUnknown = errors.New("shell: there is more in it than this shell knows")

// Parse parses a script. It fails if the script uses syntax that this shell does not support.
func Parse(script string) (*Program, error) {
	x := &parser{text: script}
	l, err := x.list()
	if err == nil && !x.atEnd() {
		err = errUnknown
	}
	if err != nil {
		return nil, err
	}
	return &Program{l}, nil
}

// Words makes a program of a command and its arguments, which nothing is expanded in.
func Words(args ...string) *Program {
	c := &command{}
	for _, text := range args {
		c.words = append(c.words, word{{text: text, quoted: true}})
	}
	return &Program{list{c}}
}

type parser struct {
	text  string
	at    int
	depth int // how many lists it is in
}

// depthMax is how deep lists may be in one another.
const depthMax = 100

func (x *parser) atEnd() bool {
	x.space(true)
	return x.at >= len(x.text)
}

// space skips blanks and comments, and line breaks, too, if lines is set.
func (x *parser) space(lines bool) {
	for x.at < len(x.text) {
		switch c := x.text[x.at]; {
		case c == ' ' || c == '\t' || c == '\r' || lines && (c == '\n' || c == ';' && !x.has(";;")):
			x.at++
		case x.has("\\\n"):
			x.at += 2
		case c == '#' && (x.at == 0 || strings.IndexByte(" \t\n;", x.text[x.at-1]) >= 0):
			for x.at < len(x.text) && x.text[x.at] != '\n' {
				x.at++
			}
		default:
			return
		}
	}
}

func (x *parser) has(text string) bool { return strings.HasPrefix(x.text[x.at:], text) }

// keyword takes a word that structures a script, if it is next.
func (x *parser) keyword(name string) bool {
	x.space(true)
	if !x.has(name) {
		return false
	}
	if end := x.at + len(name); end < len(x.text) && strings.IndexByte(" \t\r\n;)", x.text[end]) < 0 {
		return false
	}
	x.at += len(name)
	return true
}

// ends reports whether a keyword that ends a list is next, which it leaves there.
func (x *parser) ends() bool {
	before := x.at
	for _, name := range []string{"do", "done", "then", "else", "elif", "fi", "}"} {
		if x.keyword(name) {
			x.at = before
			return true
		}
	}
	return false
}

func (x *parser) list() (all list, err error) {
	if x.depth++; x.depth > depthMax {
		return nil, errUnknown
	}
	defer func() { x.depth-- }()
	for !x.atEnd() && x.text[x.at] != ')' && !x.ends() {
		s, err := x.links()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (x *parser) links() (statement, error) {
	left, err := x.pipes()
	for err == nil {
		and := x.has("&&")
		if !and && !x.has("||") {
			if x.at < len(x.text) && strings.IndexByte("\n;)", x.text[x.at]) < 0 {
				return nil, errUnknown // something in the background
			}
			return left, nil
		}
		x.at += 2
		x.space(true)
		var right statement
		right, err = x.pipes()
		left = &link{left, and, right}
	}
	return nil, err
}

func (x *parser) pipes() (statement, error) {
	left, err := x.statement()
	for err == nil {
		if x.space(false); !x.has("|") || x.has("||") {
			return left, nil
		}
		x.at++
		x.space(true)
		var right statement
		right, err = x.statement()
		left = &pipe{left, right}
	}
	return nil, err
}

func (x *parser) statement() (statement, error) {
	switch {
	case x.keyword("while"):
		return x.loop(false)
	case x.keyword("until"):
		return x.loop(true)
	case x.keyword("for"):
		return x.each()
	case x.keyword("if"):
		return x.choice()
	case x.keyword("{"):
		return x.group()
	}
	before := x.at
	if name := x.name(); name != "" && x.has("()") {
		if x.at += 2; !x.keyword("{") {
			return nil, errUnknown
		}
		body, err := x.group()
		return &function{name, body}, err
	}
	x.at = before
	return x.command()
}

// group parses a list in braces.
func (x *parser) group() (list, error) {
	l, err := x.list()
	if err == nil && !x.keyword("}") {
		err = errUnknown
	}
	return l, err
}

func (x *parser) loop(until bool) (statement, error) {
	cond, err := x.list()
	if err != nil {
		return nil, err
	}
	body, err := x.body()
	return &loop{cond, body, until}, err
}

// body reads do LIST done.
func (x *parser) body() (list, error) {
	if !x.keyword("do") {
		return nil, errUnknown
	}
	l, err := x.list()
	if err == nil && !x.keyword("done") {
		err = errUnknown
	}
	return l, err
}

func (x *parser) each() (statement, error) {
	x.space(false)
	e := &each{name: x.name()}
	if e.name == "" || !x.keyword("in") {
		return nil, errUnknown
	}
	for {
		x.space(false)
		if x.at >= len(x.text) || strings.IndexByte("\n;", x.text[x.at]) >= 0 {
			break
		}
		w, err := x.word()
		if err != nil {
			return nil, err
		}
		e.words = append(e.words, w)
	}
	body, err := x.body()
	e.body = body
	return e, err
}

func (x *parser) choice() (statement, error) {
	c := &choice{}
	var err error
	if c.cond, err = x.list(); err != nil {
		return nil, err
	}
	if !x.keyword("then") {
		return nil, errUnknown
	}
	if c.then, err = x.list(); err != nil {
		return nil, err
	}
	switch {
	case x.keyword("elif"):
		rest, err := x.choice()
		c.otherwise = list{rest}
		return c, err
	case x.keyword("else"):
		if c.otherwise, err = x.list(); err != nil {
			return nil, err
		}
	}
	if !x.keyword("fi") {
		return nil, errUnknown
	}
	return c, nil
}

func (x *parser) command() (statement, error) {
	c := &command{}
	for {
		x.space(false)
		if x.at >= len(x.text) || strings.IndexByte("\n;)|&", x.text[x.at]) >= 0 {
			break
		}
		if done, err := x.redirect(c); done || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		before := x.at
		if name := x.name(); len(c.words) == 0 && name != "" && x.has("=") {
			x.at++
			w, err := x.word()
			if err != nil {
				return nil, err
			}
			c.sets = append(c.sets, assignment{name, w})
			continue
		}
		x.at = before
		w, err := x.word()
		if err != nil {
			return nil, err
		}
		c.words = append(c.words, w)
	}
	if len(c.words)+len(c.sets)+len(c.redirects) == 0 {
		return nil, errUnknown
	}
	return c, nil
}

// redirect takes >file, >>file, 2>file, 2>&1 and >&2.
func (x *parser) redirect(c *command) (done bool, err error) {
	r := redirect{from: 1}
	before := x.at
	if x.has("2>") || x.has("1>") {
		r.from = int(x.text[x.at] - '0')
		x.at++
	}
	if !x.has(">") {
		x.at = before
		return false, nil
	}
	x.at++
	switch {
	case x.has("&1") || x.has("&2"):
		x.at += 2
		r.same = true
	case x.has(">"):
		r.append = true
		x.at++
		fallthrough
	default:
		x.space(false)
		if r.to, err = x.word(); err != nil {
			return false, err
		}
	}
	c.redirects = append(c.redirects, r)
	return true, nil
}

// name takes a name of a variable, "" if none is next.
func (x *parser) name() string {
	start := x.at
	for x.at < len(x.text) {
		c := x.text[x.at]
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (x.at == start || c < '0' || c > '9') {
			break
		}
		x.at++
	}
	return x.text[start:x.at]
}
