package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// archive returns the path of the archive for a platform.
func (r *release) archive(p platform) string {
	if p.os == "windows" {
		return r.file(p.suffix() + ".zip")
	}
	return r.file(p.suffix() + ".tar.gz")
}

// unpack unpacks an archive into a directory. The file extension determines the format.
func unpack(name, folder string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case strings.HasSuffix(name, ".zip"):
		return unzip(f, folder)
	case strings.HasSuffix(name, ".gz"), strings.HasSuffix(name, ".tgz"):
		unzipped, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		return untar(unzipped, folder)
	}
	return untar(f, folder)
}

// untar unpacks a tar archive of files and directories.
func untar(from io.Reader, folder string) error {
	in := tar.NewReader(from)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Uid != 0 || h.Gid != 0 {
			return fmt.Errorf("%s belongs to user %d, group %d", h.Name, h.Uid, h.Gid)
		}
		if err := put(folder, h.Name, h.FileInfo().Mode(), in); err != nil {
			return err
		}
	}
}

// unzip unpacks a zip archive.
func unzip(f *os.File, folder string) error {
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	in, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, file := range in.File {
		r, err := file.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(put(folder, file.Name, file.Mode(), r), r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// put creates a file or directory from an archive.
func put(folder, name string, mode fs.FileMode, data io.Reader) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("the archive has %q, which is not a path in it", name)
	}
	path := filepath.Join(folder, filepath.FromSlash(name))
	if mode.IsDir() {
		return errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, mode.Perm()|mode&fs.ModeSticky))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	content, err := io.ReadAll(data)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path, content, 0o644), os.Chmod(path, mode.Perm()))
}

// engineFile returns the file name of the page's engine according to engine.json.
func engineFile(page string) (string, error) {
	text, err := os.ReadFile(filepath.Join(page, "engine/engine.json"))
	if err != nil {
		return "", err
	}
	var manifest struct{ Core struct{ File string } }
	if err := json.Unmarshal(text, &manifest); err != nil {
		return "", err
	}
	_, err = os.Stat(filepath.Join(page, "engine", manifest.Core.File))
	return manifest.Core.File, err
}
