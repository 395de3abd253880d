package patch

import (
	"bytes"
	"encoding/json"

	"github.com/kubesim/kubesim/sim/object"
)

// split calls yield with each member of an object, or with each element of an array, which have no key. text is JSON: a
// document that was printed, or a patch that was found to be well-formed.
func split(text []byte, yield func(key string, raw json.RawMessage)) {
	walk(text, space(text, 0), func(key string, at int) int {
		after := end(text, at)
		yield(key, text[at:after:after])
		return after
	})
}

// walk is split for an object or array that begins at i. read is given where a value begins, and returns where it ends, as walk
// does.
func walk(text []byte, i int, read func(key string, at int) (after int)) (after int) {
	inObject := text[i] == '{'
	i = space(text, i+1)
	for text[i] != '}' && text[i] != ']' {
		key := ""
		if inObject {
			j := end(text, i)
			key = keyOf(text[i:j])
			i = space(text, space(text, j)+1) // behind the colon
		}
		if i = space(text, read(key, i)); text[i] == ',' {
			i = space(text, i+1)
		}
	}
	return i + 1
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
