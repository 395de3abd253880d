package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// All edits apply to the version of Go that runs this test.
func TestOverlay(t *testing.T) {
	is := is.New(t)
	out, err := exec.Command("go", "env", "GOROOT").Output()
	is.NoErr(err)
	var o overlay
	root := strings.TrimSpace(string(out))
	is.NoErr(o.patchGoroot(root, t.TempDir()))
	for path := range o.Replace {
		is.True(strings.HasPrefix(path, root)) // it is a file of the Go tree
	}
	for _, place := range additions {
		_, err := os.Stat(filepath.Join(root, "src", place))
		is.True(os.IsNotExist(err)) // an addition replaces nothing
	}
}

// If an edit does not apply to a Go tree, the error names the file and the expected code.
func TestOverlayOfAnotherGo(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	for _, e := range edits {
		file := filepath.Join(root, "src", e.file)
		is.NoErr(os.MkdirAll(filepath.Dir(file), 0o755))
		is.NoErr(os.WriteFile(file, []byte("package other\n"), 0o644))
	}
	var o overlay
	err := o.patchGoroot(root, t.TempDir())
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "contains the text below 0 times instead of once; use "+goVersions))
	is.True(strings.HasSuffix(err.Error(), edits[0].before))
}
