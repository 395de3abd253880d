package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// files is the source of schema files: the embedded ones, or a pack.
type files interface {
	ReadFile(name string) ([]byte, error)
}

// pack is files by name: the data of one minor that was not built in, in one piece.
//
//	length of the first file (4 bytes, big-endian) │ MINOR.bin │ docs-MINOR.bin
type pack map[string][]byte

// ReadFile returns one of the files.
func (p pack) ReadFile(name string) ([]byte, error) {
	content, ok := p[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return content, nil
}

func setFile(minor string) string  { return "data/" + minor + ".bin" }
func docsFile(minor string) string { return "data/docs-" + minor + ".bin" }

// Pack returns the data of a minor that is built in, for Register in a program that it is not built into.
func Pack(minor string) ([]byte, error) {
	set, err := data.ReadFile(setFile(minor))
	if err != nil {
		return nil, fmt.Errorf("schema: no data for Kubernetes %q: %w", minor, err)
	}
	docs, err := data.ReadFile(docsFile(minor))
	if err != nil {
		return nil, fmt.Errorf("schema: no descriptions for Kubernetes %q: %w", minor, err)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(set)))
	return append(append(out, set...), docs...), nil
}

// Register makes the data of a minor, as Pack returns it, known to Load. It does nothing for a minor that Load has read.
func Register(minor string, packed []byte) error {
	if known := Known(); !slices.Contains(known, minor) {
		return fmt.Errorf("schema: there is no Kubernetes %q here, only %v", minor, known)
	}
	s, err := parsePack(minor, packed)
	if err != nil {
		return err
	}
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.sets[minor] == nil {
		loaded.sets[minor] = s
	}
	return nil
}

// parsePack parses the result of Pack.
func parsePack(minor string, packed []byte) (*Set, error) {
	if len(packed) < 4 || uint64(binary.BigEndian.Uint32(packed)) > uint64(len(packed)-4) {
		return nil, errors.New("schema: the data is cut off: it is not what Pack returned")
	}
	n := binary.BigEndian.Uint32(packed)
	s, err := open(pack{setFile(minor): packed[4 : 4+n], docsFile(minor): packed[4+n:]}, minor)
	if err != nil {
		return nil, fmt.Errorf("schema: data of Kubernetes %s: %w", minor, err)
	}
	return s, nil
}
