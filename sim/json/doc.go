// Package json scans JSON (RFC 8259): token by token, as values, or by position in text that is known to be valid.
//
//	{ "spec": { "replicas": 3 } }
//	│ │       │
//	│ │       ╰ Value   parses any value: nil, bool, string, int64, float64, []any, map[string]any
//	│ ╰ Key             parses a key and its colon
//	╰ Enter … More      iterate over the members of an object or the elements of an array
//
// A Scanner consists of text and a position in it. It detects every syntax error, but leaves the description of the first one to
// encoding/json (SyntaxError), because the real server uses its messages.
//
// Members, Find and End locate parts of valid text, which was encoded or checked before, without checking it again.
//
//	{"kind":"Pod","metadata":{"name":"a","uid":"1"},"spec":{}}
//	                                 │  ╰ End(text, start)
//	                                 ╰ start, of Find(text, "metadata", "name")
package json
