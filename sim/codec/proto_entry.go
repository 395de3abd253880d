package codec

import (
	"errors"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/schema"
)

// entry adds an entry to a map; old is the existing map, if any. b begins with the length of the entry and extends to the end of
// the message around it. Kubernetes' generated code is laxer with entries than with other messages: it ignores the wire types of
// key and value, and both may reach beyond the entry. A missing value is the empty one, of bytes as well.
func (r *protoReader) entry(f *protoField, b []byte, old any, obj map[string]any, depth int) error {
	length, n := protowire.ConsumeVarint(b) // it was read before
	b = b[n:]
	elem := f.field.Type.Elem
	key, value := "", emptyValue(elem)
	for at := 0; at < int(length); {
		tag, n, err := looseVarint(b[at:])
		if err != nil {
			return err
		}
		at += n
		number := int32(tag >> 3)
		if number == 1 || number == 2 {
			n, err = delimited(b[at:])
		} else if n, err = wireSize(b[at:], protowire.Type(tag&7)); err == nil && at+n > int(length) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		switch content, _ := protowire.ConsumeBytes(b[at : at+n]); number {
		case 1:
			key = r.string(content)
		case 2: // of no map of the API a number
			if value, err = r.value(elem, protoValue{content: content}, nil, depth); err != nil {
				return err
			}
		}
		at += n
	}
	m, _ := old.(map[string]any)
	if m == nil {
		m = map[string]any{}
		obj[f.field.Name] = m
	}
	m[key] = value
	return nil
}

// emptyValue is the value of an entry that has none: of Go's zero values the ones that are not null.
func emptyValue(t *schema.Type) any {
	switch t.Kind {
	case schema.Bytes:
		return ""
	case schema.List:
		return []any{}
	}
	return Zero(t)
}

// delimited returns the size of a length and of as many bytes, with which b begins.
func delimited(b []byte) (int, error) {
	length, n, err := looseVarint(b)
	switch {
	case err != nil:
		return 0, err
	case int(length) < 0 || n+int(length) < 0:
		return 0, errors.New("proto: negative length found during unmarshaling")
	case n+int(length) > len(b):
		return 0, io.ErrUnexpectedEOF
	}
	return n + int(length), nil
}

// looseVarint reads a varint of at most ten bytes; bits beyond 64 are dropped.
func looseVarint(b []byte) (v uint64, size int, err error) {
	for shift := 0; shift < 64; shift += 7 {
		if size >= len(b) {
			return 0, 0, io.ErrUnexpectedEOF
		}
		v |= uint64(b[size]&0x7f) << shift
		if size++; b[size-1] < 0x80 {
			return v, size, nil
		}
	}
	return 0, 0, errors.New("proto: integer overflow")
}
