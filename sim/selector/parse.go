package selector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
)

// ParseLabels parses a label selector such as "app in (web,api),tier!=db,!old,cores>4". The empty string selects everything. For an
// invalid selector, ParseLabels returns the real server's error.
//
//	selector    = [ requirement *( "," requirement ) ]
//	requirement = key | "!" key | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ] | key ( "in" | "notin" ) "(" values ")"
//	values      = [ value ] *( "," [ value ] )
func ParseLabels(s string) (Labels, error) {
	p := parser{tokens: tokenize(s)}
	var list []Requirement
	for !p.at(end) {
		if !p.at(identifier) && !p.at("!") {
			return Labels{}, p.expected(", expected: !, identifier, or 'end of string'")
		}
		r, err := p.requirement()
		if err != nil {
			return Labels{}, fmt.Errorf("unable to parse requirement: %w", err)
		}
		list = append(list, r)
		if p.at(end) {
			break
		}
		if !p.at(",") {
			return Labels{}, p.expected(", expected: ',' or 'end of string'")
		}
		p.next()
		if !p.at(identifier) && !p.at("!") {
			return Labels{}, p.expected(", expected: identifier after ','")
		}
	}
	sortByKey(list)
	return Labels{requirements: list}, nil
}

// token is a token of a selector. Its kind is identifier, end or, if it is a symbol, the symbol itself.
type token struct{ kind, text string }

const (
	identifier = "identifier"
	end        = "end of string"

	blanks  = " \t\r\n"
	symbols = "=!(),><"
	nul     = '\x00'
)

// tokenize splits a selector into tokens. The last token has the kind end. The words in and notin are identifiers, which the parser
// treats as operators only where it expects an operator. A NUL ends the selector, except that one NUL directly after a token is
// skipped.
func tokenize(s string) []token {
	var tokens []token
	for {
		s = strings.TrimLeft(s, blanks)
		n := 1
		switch {
		case s == "", s[0] == nul:
			return append(tokens, token{end, ""})
		case strings.HasPrefix(s, "=="), strings.HasPrefix(s, "!="):
			n = 2
		case strings.IndexByte(symbols, s[0]) < 0:
			if n = strings.IndexAny(s, blanks+symbols+string(nul)); n < 0 {
				n = len(s)
			}
			tokens = append(tokens, token{identifier, s[:n]})
			s = strings.TrimPrefix(s[n:], string(nul))
			continue
		}
		tokens = append(tokens, token{s[:n], s[:n]})
		s = strings.TrimPrefix(s[n:], string(nul))
	}
}

// parser iterates over tokens. It never moves past the last one.
type parser struct {
	tokens []token
	i      int
}

func (p *parser) at(kind string) bool { return p.tokens[p.i].kind == kind }

// next returns the current token and moves to the next one.
func (p *parser) next() token {
	t := p.tokens[p.i]
	if t.kind != end {
		p.i++
	}
	return t
}

func (p *parser) expected(wanted string) error {
	return fmt.Errorf("found '%s'%s", p.tokens[p.i].text, wanted)
}

func (p *parser) requirement() (Requirement, error) {
	absent := p.at("!")
	if absent {
		p.next()
	}
	if !p.at(identifier) {
		return Requirement{}, p.expected(", expected: identifier")
	}
	key := p.next().text
	if err := checkKey(key, field.Path{}); err != nil {
		return Requirement{}, invalid(field.ErrorList{err})
	}
	if absent {
		return newRequirement(key, DoesNotExist, nil)
	}
	if p.at(end) || p.at(",") {
		return newRequirement(key, Exists, nil)
	}
	op, err := p.operator()
	if err != nil {
		return Requirement{}, err
	}
	values, err := p.values(op)
	if err != nil {
		return Requirement{}, err
	}
	return newRequirement(key, op, values)
}

func (p *parser) operator() (Operator, error) {
	switch p.tokens[p.i].text {
	case "in", "notin", "=", "==", "!=":
		return Operator(p.next().text), nil
	case ">":
		p.next()
		return GreaterThan, nil
	case "<":
		p.next()
		return LessThan, nil
	}
	return "", p.expected(", expected: in, notin, =, ==, !=, gt, lt")
}

func (p *parser) values(op Operator) ([]string, error) {
	if op == In || op == NotIn {
		return p.set()
	}
	if p.at(end) || p.at(",") {
		return []string{""}, nil
	}
	if !p.at(identifier) {
		return nil, p.expected(", expected: identifier")
	}
	return []string{p.next().text}, nil
}

// set parses a list of values such as "(a,b)". A missing value is the empty string: "(a,)" contains a and "", and "()" contains
// only "".
func (p *parser) set() ([]string, error) {
	if !p.at("(") {
		return nil, p.expected(" expected: '('")
	}
	p.next()
	if !p.at(identifier) && !p.at(",") && !p.at(")") {
		return nil, p.expected(", expected: ',', ')' or identifier")
	}
	var values []string
	for {
		switch {
		case p.at(identifier):
			values = append(values, p.next().text)
		case p.at(","), p.at(")"):
			values = append(values, "")
		default:
			return nil, p.expected(", expected: ',', or identifier")
		}
		if p.at(")") {
			p.next()
			slices.Sort(values)
			return slices.Compact(values), nil
		}
		if !p.at(",") {
			return nil, p.expected(", expected: ',' or ')'")
		}
		p.next()
	}
}
