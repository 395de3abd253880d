package clients

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// The example in the project's README is TestOperator, to the letter.
func TestReadme(t *testing.T) {
	is := is.New(t)
	source, err := os.ReadFile("example_test.go")
	is.NoErr(err)
	_, test, found := strings.Cut(string(source), ")\n\nfunc TestOperator")
	is.True(found) // the test begins after the imports
	readme, err := os.ReadFile("../../README.md")
	is.NoErr(err)
	is.True(strings.Contains(string(readme), "```go\nfunc TestOperator"+test+"```\n")) // the README shows this test
}
