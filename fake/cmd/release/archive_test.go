package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"
)

var day = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var someFiles = []entry{{name: "a/b", data: []byte("text")}, directory("a"), {name: "a/c", data: []byte("program"), mode: 0o755}}

var formats = []struct {
	extension string
	write     func(io.Writer, []entry, time.Time) error
}{{".tar", writeTar}, {".tar.gz", writeTarGz}, {".zip", writeZip}}

// The bytes of an archive depend only on its entries and the time, regardless of their order and the time zone.
func TestArchivesAreReproducible(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		is := is.New(t)
		var one, two bytes.Buffer
		is.NoErr(f.write(&one, someFiles, day))
		reversed := slices.Clone(someFiles)
		slices.Reverse(reversed)
		is.NoErr(f.write(&two, reversed, day.In(time.FixedZone("x", 3600))))
		is.True(bytes.Equal(one.Bytes(), two.Bytes())) // the archives are equal
	}
}

// An archive unpacks to the names, contents and modes that were packed.
func TestUnpack(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		is := is.New(t)
		folder := t.TempDir()
		name := filepath.Join(folder, "x"+f.extension)
		is.NoErr(writeFile(name, someFiles, day, f.write))
		is.NoErr(unpack(name, filepath.Join(folder, "out")))
		entries, err := readFolder(filepath.Join(folder, "out"))
		is.NoErr(err)
		is.Equal(len(entries), 3)
		is.Equal(entries[1], entry{name: "a/b", data: []byte("text")})
		info, err := os.Stat(filepath.Join(folder, "out/a/c"))
		is.NoErr(err)
		is.Equal(info.Mode().Perm(), os.FileMode(0o755))
	}
}

// An archive cannot write files outside of the directory into which it is unpacked.
func TestUnpackStaysInside(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	folder := t.TempDir()
	is.NoErr(writeFile(filepath.Join(folder, "x.tar"), []entry{{name: "../y", data: []byte("y")}}, day, writeTar))
	is.True(unpack(filepath.Join(folder, "x.tar"), filepath.Join(folder, "out")) != nil)
}

// The checksums are those of all files, sorted by name.
func TestSums(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := &release{root: t.TempDir(), version: "v0.1.0"}
	is.NoErr(os.MkdirAll(r.out(), 0o755))
	for _, name := range []string{"b", "a"} {
		is.NoErr(os.WriteFile(filepath.Join(r.out(), name), []byte(name), 0o644))
	}
	is.NoErr(r.sums())
	text, err := os.ReadFile(filepath.Join(r.out(), sumsFile))
	is.NoErr(err)
	is.Equal(string(text), "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n"+
		"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b\n")
}

// A module without a license cannot be redistributed, and is an error.
func TestLicensesIn(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	folder := t.TempDir()
	_, err := licensesIn("a v1", folder)
	is.True(err != nil)
	for _, name := range []string{"LICENSE.md", "NOTICE", "README.md"} {
		is.NoErr(os.WriteFile(filepath.Join(folder, name), []byte("text of "+name+"\n"), 0o644))
	}
	text, err := licensesIn("a v1", folder)
	is.NoErr(err)
	is.Equal(string(text), "==== a v1: LICENSE.md ====\n\ntext of LICENSE.md\n\n==== a v1: NOTICE ====\n\ntext of NOTICE\n\n")
}
