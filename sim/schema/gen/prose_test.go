package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestDescribe(t *testing.T) {
	for _, c := range []struct{ name, comment, want string }{
		{"nothing", "", ""},
		{"lines are joined", "One\nsentence.", "One sentence."},
		{"paragraphs are kept", "One.\n\nTwo.", "One.\n\nTwo."},
		{"markers are left out", "One.\n+optional\n  +enum\nTwo.", "One. Two."},
		{"so are notes", "One.\nTODO(me): more\nTwo.", "One. Two."},
		{"and all after a line", "One.\n---\nTwo.", "One."},
		{"but not in a longer line", "One.\n--- Two.", "One. --- Two."},
		{"indented lines stand alone", "For example:\n\tkubectl\n  get\nThat is all.", "For example:\n\tkubectl\n  get\nThat is all."},
		{"blanks at the end are no text", "One.  \nTwo. ", "One. Two."},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(describe(strings.Split(c.comment, "\n")), c.want)
		})
	}
}

const colours = `package p

// Colour is seen.
// +enum
type Colour string

const (
	// Red is the first
	//   of all.
	Red Colour = "r"
	Green, Blue Colour = "g", "b"

	// Rouge
	Rouge Colour = "r"
	White = "w"
)

// Shape is not an enum.

// A comment in between.
type Shape string

const Round Shape = "o"

type T struct {
	A int // behind A
	B int

	// Above C.
	C int
	pkg.Inlined
}
`

func read(tb testing.TB, text string) *pkg {
	tb.Helper()
	p := &pkg{files: token.NewFileSet(), types: map[string]*goType{}}
	f, err := parser.ParseFile(p.files, "p.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		tb.Fatal(err)
	}
	p.each([]*ast.File{f}, token.TYPE, p.typeSpec)
	p.each([]*ast.File{f}, token.CONST, p.valueSpec)
	return p
}

func TestSource(t *testing.T) {
	is := is.New(t)
	p := read(t, colours)
	is.NoErr(p.err)
	is.True(p.types["Colour"].enum)
	is.Equal(p.types["Colour"].lines(), []string{"", "Possible enum values:", " - `\"b\"` ", " - `\"g\"` ",
		" - `\"r\"` is the first of all."}) // sorted; the longer comment of two
	is.True(!p.types["Shape"].enum)
	is.Equal(p.types["Shape"].comment, []string{"A comment in between."}) // only the comment right above
	is.Equal(p.types["T"].fields["A"], []string(nil))
	is.Equal(p.types["T"].fields["B"], []string{"behind A"}) // as in the real generator
	is.Equal(p.types["T"].fields["C"], []string{"Above C."})
	_, ok := p.types["T"].fields["Inlined"]
	is.True(ok) // under the name of its type

	p = read(t, "package p\n// +enum\ntype E string\nconst A E = f\n")
	is.Equal(p.err.Error(), "p.go:4:7: the constant A is not a string literal") // no value is lost
}
