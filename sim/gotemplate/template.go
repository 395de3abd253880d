// Package gotemplate executes templates of Go for JSON values, as kubectl does for -o go-template. The parser is that of text/template;
// text/template itself finds methods by their names at run time, so that a program with it contains every method of every type.
//
//	text ─ Parse ─▶ Template ─ Execute(value) ─▶ output
//	                parse.Tree    map[string]any, []any, string, float64, bool, nil
package gotemplate

import (
	"fmt"
	"io"
	"strings"
	"text/template/parse"
)

// Template is a parsed template.
type Template struct{ trees map[string]*parse.Tree }

// Parse parses a template with a name, which occurs in errors. Their texts are those of text/template.
func Parse(name, text string) (*Template, error) {
	known := map[string]any{}
	for f := range functions {
		known[f] = true
	}
	trees := map[string]*parse.Tree{}
	tree := parse.New(name)
	if _, err := tree.Parse(text, "", "", trees, known); err != nil {
		return nil, err
	}
	if trees[name] == nil { // an empty template is not added
		trees[name] = tree
	}
	return &Template{trees}, nil
}

// missing is the value of a field that does not exist.
type missing struct{}

// variable is a variable of a template, with its $.
type variable struct {
	name  string
	value any
}

// state is the state of an execution. It ends with a panic of *Error.
type state struct {
	template *Template
	tree     *parse.Tree
	at       parse.Node // for errors
	out      io.Writer
	vars     []variable
	depth    int
}

// Error is an error of an execution.
type Error struct{ text string }

// Error implements error.
func (e *Error) Error() string { return e.text }

// jump is the panic of break and continue.
type jump int

const (
	toNext jump = iota
	toEnd
)

// deepest is the maximum number of nested templates. It is that of text/template in a browser, whose stacks are small.
const deepest = 1000

// Execute writes the output of the template with a name for a value. It returns the first error, after the output so far.
func (t *Template) Execute(w io.Writer, name string, value any) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			e, ok := broken.(*Error)
			if !ok {
				panic(broken)
			}
			err = e
		}
	}()
	s := &state{template: t, tree: t.trees[name], out: w, vars: []variable{{"$", value}}}
	s.walk(value, s.tree.Root)
	return nil
}

// fail ends the execution with an error at the current node.
func (s *state) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.at == nil {
		panic(&Error{fmt.Sprintf("template: %s: %s", s.tree.Name, text)})
	}
	location, context := s.tree.ErrorContext(s.at)
	panic(&Error{fmt.Sprintf("template: %s: executing %q at <%s>: %s", location, s.tree.Name, context, text)})
}

// walk executes a node.
func (s *state) walk(dot any, node parse.Node) {
	s.at = node
	switch n := node.(type) {
	case *parse.TextNode:
		s.out.Write(n.Text)
	case *parse.ActionNode:
		value := s.pipeline(dot, n.Pipe)
		if len(n.Pipe.Decl) == 0 {
			io.WriteString(s.out, text(value))
		}
	case *parse.ListNode:
		for _, inner := range n.Nodes {
			s.walk(dot, inner)
		}
	case *parse.IfNode:
		s.branch(dot, n.BranchNode, false)
	case *parse.WithNode:
		s.branch(dot, n.BranchNode, true)
	case *parse.RangeNode:
		s.iterate(dot, n)
	case *parse.TemplateNode:
		s.call(dot, n)
	case *parse.BreakNode:
		panic(toEnd)
	case *parse.ContinueNode:
		panic(toNext)
	}
}

// branch executes if and with.
func (s *state) branch(dot any, n parse.BranchNode, with bool) {
	defer s.restore(len(s.vars))
	value := s.pipeline(dot, n.Pipe)
	switch {
	case truth(value) && with:
		s.walk(value, n.List)
	case truth(value):
		s.walk(dot, n.List)
	case n.ElseList != nil:
		s.walk(dot, n.ElseList)
	}
}

// restore removes variables that were declared since there were n.
func (s *state) restore(n int) { s.vars = s.vars[:n] }

