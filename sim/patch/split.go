package patch

import (
	"bytes"
	"encoding/json"

	"github.com/kubesim/kubesim/sim/object"
)

// split calls yield with each member of an object, or with each element of an array, which have no key. text is JSON: a
// document that was printed, or a patch that was found to be well-formed.
func split(text []byte, yield func(key string, raw json.RawMessage)) {
	inObject := first(text) == '{'
	i := space(text, space(text, 0)+1)
	for text[i] != '}' && text[i] != ']' {
		key := ""
		if inObject {
			j := end(text, i)
			key = keyOf(text[i:j])
			i = space(text, space(text, j)+1) // behind the colon
		}
		j := end(text, i)
		yield(key, text[i:j:j])
		if i = space(text, j); text[i] == ',' {
			i = space(text, i+1)
		}
	}
}

// keyOf reads a string.
func keyOf(quoted []byte) string {
	plain := quoted[1 : len(quoted)-1]
	for _, c := range plain {
		if c == '\\' || c >= 0x80 {
			v, _ := object.ParseValue(quoted)
			s, _ := v.(string)
			return s
		}
	}
	return string(plain)
}

// space returns where the white space at i ends.
func space(text []byte, i int) int {
	for i < len(text) && bytes.IndexByte([]byte(" \t\r\n"), text[i]) >= 0 {
		i++
	}
	return i
}

// end returns where the value that begins at i ends.
func end(text []byte, i int) int {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}
