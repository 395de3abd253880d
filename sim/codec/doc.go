// Package codec decodes the bodies of requests into objects and encodes objects into the bodies of responses.
//
//	body ── Decoder.Object ──┬─ JSON      DecodeJSON ───┐
//	                         ├─ YAML      DecodeYAML ───┼─▶ object.Object, strict errors, or a *status.Status
//	                         └─ protobuf  DecodeProto ──┘
//
//	object.Object ── Append ─▶ canonical JSON ─┬─ Body: JSON, indented JSON, YAML
//	                                           ├─ Proto: protobuf
//	                                           ├─ List, Frame: lists and watch events of such bytes
//	                                           └─ Table, AppendPartial: other representations, chosen by Negotiate
//
// All encoding and decoding is controlled by schema.Type: the order of fields, which empty fields are encoded, the form of values
// and the error messages are those of the Go structs behind the API (API concepts, "Resource representation"). One decoder decodes
// every kind in a single pass and without reflection:
//
//	scanner   the grammar of JSON; nesting is limited
//	decoder   a value of a Type, merged into that of an earlier field of the same name; records the first wrong type,
//	          the error of a value with its own UnmarshalJSON (time, quantity), and unknown and repeated fields
//	path      the path of the current value, for error messages
package codec
