package json

import "iter"

// Text is a JSON text.
type Text interface{ ~string | ~[]byte }

// Member is a member of an object, or an element of an array, which has no key.
type Member[T Text] struct {
	Key   T // with its quotes
	Value T
	At    int // where Value begins in the text
}

// Name returns the key.
func (m Member[T]) Name() string { return unquote(string(m.Key[1 : len(m.Key)-1])) }

// Members goes through the object or array that a text is. The text was checked or printed before; the walk ends where it is not
// JSON.
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

// Find returns where the value at a path of keys begins in a text that Members can go through, or -1. The keys are such as are
// printed without escapes.
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

// End returns where the value that begins at text[i] ends. The text was checked or printed before; if it is not JSON, the result is
// some place in it that is not before i.
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

// space returns where the white space at i ends.
func space[T Text](text T, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}
