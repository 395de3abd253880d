package scenario

import (
	"strings"
	"time"
)

// Condition is something that holds or does not:
//
//	status 409 Conflict                        the last answer; also: status == 200, reason, message, header Retry-After
//	method, path, client                       of its request: path contains resourceVersion=0
//	.metadata.name == a                        a field of the last answer, or of the object that a rule is about
//	.items[0].metadata.labels["a.io/b"] exists
//	.items[*].metadata.name contains a         [*] is the list of what every element has there
//	len .items == 2
//	pods/a .spec.nodeName != n1                a field of a stored object; pods/kube-system/a in another namespace
//	pods/a exists, pods/a absent
//	count pods -l app=x == 2                   stored objects; -n NAMESPACE, where CONDITION about each
//	every pods where .metadata.name != a .status.phase == Running
//	unique pods .spec.nodeName                 no two have the same one there
//	leases/l .spec.renewTime older 15s         than so long ago, on the clock of the client that looks
//	informer/x sees pods/a                     the cache of an informer or of a controller: as the store
//	informer/x count pods == 2, informer/x pods/a .spec.nodeName == n1, informer/x synced
//	watch/w saw DELETED a, watch/w count ADDED == 2, watch/w open, watch/w closed, watch/w error 410
//	seen http.res 410 by alice                 a frame since the World began:
//	                                           KIND [CODE] [REASON or VERB] [by CLIENT] [on LANE]
//	seen watch.event DELETED on watch/w >= 2
//	waiting                                    a request waits for its answer
//	revision > 4005                            the store's
//	promises kept                              those of package checker, since record; after heal, that of delivery, too
//
// The comparisons are ==, !=, <, <=, >, >= and contains. What stands on the right may be a field, too:
// count pods == .spec.replicas. not, and, or and parentheses join conditions. A field that is not there equals nothing.
type Condition struct {
	text string
	root node
}

// String returns the text that was parsed.
func (c *Condition) String() string { return c.text }

// holds says whether the condition holds, and why not, or why.
func (c *Condition) holds(s *scope) (bool, string, error) {
	ok, why := c.root.eval(s)
	if *s.err != nil {
		return false, "", *s.err
	}
	return ok, why, nil
}

// node is a part of a condition.
type node interface {
	// eval says whether the condition holds, and why not, or why.
	eval(s *scope) (bool, string)
}

// operand is a part of a condition that has a value: nil if there is none.
type operand interface {
	value(s *scope) any
	text() string
}

// token is one word of a condition.
type token struct {
	text   string
	column int
	quoted bool
}

// ParseCondition reads a condition. Its error is a *SyntaxError.
func ParseCondition(text string) (*Condition, error) { return parseCondition(text, 0) }

// parseCondition reads a condition that begins after the first columns of a line.
func parseCondition(text string, columns int) (*Condition, error) {
	tokens, err := tokenize(text, columns)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, end: columns + len(text) + 1}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.text != "" || t.quoted {
		return nil, wrong(t.column, "the condition ends before %q; join conditions with and, or", t.text)
	}
	return &Condition{text: strings.TrimSpace(text), root: root}, nil
}

const operators = "=!<>"

// tokenize splits a condition: words, quoted texts, comparisons and parentheses.
func tokenize(text string, columns int) ([]token, error) {
	var out []token
	raw := false // the word before was -l: a selector is one word
	for i := 0; i < len(text); {
		c := text[i]
		start := i
		switch {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '#':
			return out, nil
		case c == '(' || c == ')':
			i++
		case c == '\'' || c == '"':
			var b strings.Builder
			end, err := unquote(&b, text, i)
			if err != nil {
				return nil, shift(err, columns)
			}
			out = append(out, token{b.String(), columns + start + 1, true})
			i, raw = end, false
			continue
		case !raw && strings.IndexByte(operators, c) >= 0:
			for i < len(text) && strings.IndexByte(operators, text[i]) >= 0 {
				i++
			}
		default:
			end, err := wordEnd(text, i, raw)
			if err != nil {
				return nil, shift(err, columns)
			}
			i = end
		}
		out = append(out, token{text[start:i], columns + start + 1, false})
		raw = text[start:i] == "-l"
	}
	return out, nil
}

