package codec

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/schema"
)

// appendAbsent prints a field that the object does not have.
func appendAbsent(dst []byte, f *schema.Field) []byte {
	switch t := f.Type; {
	case f.Pointer, t.Kind == schema.List, t.Kind == schema.Map, t.Kind == schema.Bytes:
		return dst
	default:
		return appendProtoZero(dst, protowire.Number(f.Proto), t)
	}
}

// zero prints the message of an empty object.
func (m *protoMessage) zero(dst []byte) []byte {
	for i := range m.fields {
		f := &m.fields[i]
		if f.inner == nil {
			dst = append(dst, f.absent...)
			continue
		}
		var at int
		dst, at = openMessage(dst, f.number)
		dst = closeMessage(f.inner.zero(dst), at)
	}
	return dst
}

// appendProtoZero prints a number and the zero value.
func appendProtoZero(dst []byte, number protowire.Number, t *schema.Type) []byte {
	switch t.Kind {
	case schema.String:
		return appendProtoString(dst, number, "")
	case schema.Bool, schema.Int:
		return appendProtoInt(dst, number, 0)
	case schema.Float:
		return protowire.AppendFixed64(protowire.AppendTag(dst, number, protowire.Fixed64Type), 0)
	}
	dst, at := openMessage(dst, number)
	switch {
	case t.Kind == schema.Struct:
		dst = messageOf(t).zero(dst)
	case t.Kind == schema.Duration, t.GoType == schemaOrBool:
		dst = appendProtoInt(dst, 1, 0)
	case t.Kind == schema.Quantity:
		dst = appendProtoString(dst, 1, "0")
	case t.Kind == schema.IntOrString:
		dst = appendIntOrString(dst, false, 0, "")
	}
	return closeMessage(dst, at)
}

// appendTimestamp prints { seconds = 1, nanos = 2 }; the zero time is empty.
func appendTimestamp(dst []byte, s, layout string) []byte {
	t, err := time.Parse(layout, s)
	if err != nil || t.IsZero() {
		return dst
	}
	dst = appendProtoInt(dst, 1, t.Unix())
	return appendProtoInt(dst, 2, int64(t.Nanosecond()))
}

// appendIntOrString prints { type = 1, intVal = 2, strVal = 3 }.
func appendIntOrString(dst []byte, isString bool, n int64, s string) []byte {
	dst = appendProtoInt(dst, 1, int64(protowire.EncodeBool(isString)))
	return appendProtoString(appendProtoInt(dst, 2, n), 3, s)
}

func appendProtoString(dst []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, number, protowire.BytesType), s)
}

func appendProtoInt(dst []byte, number protowire.Number, n int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.VarintType), uint64(n))
}

// openMessage begins a message whose length is not known yet; closeMessage, with the same index, ends it.
func openMessage(dst []byte, number protowire.Number) ([]byte, int) {
	dst = append(protowire.AppendTag(dst, number, protowire.BytesType), 0)
	return dst, len(dst)
}

// closeMessage writes the length in front of the message and moves it when that takes more than one byte.
func closeMessage(dst []byte, at int) []byte {
	length := len(dst) - at
	if length < 0x80 {
		dst[at-1] = byte(length)
		return dst
	}
	more := protowire.SizeVarint(uint64(length)) - 1
	dst = append(dst, make([]byte, more)...)
	copy(dst[at+more:], dst[at:at+length])
	protowire.AppendVarint(dst[:at-1], uint64(length))
	return dst
}
