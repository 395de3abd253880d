package kustomize

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Files provides the files of kustomizations. Names have forward slashes.
type Files interface {
	ReadFile(name string) ([]byte, error)
	Names(folder string) []string // returns the files in a folder, or nil if it is not a folder
}

// Names are the possible names of a kustomization file.
var Names = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// File returns the path of the kustomization file in a directory, or "" if there is none.
func File(files Files, dir string) string {
	for _, name := range Names {
		file := path.Join(dir, name)
		if _, err := files.ReadFile(file); err == nil {
			return file
		}
	}
	return ""
}

// absolute returns the path of a file in messages. The working directory is the root.
func absolute(name string) string { return path.Join("/", name) }

// missing returns the error for a file or folder that does not exist. given is its name in the kustomization.
func (b *build) missing(given, name string) error {
	gone := absolute(name)
	for up := path.Clean(name); up != "." && up != "/" && up != ".." && b.files.Names(up) == nil; up = path.Dir(up) {
		gone = absolute(up)
	}
	return fmt.Errorf("evalsymlink failure on '%s' : lstat %s: no such file or directory", given, gone)
}

// load reads a file that a kustomization names.
func (b *build) load(dir, file string) ([]byte, error) {
	name := path.Join(dir, file)
	data, err := b.files.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, b.missing(absolute(name), name)
	case err != nil:
		return nil, err
	}
	return data, b.below(dir, name)
}

// below returns an error if a file is not in a directory or below it: a kustomization may use other directories, but not single
// files of them (loader.RestrictionRootOnly).
func (b *build) below(dir, name string) error {
	if root := strings.TrimSuffix(absolute(dir), "/") + "/"; !strings.HasPrefix(absolute(name), root) {
		return fmt.Errorf("security; file '%s' is not in or below '%s'", absolute(name), absolute(dir))
	}
	return nil
}

// notFolder returns the error for a directory without a kustomization. given is its name as the user knows it.
func (b *build) notFolder(given, name string) error {
	switch _, err := b.files.ReadFile(name); {
	case err == nil:
		return fmt.Errorf("must build at directory: '%s': file is not directory", given)
	case b.files.Names(name) == nil && path.Clean(name) != ".":
		return fmt.Errorf("must build at directory: not a valid directory: %w", b.missing(given, name))
	}
	return fmt.Errorf("unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '%s'", absolute(name))
}
