// Package json reads JSON texts (RFC 8259): token by token, as values, or as parts of a text that stays as it is.
//
//	{ "spec": { "replicas": 3 } }
//	│ │       │
//	│ │       ╰ Value   reads any value: nil, bool, string, int64, float64, []any, map[string]any
//	│ ╰ Key             reads a key and its colon
//	╰ Enter … More      go through the members of an object or the elements of an array
//
// A Scanner is a text and a place in it. It finds every mistake of a text, but leaves it to encoding/json to describe the first
// one, because those are the words of the real server: SyntaxError.
//
// Parts of a text that was printed or checked before are found without a second check: Members, Find and End.
//
//	{"kind":"Pod","metadata":{"name":"a","uid":"1"},"spec":{}}
//	                                 │  ╰ End(text, start)
//	                                 ╰ start, of Find(text, "metadata", "name")
package json
