package dump

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// sizeMax is the maximum size of a dump, after it was decompressed.
const sizeMax = 4 << 30

// Read reads files, all files below folders, and, for the path "-", standard input. An error contains the file and the line.
func Read(paths ...string) (*Dump, error) {
	d := &Dump{}
	for _, path := range paths {
		if err := d.read(path); err != nil {
			return nil, err
		}
	}
	d.settle()
	return d, nil
}

// Add adds the objects in the contents of a file, in any format. An error contains the name of the file.
func (d *Dump) Add(name string, data []byte) error {
	if err := d.file(name, data); err != nil {
		return err
	}
	d.settle()
	return nil
}

func (d *Dump) read(path string) error {
	if path == "-" {
		data, err := d.load("standard input", os.Stdin)
		if err != nil {
			return err
		}
		return d.file("-", data)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return d.folder(path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return d.file(path, data)
}

// folder reads the files of a dump below a folder, sorted by name. It ignores all other files.
func (d *Dump) folder(root string) error {
	return fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !IsDump(name) {
			return err
		}
		name = path.Join(root, name)
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return d.file(name, data)
	})
}

// IsDump reports whether a file of a folder or an archive may contain objects.
func IsDump(name string) bool {
	switch strings.TrimSuffix(path.Ext(name), ".zst") {
	case ".yaml", ".yml", ".json", ".db":
		return true
	}
	return strings.HasSuffix(name, ".json.zst")
}

// file reads the contents of a file, whose format it recognizes. It returns an error if the file is encrypted.
func (d *Dump) file(name string, data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		in, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if data, err = d.load(name, in); err != nil {
			return err
		}
		return d.file(name, data)
	case bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")):
		in, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(sizeMax))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer in.Close()
		if data, err = d.load(name, in); err != nil {
			return err
		}
		return d.file(name, data)
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return d.zip(name, data)
	case len(data) > 262 && string(data[257:262]) == "ustar":
		return d.tar(name, data)
	case isBolt(data):
		return d.etcd(name, data)
	case bytes.HasPrefix(data, []byte("age-encryption.org/")):
		return fmt.Errorf("%s: it is encrypted: decrypt it first", name)
	}
	return d.text(name, data)
}

// load reads everything. It returns an error if the dump then exceeds sizeMax bytes.
func (d *Dump) load(name string, in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, sizeMax-d.size+1))
	if d.size += int64(len(data)); err == nil && d.size > sizeMax {
		err = fmt.Errorf("it has more than %d bytes", int64(sizeMax))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

func (d *Dump) tar(name string, data []byte) error {
	in := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if h.Typeflag != tar.TypeReg || !IsDump(h.Name) {
			continue
		}
		if err := d.entry(name+"/"+h.Name, in); err != nil {
			return err
		}
	}
}

func (d *Dump) zip(name string, data []byte) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, f := range z.File {
		if f.FileInfo().IsDir() || !IsDump(f.Name) {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return fmt.Errorf("%s/%s: %w", name, f.Name, err)
		}
		if err := d.entry(name+"/"+f.Name, in); err != nil {
			return err
		}
	}
	return nil
}

// entry reads a file in an archive.
func (d *Dump) entry(name string, in io.Reader) error {
	data, err := d.load(name, in)
	if err != nil {
		return err
	}
	return d.file(name, data)
}
