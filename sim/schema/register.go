package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// files is where schema files are read from: those that were built in, or a pack.
type files interface {
	ReadFile(name string) ([]byte, error)
}

// registered are the minors that were not built in.
var registered = map[string]pack{}

// pack is the data of one minor in one piece.
//
//	length of the first file (4 bytes, big-endian) │ MINOR.bin │ docs-MINOR.bin
type pack struct{ set, docs []byte }

// ReadFile returns one of the two files.
func (p pack) ReadFile(name string) ([]byte, error) {
	switch {
	case len(name) > len("data/docs-") && name[:len("data/docs-")] == "data/docs-":
		return p.docs, nil
	case len(name) > len("data/") && name[len("data/")] != 'p':
		return p.set, nil
	}
	return nil, fs.ErrNotExist
}

// Pack returns the data of a minor that is built in, for Register in a program that it is not built into.
func Pack(minor string) ([]byte, error) {
	set, err := data.ReadFile("data/" + minor + ".bin")
	if err != nil {
		return nil, fmt.Errorf("schema: no data for Kubernetes %q: %w", minor, err)
	}
	docs, err := data.ReadFile("data/docs-" + minor + ".bin")
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
	if len(packed) < 4 || uint64(binary.BigEndian.Uint32(packed)) > uint64(len(packed)-4) {
		return errors.New("schema: the data is cut off: it is not what Pack returned")
	}
	n := binary.BigEndian.Uint32(packed)
	p := pack{packed[4 : 4+n], packed[4+n:]}
	s, err := parseFrom(p, minor, p.set)
	if err != nil {
		return fmt.Errorf("schema: data of Kubernetes %s: %w", minor, err)
	}
	loaded.Lock()
	defer loaded.Unlock()
	registered[minor] = p
	if loaded.sets == nil {
		loaded.sets = map[string]*Set{}
	}
	if loaded.sets[minor] == nil {
		loaded.sets[minor] = s
	}
	return nil
}