// call executes another template.
func (s *state) call(dot any, n *parse.TemplateNode) {
	tree := s.template.trees[n.Name]
	if tree == nil {
		s.fail("template %q not defined", n.Name)
	}
	if s.depth == deepest {
		s.fail("exceeded maximum template depth (100000)") // as the error of a native program says
	}
	var value any = missing{}
	if n.Pipe != nil {
		value = s.pipeline(dot, n.Pipe)
	}
	inner := &state{template: s.template, tree: tree, out: s.out, vars: []variable{{"$", value}}, depth: s.depth + 1}
	inner.walk(value, tree.Root)
}

// pipeline returns the value of a pipeline, and sets the variables that it declares or assigns.
func (s *state) pipeline(dot any, pipe *parse.PipeNode) any {
	s.at = pipe
	var value any = missing{}
	for i, command := range pipe.Cmds {
		value = s.command(dot, command, value, i > 0)
	}
	for _, v := range pipe.Decl {
		if pipe.IsAssign {
			s.assign(v.Ident[0], value)
		} else {
			s.vars = append(s.vars, variable{v.Ident[0], value})
		}
	}
	return value
}

// assign sets the innermost variable with a name.
func (s *state) assign(name string, value any) {
	for i := len(s.vars) - 1; i >= 0; i-- {
		if s.vars[i].name == name {
			s.vars[i].value = value
			return
		}
	}
	s.fail("undefined variable: %s", name)
}

// command returns the value of a command. last is the value of the command before it in the pipeline, if piped is set.
func (s *state) command(dot any, c *parse.CommandNode, last any, piped bool) any {
	first := c.Args[0]
	if f, ok := first.(*parse.IdentifierNode); ok {
		s.at = first
		return s.function(dot, f, c, last, piped)
	}
	s.at = first
	if len(c.Args) > 1 || piped {
		switch n := first.(type) {
		case *parse.FieldNode:
			last := len(n.Ident) - 1
			if s.fields(dot, n.Ident[:last]) == any(missing{}) {
				return missing{}
			}
			s.value(dot, n)
			s.fail("%s is not a method but has arguments", n.Ident[last])
		default:
			s.fail("can't give argument to non-function %s", first)
		}
	}
	return s.value(dot, first)
}

// value returns the value of an operand.
func (s *state) value(dot any, node parse.Node) any {
	s.at = node
	switch n := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return s.fields(dot, n.Ident)
	case *parse.VariableNode:
		for i := len(s.vars) - 1; i >= 0; i-- {
			if s.vars[i].name == n.Ident[0] {
				return s.fields(s.vars[i].value, n.Ident[1:])
			}
		}
		s.fail("undefined variable: %s", n.Ident[0])
	case *parse.ChainNode:
		inner := s.value(dot, n.Node)
		s.at = n
		return s.fields(inner, n.Field)
	case *parse.PipeNode:
		return s.pipeline(dot, n)
	case *parse.IdentifierNode:
		return s.function(dot, n, &parse.CommandNode{Args: []parse.Node{n}}, nil, false)
	case *parse.NilNode:
		s.fail("nil is not a command")
	case *parse.BoolNode:
		return n.True
	case *parse.StringNode:
		return n.Text
	case *parse.NumberNode:
		return s.number(n)
	}
	return missing{}
}

// number returns the value of a constant: an int, unless its text is that of a float64.
func (s *state) number(n *parse.NumberNode) any {
	hex := len(n.Text) > 2 && n.Text[0] == '0' && (n.Text[1] == 'x' || n.Text[1] == 'X') && !strings.ContainsAny(n.Text, "pP")
	switch {
	case n.IsComplex:
		return n.Complex128
	case n.IsFloat && !hex && strings.ContainsAny(n.Text, ".eEpP"):
		return n.Float64
	case n.IsInt:
		return int(n.Int64)
	case n.IsUint:
		s.fail("%s overflows int", n.Text)
	}
	return n.Float64
}

// fields returns the value of a chain of fields.
func (s *state) fields(value any, names []string) any {
	for _, name := range names {
		switch v := value.(type) {
		case missing:
		case map[string]any:
			var ok bool
			if value, ok = v[name]; !ok {
				value = missing{}
			}
		case nil:
			s.fail("nil pointer evaluating interface {}.%s", name)
		default:
			s.fail("can't evaluate field %s in type interface {}", name)
		}
	}
	return value
}
