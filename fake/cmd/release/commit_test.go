package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// project creates a git repository with the files that a release reads, ready for v0.1.0.
func project(t *testing.T) *release {
	t.Helper()
	is := is.New(t)
	r := &release{root: t.TempDir(), version: "v0.1.0", page: true, platforms: allPlatforms}
	is.NoErr(os.MkdirAll(filepath.Join(r.root, "fake/ctrl"), 0o755))
	for name, text := range map[string]string{ // order does not matter
		"CHANGELOG.md":     "# Changelog\n\n## v0.1.0\n\nNew.\n",
		"fake/ctrl/go.mod": "module github.com/kubesim/kubesim/fake/ctrl\n\nrequire github.com/kubesim/kubesim v0.1.0\n",
		".gitignore":       "/dist/\n",
	} {
		is.NoErr(os.WriteFile(filepath.Join(r.root, name), []byte(text), 0o644))
	}
	do(t, r, "init", "--quiet")
	do(t, r, "config", "user.email", "a@example.com")
	do(t, r, "config", "user.name", "a")
	commit(t, r)
	return r
}

func do(t *testing.T, r *release, args ...string) {
	t.Helper()
	if _, err := r.git(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
}

func commit(t *testing.T, r *release) {
	t.Helper()
	do(t, r, "add", "--all")
	do(t, r, "commit", "--quiet", "--message", "x")
}

// A commit that is ready can be released, and the tags are printed.
func TestReady(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := project(t)
	is.NoErr(r.readCommit(t.Context()))
	is.Equal(len(r.commit), 40)
	is.True(!r.time.IsZero())
	var out bytes.Buffer
	r.log = &out
	do(t, r, "tag", "v0.1.0")
	r.printTags(t.Context())
	is.True(strings.Contains(out.String(), "The tag v0.1.0 is there, on this commit.\n"))
	is.True(strings.Contains(out.String(), "git tag -a -m 'kubesim v0.1.0' fake/ctrl/v0.1.0 "+r.commit+"\ngit push origin v0.1.0 fake/ctrl/v0.1.0\n"))
	out.Reset()
	r.page = false
	r.printTags(t.Context())
	is.True(!strings.Contains(out.String(), "git push")) // it is not complete
}

// An error explains why a commit cannot be released and how to fix that.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version string
		change  func(t *testing.T, r *release)
		says    string
	}{
		{"", nil, `VERSION="" is not a semantic version such as v0.1.0`},
		{"0.1.0", nil, "is not a semantic version"},
		{"v0.1", nil, "is not a semantic version"},
		{"v0.1.0+x", nil, "is not a semantic version"},
		{"v2.0.0", nil, "Go wants the major version in the path"},
		{"v0.2.0", nil, `CHANGELOG.md has no heading "## v0.2.0"`},
		{"v0.1.0", func(t *testing.T, r *release) { write(t, r, "new", "") }, "the tree has changes that are not committed: commit or remove them\n?? new"},
		{"v0.1.0", func(t *testing.T, r *release) {
			write(t, r, "fake/ctrl/go.mod", "module a\n\nrequire github.com/kubesim/kubesim v0.0.9\n")
			commit(t, r)
		}, "go mod edit -require=github.com/kubesim/kubesim@v0.1.0)"},
		{"v0.1.0", func(t *testing.T, r *release) {
			do(t, r, "tag", "fake/ctrl/v0.1.0")
			write(t, r, "new", "")
			commit(t, r)
		}, "the tag fake/ctrl/v0.1.0 exists, on commit "},
	} {
		r := project(t)
		r.version = c.version
		if c.change != nil {
			c.change(t, r)
		}
		err := r.readCommit(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v, it should say %s", c.version, err, c.says)
		}
	}
}

func write(t *testing.T, r *release, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.root, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Invalid arguments are rejected before anything is built.
func TestArguments(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"":                             "say build or check",
		"publish":                      "say build or check",
		"build -platforms plan9/amd64": `"plan9/amd64" is not one of [linux/amd64 `,
		"build -version v0.1.0 now":    `"now" is not a flag`,
		"check -version 1":             "is not a semantic version",
	} {
		err := run(context.Background(), strings.Fields(args), os.Stderr)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v, it should say %s", args, err, says)
		}
	}
}
