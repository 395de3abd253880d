package object

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON returns the compact JSON of a value with sorted keys, which is the format of custom resources.
func JSON(v any) []byte { return AppendJSON(nil, v) }

// AppendJSON is like JSON, but appends to b.
func AppendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return AppendString(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		return AppendFloat(b, v)
	case Raw:
		return appendCompact(b, string(v))
	case Object:
		return AppendJSON(b, map[string]any(v))
	case map[string]any:
		return appendMap(b, v)
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJSON(b, x)
		}
		return append(b, ']')
	}
	panic("object: not a JSON value")
}

func appendMap(b []byte, m map[string]any) []byte {
	var room [16]string // the keys of most objects fit on the stack
	keys := appendSorted(room[:0], m)
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, k)
		b = append(b, ':')
		b = AppendJSON(b, m[k])
	}
	return append(b, '}')
}

// SortedKeys returns the keys of m in byte order.
func SortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	return appendSorted(make([]string, 0, 8), m) // the caller's stack
}

func appendSorted[V any](keys []string, m map[string]V) []string {
	keys = slices.Grow(keys, len(m))
	for k := range m { // sorted below
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// AppendFloat appends a number in the format of encoding/json.
func AppendFloat(b []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	data, err := json.Marshal(f)
	if err != nil { // JSON cannot contain NaN and infinities
		panic("object: " + err.Error())
	}
	return append(b, data...)
}

const hex = "0123456789abcdef"

// plain contains the bytes that are never escaped in a JSON string.
var plain = func() (is [256]bool) {
	for c := range utf8.RuneSelf {
		is[c] = c >= 0x20 && !strings.ContainsRune(`"\<>&`, rune(c))
	}
	return is
}()

// AppendMember appends a string member to a JSON object that already has a member. As with omitempty, it omits an empty string.
func AppendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return AppendString(b, value)
}

// AppendCount is like AppendMember, but for a number. It omits 0.
func AppendCount(b []byte, name string, n uint64) []byte {
	if n == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendUint(b, n, 10)
}

// AppendString appends a string in the format of encoding/json: it escapes HTML characters, U+2028, U+2029 and control characters,
// and replaces invalid UTF-8 with U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		n := 0
		for n < len(s) && plain[s[n]] {
			n++
		}
		if b = append(b, s[:n]...); n == len(s) {
			return append(b, '"')
		}
		s = s[n:]
		b, n = appendSpecial(b, s)
		s = s[n:]
	}
}

// appendSpecial appends the first character of s, which is not plain, and returns its length in bytes.
func appendSpecial(b []byte, s string) ([]byte, int) {
	if s[0] < utf8.RuneSelf {
		return appendEscaped(b, s[0]), 1
	}
	switch r, size := utf8.DecodeRuneInString(s); {
	case r == utf8.RuneError && size == 1:
		return append(b, `\ufffd`...), size
	case r == '\u2028' || r == '\u2029':
		return append(append(b, `\u202`...), hex[r&0xF]), size
	default:
		return append(b, s[:size]...), size
	}
}

func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
}
