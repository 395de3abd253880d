package codec

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubesim/kubesim/sim/object"
)

// AppendFrame prints one event of a watch as JSON; obj is the printed object.
//
//	{"type":"ADDED","object":{…}}⏎
func AppendFrame(dst []byte, eventType string, obj []byte) []byte {
	dst = object.AppendString(append(dst, `{"type":`...), eventType)
	dst = append(append(dst, `,"object":`...), obj...)
	return append(dst, '}', '\n')
}

// AppendProtoFrame prints one event of a watch as protobuf; envelope is the result of AppendEnvelope for the object.
//
//	length (4 bytes, big-endian) │ WatchEvent { type = 1, object = 2 RawExtension { raw = 1: envelope } }
func AppendProtoFrame(dst []byte, eventType string, envelope []byte) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendString(dst, eventType)
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(1+protowire.SizeBytes(len(envelope))))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendBytes(dst, envelope)
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
