package gotest

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// goroot holds the files that are added to the Go tree.
//
//go:embed goroot/*.go.txt
var goroot embed.FS

// additions maps each file of goroot to its path relative to GOROOT/src.
var additions = map[string]string{
	"goroot/runtime.go.txt": "runtime/kubesim_virtual.go",
	"goroot/net.go.txt":     "net/kubesim_virtual.go",
	"goroot/os.go.txt":      "os/kubesim_virtual.go",
	"goroot/syscall.go.txt": "syscall/kubesim_virtual.go",
	"goroot/testing.go.txt": "testing/kubesim_virtual.go",
	"goroot/sysrand.go.txt": "crypto/internal/sysrand/kubesim_virtual.go",
}

// goVersions names the versions of Go to which edits applies.
const goVersions = "Go 1.26"

// overlay is the content of the file for go build's flag -overlay: replacements of files.
type overlay struct{ Replace map[string]string }

// patchGoroot applies edits to files of the Go tree at root, writes the results and the additional files to dir, and
// adds both to the overlay. It returns an error if this version of Go does not contain the expected places.
func (o *overlay) patchGoroot(root, dir string) error {
	if err := o.edit(root, dir, edits); err != nil {
		return err
	}
	for file, place := range additions {
		text, err := goroot.ReadFile(file)
		if err != nil {
			return err
		}
		if err := o.add(filepath.Join(root, "src", filepath.FromSlash(place)), dir, strings.ReplaceAll(place, "/", "_"), string(text)); err != nil {
			return err
		}
	}
	return nil
}

// patchTesting does the same for package testing only, in real time.
func (o *overlay) patchTesting(root, dir string) error {
	const file = "goroot/testing.go.txt"
	text, err := goroot.ReadFile(file)
	if err != nil {
		return err
	}
	text = bytes.TrimPrefix(text, []byte("//go:build faketime\n"))
	if err := o.add(filepath.Join(root, "src", filepath.FromSlash(additions[file])), dir, "testing_kubesim.go", string(text)); err != nil {
		return err
	}
	return o.edit(root, dir, slices.DeleteFunc(slices.Clone(edits), func(e edit) bool { return e.file != "testing/testing.go" }))
}

// edit adds the files of the Go tree at root to the overlay, with changes.
func (o *overlay) edit(root, dir string, changes []edit) error {
	texts := map[string]string{}
	for _, e := range changes {
		text, ok := texts[e.file]
		if !ok {
			read, err := os.ReadFile(filepath.Join(root, "src", filepath.FromSlash(e.file)))
			if err != nil {
				return err
			}
			text = string(read)
		}
		if n := strings.Count(text, e.before); n != 1 {
			return fmt.Errorf("virtual time does not work with this version of Go: its file %s contains the text below %d times instead of once; use %s, or --real\n%s",
				filepath.Join(root, "src", e.file), n, goVersions, e.before)
		}
		texts[e.file] = strings.Replace(text, e.before, e.after, 1)
	}
	for file, text := range texts {
		if err := o.add(filepath.Join(root, "src", filepath.FromSlash(file)), dir, strings.ReplaceAll(file, "/", "_"), text); err != nil {
			return err
		}
	}
	return nil
}

// add replaces the file at path by text in the overlay. It writes the text to the file name in dir.
func (o *overlay) add(path, dir, name, text string) error {
	if o.Replace == nil {
		o.Replace = map[string]string{}
	}
	file := filepath.Join(dir, name)
	o.Replace[path] = file
	return os.WriteFile(file, []byte(text), 0o600)
}

// write writes the overlay to a file.
func (o *overlay) write(path string) error {
	text, err := json.MarshalIndent(o, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
