package celgo

import (
	"regexp"
	"slices"
	"strings"
)

// reserved are the words of the CEL grammar that cannot name a field.
var reserved = strings.Fields("true false null in as break const continue else for function if import let loop package namespace return var void while")

var (
	escaped   = regexp.MustCompile(`__|[-./]`)
	unescaped = regexp.MustCompile(`__[^_]+__`)
	plain     = regexp.MustCompile(`^[a-zA-Z_./-][a-zA-Z0-9_./-]*$`)
)

var escapes = map[string]string{"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}

var unescapes = map[string]string{"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}

// escape returns a property's name as an expression has to write it: foo__dash__bar. Names that no expression can write
// are not ok.
func escape(name string) (string, bool) {
	if !plain.MatchString(name) {
		return "", false
	}
	if slices.Contains(reserved, name) {
		return "__" + name + "__", true
	}
	return escaped.ReplaceAllStringFunc(name, func(s string) string { return escapes[s] }), true
}

// unescape is the opposite of escape. It is not ok for sequences that escape does not make.
func unescape(name string) (string, bool) {
	ok := true
	out := unescaped.ReplaceAllStringFunc(name, func(s string) string {
		if c, known := unescapes[s]; known {
			return c
		}
		word := s[2 : len(s)-2]
		ok = ok && len(s) == len(name) && slices.Contains(reserved, word)
		return word
	})
	return out, ok
}
