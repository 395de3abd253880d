package dump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// written is the newest write of a key in etcd.
type written struct {
	key   string
	rev   uint64
	value []byte // nil if the key was deleted
}

// etcd reads a snapshot of etcd: the file that etcdctl snapshot save writes, or that of a stopped server (member/snap/db). Its bucket
// "key" contains every write since the last compaction:
//
//	revision 8 │ "_" │ number in the transaction 8 │ "t" for a delete  ─▶  KeyValue {key = 1, mod_revision = 3, value = 5}
func (d *Dump) etcd(file string, data []byte) error {
	newest := map[string]int{} // by key: the index in all
	var all []written
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
				w.value = nil
			}
			if i, ok := newest[w.key]; ok {
				all[i] = w
			} else {
				newest[w.key] = len(all)
				all = append(all, w)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, w := range all {
		if w.value != nil {
			d.write(file, w)
		}
	}
	return nil
}

// parseWrite parses a KeyValue of etcd, a message of protobuf.
func parseWrite(data []byte) (w written, err error) {
	w.value = []byte{}
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		value, m := binary.Uvarint(data[max(n, 0):])
		if n <= 0 || m <= 0 {
			return w, errBolt
		}
		data = data[n+m:]
		switch wire := tag & 7; {
		case wire == 0 && tag>>3 == 3:
			w.rev = value
		case wire == 2:
			if value > uint64(len(data)) {
				return w, errBolt
			}
			switch tag >> 3 {
			case 1:
				w.key = string(data[:value])
			case 5:
				w.value = data[:value]
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
func (d *Dump) write(file string, w written) {
	skip := func(reason string) { d.Skipped = append(d.Skipped, Problem{file + ": " + w.key, reason}) }
	if !strings.HasPrefix(w.key, "/") || slices.ContainsFunc(internal, func(part string) bool { return strings.Contains(w.key, part) }) {
		skip("internal data of API servers")
		return
	}
	obj, err := decodeStored(w.value)
	if err != nil {
		skip(err.Error())
		return
	}
	obj.Set(strconv.FormatUint(w.rev, 10), "metadata", "resourceVersion")
	d.add(Object{JSON: object.JSON(map[string]any(obj)), File: file}, obj)
}

// decodeStored decodes a value of etcd: built-in kinds are protobuf, definitions and custom resources are JSON. An object that is
// stored in a version that is not served is returned in the served one. It returns an error if the value is encrypted, or if the
// version is unknown.
func decodeStored(value []byte) (object.Object, error) {
	if bytes.HasPrefix(value, []byte("k8s:enc:")) {
		return nil, errors.New("it is encrypted at rest")
	}
	if bytes.HasPrefix(value, []byte("k8s\x00")) {
		var as schema.GVK
		obj, kind, err := codec.DecodeProto(value, func(kind schema.GVK) (t *schema.Type) {
			as, t = served(kind)
			return t
		})
		switch {
		case errors.Is(err, codec.ErrNoKind):
			err = fmt.Errorf("no API server serves %s in version %s", kind.Kind, kind.GV())
		case err == nil:
			obj["apiVersion"] = as.GV()
		}
		return obj, err
	}
	obj, err := object.Parse(value)
	if err == nil && (obj.Kind() == "" || obj.APIVersion() == "") {
		err = errors.New(noKind)
	}
	if err == nil && obj.Kind() == "CustomResourceDefinition" && obj.APIVersion() == "apiextensions.k8s.io/v1beta1" {
		serveDefinition(obj)
	}
	return obj, err
}

// served returns the kind in which the newest minor version serves objects of a stored kind, and its type. The two kinds have the same
// fields. If no version knows the kind, the type is nil.
func served(kind schema.GVK) (schema.GVK, *schema.Type) {
	for _, minor := range slices.Backward(schema.Minors()) {
		set, err := schema.Load(minor)
		if err != nil {
			continue
		}
		if t := set.Kind(kind); t != nil {
			return kind, t
		}
		for is, was := range set.Release().Stored { // order does not matter: it is one at most
			if was == kind {
				return is, set.Kind(is)
			}
		}
	}
	return kind, nil
}

// serveDefinition converts a CustomResourceDefinition from v1beta1, in which API servers store it, to v1. It copies the fields that
// v1beta1 may have once for all versions, such as the schema, to each version.
func serveDefinition(crd object.Object) {
	spec := crd.At("spec")
	crd["apiVersion"] = "apiextensions.k8s.io/v1"
	columns := func(of object.Object) {
		for _, c := range of.Objects("additionalPrinterColumns") {
			c["jsonPath"] = c["JSONPath"]
			delete(c, "JSONPath")
		}
	}
	columns(spec)
	for _, v := range spec.Objects("versions") {
		columns(v)
		for from, to := range map[string]string{"validation": "schema", "subresources": "subresources", "additionalPrinterColumns": "additionalPrinterColumns",
			"selectableFields": "selectableFields"} { // order does not matter: each is another field
			if common, ok := spec[from]; ok {
				v[to] = object.Copy(common)
			}
		}
	}
	for _, name := range []string{"version", "validation", "subresources", "additionalPrinterColumns", "selectableFields"} {
		delete(spec, name)
	}
	if spec.Has("preserveUnknownFields") && !spec.True("preserveUnknownFields") {
		delete(spec, "preserveUnknownFields")
	}
	for from, to := range map[string]string{"webhookClientConfig": "clientConfig", "conversionReviewVersions": "conversionReviewVersions"} { // order does not matter
		if value, ok := spec.Get("conversion", from); ok {
			spec.Set(value, "conversion", "webhook", to)
			spec.Remove("conversion", from)
		}
	}
}
