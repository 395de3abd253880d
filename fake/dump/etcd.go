package dump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/fake/stored"
	"github.com/kubesim/kubesim/sim/object"
)

// Written is the newest write of a key in etcd.
type Written struct {
	Key   string
	Rev   uint64
	Value []byte // nil if the key was deleted
}

// etcd adds the objects in a snapshot of etcd.
func (d *Dump) etcd(file string, data []byte) error {
	all, err := Snapshot(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, w := range all {
		if w.Value != nil {
			d.write(file, w)
		}
	}
	return nil
}

// Snapshot returns the newest write of each key in a snapshot of etcd: the file that etcdctl snapshot save writes, or that of a stopped
// server (member/snap/db). It returns an error if the file is damaged. The bucket "key" contains every write since the last compaction:
//
//	revision 8 │ "_" │ number in the transaction 8 │ "t" for a delete  ─▶  KeyValue {key = 1, mod_revision = 3, value = 5}
func Snapshot(data []byte) (all []Written, err error) {
	newest := map[string]int{} // by key: the index in all
	b, root, err := openBolt(data)
	var bucket []byte
	if err == nil {
		bucket, err = b.bucket(root, "key")
	}
	if err == nil {
		err = b.each(bucket, func(_ uint32, key, value []byte) error {
			w, err := parseWrite(value)
			if err != nil {
				return err
			}
			if bytes.HasSuffix(key, []byte("t")) {
				w.Value = nil
			}
			if i, ok := newest[w.Key]; ok {
				all[i] = w
			} else {
				newest[w.Key] = len(all)
				all = append(all, w)
			}
			return nil
		})
	}
	return all, err
}

// parseWrite parses a KeyValue of etcd, a message of protobuf.
func parseWrite(data []byte) (w Written, err error) {
	w.Value = []byte{}
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		value, m := binary.Uvarint(data[max(n, 0):])
		if n <= 0 || m <= 0 {
			return w, errBolt
		}
		data = data[n+m:]
		switch wire := tag & 7; {
		case wire == 0 && tag>>3 == 3:
			w.Rev = value
		case wire == 2:
			if value > uint64(len(data)) {
				return w, errBolt
			}
			switch tag >> 3 {
			case 1:
				w.Key = string(data[:value])
			case 5:
				w.Value = data[:value]
			}
			data = data[value:]
		case wire != 0:
			return w, errBolt
		}
	}
	return w, nil
}

// internal are parts of keys under which API servers store data that is not an object of the API.
var internal = []string{"/ranges/", "/masterleases/", "/peerserverleases/"}

// write adds the object that a write has stored. It skips internal data of API servers and values that cannot be decoded.
func (d *Dump) write(file string, w Written) {
	skip := func(reason string) { d.Skipped = append(d.Skipped, Problem{file + ": " + w.Key, reason}) }
	if !strings.HasPrefix(w.Key, "/") || slices.ContainsFunc(internal, func(part string) bool { return strings.Contains(w.Key, part) }) {
		skip("internal data of API servers")
		return
	}
	obj, err := stored.Decode(w.Value)
	if err != nil {
		skip(err.Error())
		return
	}
	obj.Set(strconv.FormatUint(w.Rev, 10), "metadata", "resourceVersion")
	d.add(Object{JSON: object.JSON(map[string]any(obj)), File: file}, obj)
}
