package check

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestGuide checks that the guide shows the output for the files in testdata/guide, and that its policy tests pass.
func TestGuide(t *testing.T) {
	is := is.New(t)
	guide, err := os.ReadFile("../guide/check.md")
	is.NoErr(err)
	block := func(kind string) string {
		m := regexp.MustCompile("(?s)```" + kind + "\n(.*?)```").FindSubmatch(guide)
		is.True(m != nil) // the guide has such a block
		return string(m[1])
	}
	tests := filepath.Join(t.TempDir(), "tests.yaml")
	is.NoErr(os.CopyFS(filepath.Dir(tests), os.DirFS("testdata/policies")))
	is.NoErr(os.WriteFile(tests, []byte(block("yaml")), 0o600))
	p, err := ReadPolicyTests(tests)
	is.NoErr(err)
	r, err := p.Run(nil, Options{})
	is.NoErr(err)
	is.Equal(r.Summary(), "3 policy tests on Kubernetes 1.36: 0 errors")

	t.Chdir("testdata/guide")
	s, err := Read([]string{"deploy/"}, nil)
	is.NoErr(err)
	r, err = Run(s, Options{})
	is.NoErr(err)
	var b strings.Builder
	is.NoErr(r.Write(&b, "text"))
	is.Equal(b.String(), block("text"))
}
