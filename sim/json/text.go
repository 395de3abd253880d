package json

import "iter"

// Text is JSON as a string or as bytes.
type Text interface{ ~string | ~[]byte }

// Member is a member of an object, or an element of an array. An element has no key.
type Member[T Text] struct {
	Key   T // including the quotes
	Value T
	At    int // position of Value in the text
}

// Name returns the key.
func (m Member[T]) Name() string { return unquote(string(m.Key[1 : len(m.Key)-1])) }

// Members iterates over the members of an object or the elements of an array. The text should be valid JSON; iteration stops where
// it is not.
func Members[T Text](text T) iter.Seq[Member[T]] { return membersFrom(text, 0) }

func membersFrom[T Text](text T, i int) iter.Seq[Member[T]] {
	return func(yield func(Member[T]) bool) {
		i = space(text, i)
		inObject := i < len(text) && text[i] == '{'
		for i++; ; i++ {
			var m Member[T]
			i = space(text, i)
			if inObject && i < len(text) && text[i] == '"' {
				end := End(text, i)
				m.Key = text[i:end]
				if i = space(text, end); i >= len(text) || text[i] != ':' {
					return
				}
				i = space(text, i+1)
			}
			end := End(text, i)
			if end <= i {
				return
			}
			m.Value, m.At = text[i:end], i
			if !yield(m) {
				return
			}
			if i = space(text, end); i >= len(text) || text[i] != ',' {
				return
			}
		}
	}
}

// Find returns the position of the value at a path of keys, or -1 if there is none. It does not validate the text, like Members. The
// keys must not contain characters that JSON escapes.
func Find[T Text](text T, path ...string) int {
	at := 0
next:
	for _, key := range path {
		for m := range membersFrom(text, at) {
			if len(m.Key) == len(key)+2 && string(m.Key[1:len(m.Key)-1]) == key {
				at = m.At
				continue next
			}
		}
		return -1
	}
	return at
}

// End returns the position after the value that begins at text[i]. The text should be valid JSON; if it is not, the result is some
// position that is not before i.
func End[T Text](text T, i int) int {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return min(i+1, len(text))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // the end of a number or a word
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// space returns the position after the white space at i.
func space[T Text](text T, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}
