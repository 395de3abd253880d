package clients

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestReadme compares the first example of the project's README with example_test.go, which is the same but for its package.
func TestReadme(t *testing.T) {
	is := is.New(t)
	source, err := os.ReadFile("example_test.go")
	is.NoErr(err)
	_, program, found := strings.Cut(string(source), "package clients\n")
	is.True(found) // the example begins after the package clause
	readme, err := os.ReadFile("../../README.md")
	is.NoErr(err)
	is.True(strings.Contains(string(readme), "```go\npackage operator\n"+program+"```\n")) // the README shows this program
}