func shift(err error, columns int) error {
	if e, ok := err.(*SyntaxError); ok {
		e.Column += columns
	}
	return err
}

// wordEnd returns where a word ends. Brackets and braces hold spaces and quotes.
func wordEnd(text string, at int, raw bool) (int, error) {
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == ')' && !raw || c == '(' && !raw:
			return i, nil
		case c == '=' && text[at] != '.' && i+1 < len(text) && strings.IndexByte("= ", text[i+1]) < 0: // limit=2 is one word
		case !raw && strings.IndexByte(operators, c) >= 0 || c == '\'' || c == '"':
			return i, nil
		case c == '[' && text[at] == '.':
			end := strings.IndexByte(text[i:], ']')
			if end < 0 {
				return 0, wrong(i+1, "the bracket has no end; put a ] behind it")
			}
			i += end
		case strings.HasPrefix(text[i:], "{{"):
			end := strings.Index(text[i:], "}}")
			if end < 0 {
				return 0, wrong(i+1, "{{ has no end; put }} behind it")
			}
			i += end + 1
		}
	}
	return len(text), nil
}

// parser reads tokens from left to right.
type parser struct {
	tokens []token
	at     int
	end    int // the column behind the text
}

func (p *parser) peek() token {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return token{column: p.end}
}

func (p *parser) next() token {
	t := p.peek()
	p.at++
	return t
}

// accept takes the next token if it is this word.
func (p *parser) accept(word string) bool {
	if t := p.peek(); t.text == word && !t.quoted {
		p.at++
		return true
	}
	return false
}

func (p *parser) or() (node, error)  { return p.join("or", p.and) }
func (p *parser) and() (node, error) { return p.join("and", p.not) }

func (p *parser) join(word string, part func() (node, error)) (node, error) {
	first, err := part()
	if err != nil {
		return nil, err
	}
	list := []node{first}
	for p.accept(word) {
		n, err := part()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	if len(list) == 1 {
		return first, nil
	}
	return &joined{list, word == "and"}, nil
}

// deepest is how deep conditions may be nested.
const deepest = 100

func (p *parser) not() (node, error) {
	depth := 0
	for p.accept("not") {
		depth++
	}
	n, err := p.primary()
	if err == nil && depth%2 == 1 {
		n = &negated{n}
	}
	return n, err
}

func (p *parser) primary() (node, error) {
	t := p.peek()
	if !p.accept("(") {
		return p.test()
	}
	if p.nesting() > deepest {
		return nil, wrong(t.column, "there are too many parentheses")
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); !p.accept(")") {
		return nil, wrong(t.column, "a ) is missing here")
	}
	return n, nil
}

// nesting is how many parentheses are open.
func (p *parser) nesting() (n int) {
	for _, t := range p.tokens[:p.at] {
		switch {
		case t.quoted:
		case t.text == "(":
			n++
		case t.text == ")":
			n--
		}
	}
	return n
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">=", "contains"}

// compareWith reads what follows the left side of a test.
func (p *parser) compareWith(left operand) (node, error) {
	t := p.peek()
	switch {
	case p.accept("exists"):
		return &presence{left, true}, nil
	case p.accept("absent"):
		return &presence{left, false}, nil
	case p.accept("older"):
		d, err := time.ParseDuration(p.peek().text)
		if err != nil {
			return nil, wrong(p.peek().column, "older needs a duration such as 15s, not %q", p.peek().text)
		}
		p.next()
		return &older{left, d}, nil
	}
	for _, c := range comparisons {
		if p.accept(c) {
			right, err := p.operand(false)
			if err != nil {
				return nil, err
			}
			return &comparison{left, c, right}, nil
		}
	}
	switch {
	case t.text == "=":
		return nil, wrong(t.column, "to compare, write ==")
	case t.text == "":
		return nil, wrong(t.column, "after %s comes exists, absent, older or a comparison such as == 2", left.text())
	}
	return nil, wrong(t.column, "%q is no comparison; there are %s, exists, absent and older", t.text,
		strings.Join(comparisons, " "))
}
