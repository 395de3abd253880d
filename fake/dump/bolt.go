package dump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
)

// bolt is a file of bbolt, the store of etcd. It is read without bbolt, which needs a file on the disk, does not run in a browser,
// and panics if a file is damaged.
//
//	page    0    meta ─ root ─▶ page of the buckets' names
//	page    1    meta, of another transaction; the newer one counts
//	page  2 ...  id 8 │ flags 2 │ count 2 │ overflow 4 │ elements │ their keys and values
//	             branch element: position 4 │ key size 4 │ page 8
//	             leaf element:   flags 4 │ position 4 │ key size 4 │ value size 4
//
// A position is relative to its element. The value of a bucket is the page of its root and a sequence number; if that page is 0, the
// bucket's only page follows.
type bolt struct {
	data []byte
	page int             // the size of a page
	seen map[uint64]bool // the pages that were read: a damaged file may refer to a page several times
}

const (
	boltMagic  = 0xED0CDAED
	boltHeader = 16
	boltMeta   = 64 // the size of a meta
	boltBranch = 1
	boltLeaf   = 2
	boltBucket = 1 // flag of a leaf element
)

var errBolt = errors.New("the database is damaged")

// isBolt reports whether data is a file of bbolt.
func isBolt(data []byte) bool {
	return len(data) >= boltHeader+boltMeta && binary.LittleEndian.Uint32(data[boltHeader:]) == boltMagic
}

// openBolt opens a file and returns the page of the root bucket, according to the newer of its two valid meta pages. It returns
// errBolt if neither is valid.
func openBolt(data []byte) (b bolt, root uint64, err error) {
	b = bolt{data, int(binary.LittleEndian.Uint32(data[boltHeader+8:])), map[uint64]bool{}}
	newest, found := uint64(0), false
	for _, at := range []int{0, b.page} {
		if at < 0 || at > len(data)-boltHeader-boltMeta {
			continue
		}
		meta := data[at+boltHeader:][:boltMeta]
		sum := fnv.New64a()
		sum.Write(meta[:boltMeta-8])
		txid := binary.LittleEndian.Uint64(meta[48:])
		if binary.LittleEndian.Uint64(meta[56:]) == sum.Sum64() && (!found || txid > newest) {
			newest, found, root = txid, true, binary.LittleEndian.Uint64(meta[16:])
		}
	}
	if !found || b.page < boltHeader {
		return b, 0, errBolt
	}
	return b, root, nil
}

// bucket returns the root page of the named bucket. It returns an error if the bucket does not exist or the file is damaged.
func (b bolt) bucket(root uint64, name string) (page []byte, err error) {
	start, err := b.at(root)
	if err != nil {
		return nil, err
	}
	err = b.each(start, func(flags uint32, key, value []byte) error {
		if flags&boltBucket == 0 || string(key) != name || page != nil {
			return nil
		}
		if len(value) < boltHeader {
			return errBolt
		}
		if at := binary.LittleEndian.Uint64(value); at != 0 {
			page, err = b.at(at)
			return err
		}
		page = value[boltHeader:] // inline
		return nil
	})
	if err == nil && page == nil {
		err = errors.New("the database has no bucket " + name)
	}
	return page, err
}

// at returns the file's bytes from the beginning of a page to the end of the file, because a page may continue in overflow pages.
// It returns errBolt if the page is outside the file, or was requested before, which means that the file is damaged.
func (b bolt) at(page uint64) ([]byte, error) {
	if page >= uint64(len(b.data)/b.page) || b.seen[page] {
		return nil, errBolt
	}
	b.seen[page] = true
	return b.data[int(page)*b.page:], nil
}

// each calls f with the elements of a page and of the pages below it, in the order of their keys.
func (b bolt) each(page []byte, f func(flags uint32, key, value []byte) error) error {
	if len(page) < boltHeader {
		return errBolt
	}
	kind, count := binary.LittleEndian.Uint16(page[8:]), int(binary.LittleEndian.Uint16(page[10:]))
	if len(page) < boltHeader*(1+count) {
		return errBolt
	}
	for i := range count {
		e := page[boltHeader*(1+i):]
		switch kind {
		case boltBranch:
			below, err := b.at(binary.LittleEndian.Uint64(e[8:]))
			if err == nil {
				err = b.each(below, f)
			}
			if err != nil {
				return err
			}
		case boltLeaf:
			at, key, value := uint64(binary.LittleEndian.Uint32(e[4:])), uint64(binary.LittleEndian.Uint32(e[8:])), uint64(binary.LittleEndian.Uint32(e[12:]))
			if at+key+value > uint64(len(e)) {
				return errBolt
			}
			e = e[at:]
			if err := f(binary.LittleEndian.Uint32(page[boltHeader*(1+i):]), bytes.Clone(e[:key]), bytes.Clone(e[key:key+value])); err != nil {
				return err
			}
		default:
			return errBolt
		}
	}
	return nil
}
