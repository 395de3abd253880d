package fake_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestExploreNeedsImport checks that a test that does not import package fake/explore fails with an error that asks for
// the import. The test runs itself in another process, because it fails there.
func TestExploreNeedsImport(t *testing.T) {
	const inside = "KUBESIM_TEST_IMPORT"
	switch os.Getenv(inside) {
	case "Explore":
		fake.Explore(t, fake.ExploreOptions{}, func(fake.T, *fake.Server) {})
		return
	case "Repeatable":
		fake.Repeatable(t)
		return
	}
	t.Parallel()
	is := is.New(t)
	program, err := os.Executable()
	is.NoErr(err)
	for _, name := range []string{"Explore", "Repeatable"} {
		cmd := exec.Command(program, "-test.run=^TestExploreNeedsImport$")
		cmd.Env = append(os.Environ(), inside+"="+name)
		out, err := cmd.CombinedOutput()
		is.True(err != nil) // the test fails
		is.True(strings.Contains(string(out), "kubesim: fake."+name+" needs package fake/explore, which this test does not import"))
		is.True(strings.Contains(string(out), `import _ "github.com/kubesim/kubesim/fake/explore"`))
	}
}
