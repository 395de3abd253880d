package scenario

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestCommands checks that each row of the table is complete: its example can be parsed, its flags are in the table of
// flags, and doc.go describes it.
func TestCommands(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	names := commandNames()
	for _, c := range Commands() {
		t.Run(c.Name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n != c.Name })), 1) // once in the table
			is.True(c.Help != "" && c.run != nil)                                                                // it has a help text and a function
			is.Equal(c.build != nil, c.Group == Requests)                                                        // only requests are sent
			op, err := Parse(c.Example)
			is.NoErr(err)                        // its example can be parsed
			is.Equal(op.Name, c.Name)            // the example uses the command
			is.Equal(op.String(), c.Example)     // the example has the canonical form
			is.True(c.needs <= len(c.Args))      // the required arguments have kinds
			is.True(!c.more || len(c.Args) > 0)  // and the repeated argument, too
			is.True(!c.text || len(c.Args) == 0) // a text command has no arguments
			for _, f := range c.Flags {
				is.True(findFlag(f) != nil) // all flags are known
			}
			is.True(slices.ContainsFunc(strings.FieldsFunc(string(doc), func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }),
				func(w string) bool { return w == c.Name })) // doc.go names it
		})
	}
}
