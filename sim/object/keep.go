package object

import "unique"

// Keep returns an interned copy of a short string. The strings of a parsed object refer to the JSON from which it was parsed.
// Code that stores such a string for a long time stores a copy, so that the JSON can be freed.
func Keep(text string) string { return unique.Make(text).Value() }

// Kept returns a deep copy of an object. Its strings are copied as by Keep.
func (o Object) Kept() Object {
	if o == nil {
		return nil
	}
	kept, _ := keep(map[string]any(o)).(map[string]any)
	return kept
}

// KeptStrings returns a copy of a map. Its strings are copied as by Keep.
func KeptStrings(m map[string]string) map[string]string {
	kept := make(map[string]string, len(m))
	for key, value := range m { // order does not matter: it builds a map
		kept[Keep(key)] = Keep(value)
	}
	return kept
}

func keep(v any) any {
	switch v := v.(type) {
	case string:
		return Keep(v)
	case map[string]any:
		kept := make(map[string]any, len(v))
		for key, x := range v { // order does not matter: it builds a map
			kept[Keep(key)] = keep(x)
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, x := range v {
			kept[i] = keep(x)
		}
		return kept
	}
	return v
}
