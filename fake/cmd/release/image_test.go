package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/matryer/is"
)

// The command is in the image's PATH, and the image runs it as a non-root user with authenticated requests.
func TestImage(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := &release{root: t.TempDir(), version: "v0.1.0", commit: "c0ffee", time: day, platforms: allPlatforms, log: io.Discard}
	is.NoErr(os.MkdirAll(r.out(), 0o755))
	programs := map[platform][]entry{}
	for _, p := range allPlatforms {
		programs[p] = []entry{{name: p.program(), data: []byte(p.String()), mode: 0o755}, {name: "LICENSE", data: []byte("x")}, {name: "README.md"}}
	}
	is.NoErr(r.image(programs))
	once, err := os.ReadFile(r.file("image.oci.tar"))
	is.NoErr(err)
	is.NoErr(r.image(programs))
	twice, err := os.ReadFile(r.file("image.oci.tar"))
	is.NoErr(err)
	is.True(bytes.Equal(once, twice)) // it is reproducible

	archive := t.TempDir()
	is.NoErr(unpack(r.file("image.oci.tar"), archive))
	for _, arch := range []string{"amd64", "arm64"} {
		p := platform{"linux", arch}
		image, err := findImage(archive, p)
		is.NoErr(err)
		config, err := image.ConfigFile()
		is.NoErr(err)
		is.Equal(config.Architecture, arch)
		is.Equal(config.Config.User, "65532:65532")
		is.True(slices.Contains(config.Config.Cmd, "rbac"))
		root := t.TempDir()
		files := mutate.Extract(image)
		is.NoErr(errors.Join(untar(files, root), files.Close()))
		path, err := lookPath(root, config.Config.Env, "kubesim")
		is.NoErr(err)
		is.Equal([]string{path}, config.Config.Entrypoint)
		program, err := os.ReadFile(filepath.Join(root, path))
		is.NoErr(err)
		is.Equal(string(program), p.String())
	}
	_, err = findImage(archive, platform{"windows", "amd64"})
	is.True(err != nil)
}

// The bill of materials lists the modules from which a program was built, in this case those of this test.
func TestBOM(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	path, err := os.Executable()
	is.NoErr(err)
	info, err := buildinfo.ReadFile(path)
	is.NoErr(err)
	r := &release{version: "v0.1.0", time: day}
	b := r.newBOM(platform{"linux", "arm64"}, info, []byte("program"))
	text, err := json.Marshal(b)
	is.NoErr(err)
	for _, has := range []string{
		`"bomFormat":"CycloneDX","specVersion":"1.6"`,
		`"timestamp":"2026-01-02T03:04:05Z"`,
		`"purl":"pkg:golang/github.com/kubesim/kubesim@v0.1.0?goos=linux\u0026goarch=arm64#fake/cmd/kubesim"`,
		`"name":"github.com/google/go-containerregistry"`,
		`"purl":"pkg:golang/std@` + info.GoVersion + `"`,
	} {
		if !strings.Contains(string(text), has) {
			t.Errorf("no %s in\n%s", has, text)
		}
	}
	seen := map[string]bool{}
	for _, c := range b.Components {
		is.True(c.Version != "" && !seen[c.Ref]) // each component has a version, and its own name
		seen[c.Ref] = true
	}
}
