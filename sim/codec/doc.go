// Package codec turns the bytes of requests into objects and objects into the bytes of answers.
//
//	body ── Decoder.Object ──┬─ JSON      DecodeJSON ───┐
//	                         ├─ YAML      DecodeYAML ───┼─▶ object.Object, strict errors, or a *status.Status
//	                         └─ protobuf  DecodeProto ──┘
//
//	object.Object ── Append ─▶ canonical JSON ─┬─ Body: JSON, indented JSON, YAML
//	                                           ├─ Proto: protobuf
//	                                           ├─ List, AppendFrame: lists and watch events of such bytes
//	                                           └─ Table, AppendPartial: other views, as Negotiate found out
//
// Everything is driven by schema.Type: the order of fields, which empty fields are printed, the form of values and the texts of
// errors are those of the Go structs behind the API (API concepts, "Resource representation"). One decoder reads every kind in a
// single pass and without reflection:
//
//	scanner   the grammar of JSON; nesting is limited
//	decoder   a value of a Type, merged into that of an earlier field of the same name; remembers the first wrong type,
//	          the error of a value that reads itself (time, quantity), unknown and repeated fields
//	path      the way to the current value, for the texts of both kinds of errors
package codec
