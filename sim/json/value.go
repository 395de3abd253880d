package json

import (
	"math"
	"strconv"
	"strings"
)

// Value reads a value of any type. The last of repeated keys wins, and a number that is too large becomes the largest float64.
// Repeats and Huge report these cases.
func (s *Scanner) Value() any {
	switch s.Next() {
	case '{':
		return s.object()
	case '[':
		list := []any{}
		for more := s.Enter(']'); more; more = s.More(']') {
			list = append(list, s.Value())
		}
		return list
	case '"':
		return s.Keep(s.String())
	case 't':
		s.Literal("true")
		return true
	case 'f':
		s.Literal("false")
		return false
	case 'n':
		s.Literal("null")
		return nil
	}
	text := s.Number()
	v, ok := Number(text)
	if !ok && !s.Bad && s.Huge == "" {
		s.Huge = text
	}
	return v
}

func (s *Scanner) object() map[string]any {
	m := map[string]any{}
	n := 0
	for more := s.Enter('}'); more; more = s.More('}') {
		key := s.Keep(s.Key())
		m[key] = s.Value()
		n++
	}
	s.Repeats = s.Repeats || len(m) < n
	return m
}

// Keep returns a string of the text, or a copy if Own is set.
func (s *Scanner) Keep(text string) string {
	if s.Own {
		return strings.Clone(text)
	}
	return text
}

// Number parses a number. The result is an int64 if it has neither fraction nor exponent and fits, and a float64 otherwise. If it
// does not fit a float64, ok is false and v is the largest float64 with its sign.
func Number(text string) (v any, ok bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.Copysign(math.MaxFloat64, f), false
	}
	return f, true
}

// Repeated returns the paths of repeated keys in the order in which they occur, such as "spec.ports[0].name". path is the path of
// the text itself.
func Repeated(text, path string) (paths []string) {
	s := repeats{Scanner: Scanner{Text: text}}
	s.value(path)
	return s.paths
}

type repeats struct {
	Scanner
	paths []string
}

func (r *repeats) value(path string) {
	switch r.Next() {
	case '{':
		seen := map[string]bool{}
		for more := r.Enter('}'); more; more = r.More('}') {
			key := r.Key()
			at := key
			if path != "" {
				at = path + "." + key
			}
			if seen[key] {
				r.paths = append(r.paths, at)
			}
			seen[key] = true
			r.value(at)
		}
	case '[':
		i := 0
		for more := r.Enter(']'); more; more = r.More(']') {
			r.value(path + "[" + strconv.Itoa(i) + "]")
			i++
		}
	default:
		r.Skip()
	}
}
