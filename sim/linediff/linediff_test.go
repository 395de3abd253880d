package linediff

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{"a\nb\nc\n", "a\nc\nd\n", " a|-b| c|+d"},
		{"a\nb\n", "c\nd\n", "-a|-b|+c|+d"}, // removed lines come first
		{"a\nx\nx\n", "a\nx\n", " a| x|-x"},
		{"", "a", "+a"},
		{"a", "a\n", " a"},
		{"", "", ""},
	} {
		is := is.New(t)
		var got []string
		for _, e := range Compare(c.before, c.after) {
			got = append(got, string(e.Op)+e.Text)
		}
		is.Equal(strings.Join(got, "|"), c.want) // the edits
	}
}
