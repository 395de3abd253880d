package migrate

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/examples/documents"
)

// The README shows all changes that the test needs, and there are only a few of them.
func TestGuide(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	readme, err := documents.Open("../..", "examples/migrate/README.md")
	is.NoErr(err)
	var shown []string
	for _, b := range readme.Blocks {
		if b.Kind == "diff" {
			shown = append(shown, b.Text)
		}
	}
	files := []string{"reconciler_test.go", "drain_test.go", "operator_test.go"}
	is.Equal(len(shown), len(files))
	for i, name := range files {
		before, err := os.ReadFile("before/" + name)
		is.NoErr(err)
		after, err := os.ReadFile("after/" + name)
		is.NoErr(err)
		want := diff(strings.SplitAfter(string(before), "\n"), strings.SplitAfter(string(after), "\n"))
		if got := shown[i]; got != want {
			t.Errorf("%s: the README shows\n%s\nnot\n%s", name, got, want)
		}
		if n := strings.Count("\n"+want, "\n+"); n > 12 {
			t.Errorf("%s: %d lines to write", name, n)
		}
	}
}

// diff returns the lines that differ, according to the longest common subsequence.
func diff(a, b []string) string {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := range slices.Backward(a) {
		for j := range slices.Backward(b) {
			if length[i][j] = max(length[i+1][j], length[i][j+1]); a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			out.WriteString("-" + a[i])
			i++
		default:
			out.WriteString("+" + b[j])
			j++
		}
	}
	return out.String()
}
