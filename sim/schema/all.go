package schema

import (
	"errors"
	"fmt"
	"io/fs"
)

// allSets contains the Sets of LoadAll by minor version. The lock of loaded protects it.
var allSets = map[string]*Set{}

// LoadAll is like Load, but the Set also has the versions and kinds of the API that servers do not serve by default. Its data is a
// separate file, because few programs need it. A program with GOOS=js has no such data.
//
//	all-MINOR.bin ── types, resources of all versions ──────────┐
//	docs-all-MINOR.bin, prose-all-MINOR.bin ── further texts ───┼─▶ Set
//	Load(MINOR) ── all other descriptions ──────────────────────┘
func LoadAll(minor string) (*Set, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if s := allSets[minor]; s != nil {
		return s, nil
	}
	base, err := loadLocked(minor)
	if err != nil {
		return nil, err
	}
	raw, err := unpack(data, "data/all-"+minor+".bin")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("this program does not have the versions of the API that Kubernetes %s does not serve by default", minor)
	} else if err != nil {
		return nil, err
	}
	s, err := readSet(raw, minor)
	if err != nil {
		return nil, err
	}
	s.docs = texts{from: data, name: docsFile("all-" + minor), base: &base.docs}
	s.prose = texts{from: proseData, name: "data/prose-all-" + minor + ".bin", base: &base.prose}
	allSets[minor] = s
	return s, nil
}
