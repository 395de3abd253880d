package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file or directory in an archive.
type entry struct {
	name string      // slash-separated; a directory's ends in a slash
	mode fs.FileMode // if 0, 0644
	data []byte
}

// directory returns the entry of a directory.
func directory(name string) entry { return entry{name: name + "/", mode: 0o755} }

// permissions returns the permission bits of an entry.
func (e entry) permissions() fs.FileMode {
	if e.mode == 0 {
		return 0o644
	}
	return e.mode
}

// sorted returns a copy of the entries, sorted by name.
func sorted(entries []entry) []entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return strings.Compare(a.name, b.name) })
}

// writeTar writes a tar archive. when is the modification time of all entries. They belong to user and group 0.
func writeTar(w io.Writer, entries []entry, when time.Time) error {
	out := tar.NewWriter(w)
	for _, e := range sorted(entries) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: tarMode(e.permissions()), Size: int64(len(e.data)), ModTime: when, Format: tar.FormatUSTAR}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := out.Write(e.data); err != nil {
			return err
		}
	}
	return out.Close()
}

// tarMode converts a mode to that of a tar header.
func tarMode(mode fs.FileMode) int64 {
	bits := int64(mode.Perm())
	if mode&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

// writeTarGz writes a compressed tar archive.
func writeTarGz(w io.Writer, entries []entry, when time.Time) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(zipped, entries, when), zipped.Close())
}

// writeZip writes a zip archive. when is the modification time of all entries.
func writeZip(w io.Writer, entries []entry, when time.Time) error {
	out := zip.NewWriter(w)
	for _, e := range sorted(entries) {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: when.UTC()}
		h.SetMode(e.permissions())
		if strings.HasSuffix(e.name, "/") {
			h.Method = zip.Store
			h.SetMode(e.permissions() | fs.ModeDir)
		}
		f, err := out.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.data); err != nil {
			return err
		}
	}
	return out.Close()
}

// writeFile writes entries to a new file with the given write function.
func writeFile(name string, entries []entry, when time.Time, write func(io.Writer, []entry, time.Time) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f, entries, when), f.Close())
}

// readFolder returns the files and directories below a directory, with names relative to it. Their modes are 0644 and 0755,
// regardless of the umask.
func readFolder(folder string) (entries []entry, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case d.IsDir():
			entries = append(entries, directory(name))
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is neither a file nor a folder", path)
		}
		data, err := os.ReadFile(path)
		entries = append(entries, entry{name: name, data: data})
		return err
	})
	return entries, err
}

// sumsFile is the name of the file with the checksums, in the format of sha256sum.
const sumsFile = "SHA256SUMS"

// sums writes the checksums of all files in the release.
func (r *release) sums() error {
	files, err := os.ReadDir(r.out()) // sorted by name
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(r.out(), f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return os.WriteFile(filepath.Join(r.out(), sumsFile), []byte(list.String()), 0o644)
}
