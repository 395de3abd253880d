package shell

import (
	"errors"
	"strings"
)

// The statements of a script form a syntax tree:
//
//	list    statements, executed in sequence
//	link    a && b, a || b
//	pipe    a | b
//	inverse ! a
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
	inverse  struct{ of statement }
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
		from   int // number of the stream: 1 for stdout, 2 for stderr
		append bool
		to     word // the target file
		same   bool // redirect to the other stream
	}
)

// word is a word of a command, which consists of pieces.
type word []piece

// piece is a part of a word.
type piece struct {
	text   string // the literal text, the variable's name, or the arithmetic expression
	kind   pieceKind
	script list // the script of a command substitution
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

// Parse parses a script. It returns an error if the script uses unsupported syntax.
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

// Words returns a program that consists of one command. Its arguments are not expanded.
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
	depth int // the number of enclosing lists
}

// depthMax is the maximum depth of nested lists.
const depthMax = 100

func (x *parser) atEnd() bool {
	x.space(true)
	return x.at >= len(x.text)
}

// space skips blanks and comments. If lines is set, it also skips line breaks and semicolons.
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

// keyword consumes the keyword if it is next, and reports whether it was.
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

// ends reports whether a keyword that ends a list is next. It does not consume the keyword.
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
				return nil, errUnknown // background commands are not supported
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
	if x.keyword("!") {
		of, err := x.pipes()
		return &inverse{of}, err
	}
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

// body parses do LIST done.
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

// redirect parses a redirection: >file, >>file, 2>file, 2>&1 or >&2. It returns false if none is next.
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
