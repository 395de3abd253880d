package operator

import (
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// checkReadme checks that the project's README quotes the beginning of each line that TestOperator in readme_test.go
// logs. The README also contains this test, without the call to checkReadme.
func checkReadme(t *testing.T, srv *fake.Server) {
	t.Helper()
	is := is.New(t)
	readme, err := os.ReadFile("../../README.md")
	is.NoErr(err)
	_, text, _ := strings.Cut(string(readme), "t.Log(srv.Actions(")
	_, text, _ = strings.Cut(text, "```")
	log := srv.Actions("operator").Writes()
	is.Equal(len(log), 2)
	for _, request := range log {
		line, _, _ := strings.Cut(request.String(), ": ")
		is.True(strings.Contains(text, "`"+line+"`")) // the README quotes the request and the code of its answer
	}
}
