package printer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// KYAML returns an object as KYAML (KEP-5295): YAML in which strings are always quoted, and which does not depend on indentation. The
// format is that of sigs.k8s.io/yaml/kyaml.
func KYAML(compact []byte) string {
	k := &kyaml{in: json.NewDecoder(bytes.NewReader(compact))}
	k.in.UseNumber()
	k.out.WriteString("---\n")
	k.value(k.next(), 0)
	k.out.WriteString("\n")
	return k.out.String()
}

// kyaml converts JSON, which must be valid, to KYAML.
type kyaml struct {
	in  *json.Decoder
	out strings.Builder
}

// next returns the next token of the JSON.
func (k *kyaml) next() json.Token {
	t, err := k.in.Token()
	if err != nil {
		panic("printer: an object is not valid JSON: " + err.Error())
	}
	return t
}

func (k *kyaml) line(indent int) {
	k.out.WriteString("\n" + strings.Repeat("  ", indent))
}

// value writes the value that begins with a token.
func (k *kyaml) value(t json.Token, indent int) {
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			k.mapping(indent)
		} else {
			k.sequence(indent)
		}
	case string:
		k.out.WriteString(quoted(t, indent+1))
	case nil:
		k.out.WriteString("null")
	default:
		fmt.Fprint(&k.out, t)
	}
}

func (k *kyaml) mapping(indent int) {
	k.out.WriteString("{")
	has := k.in.More()
	for k.in.More() {
		k.line(indent + 1)
		key := k.next().(string) // a key is always a string
		if isPlainKey(key) {
			k.out.WriteString(key)
		} else {
			k.out.WriteString(quotedShort(key))
		}
		k.out.WriteString(": ")
		k.value(k.next(), indent+1)
		k.out.WriteString(",")
	}
	k.next()
	if has {
		k.line(indent)
	}
	k.out.WriteString("}")
}

// sequence writes a list. The brackets of a list of lists and maps are on the lines of its elements; other lists have an element a
// line.
func (k *kyaml) sequence(indent int) {
	var all []json.RawMessage
	together := true
	for k.in.More() {
		var value json.RawMessage
		if err := k.in.Decode(&value); err != nil {
			panic("printer: an object is not valid JSON: " + err.Error())
		}
		all, together = append(all, value), together && (value[0] == '{' || value[0] == '[')
	}
	k.next()
	k.out.WriteString("[")
	for i, value := range all {
		element := &kyaml{in: json.NewDecoder(bytes.NewReader(value))}
		element.in.UseNumber()
		if together {
			if i > 0 {
				k.out.WriteString(", ")
			}
			element.value(element.next(), indent)
			k.out.WriteString(element.out.String())
			continue
		}
		element.value(element.next(), indent+1)
		k.line(indent + 1)
		k.out.WriteString(element.out.String() + ",")
	}
	if len(all) > 0 && !together {
		k.line(indent)
	}
	k.out.WriteString("]")
}

// sexagesimal matches numbers such as 11:00, which are integers in YAML 1.1.
var sexagesimal = regexp.MustCompile(`^[+-]?[1-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`)

// isPlainKey reports whether a key needs no quotes: YAML reads it as a string, and it consists of letters, digits and _, and inside also
// of -, . and /.
func isPlainKey(key string) bool {
	runes := []rune(key)
	for i, r := range runes {
		inside := i > 0 && i < len(runes)-1
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && (!inside || !strings.ContainsRune("-./", r)) {
			return false
		}
	}
	switch strings.ToLower(key) {
	case "", "null", "true", "y", "yes", "on", "t", "false", "n", "no", "off", "f":
		return false
	}
	digits := strings.ReplaceAll(key, "_", "")
	_, asInt := strconv.ParseInt(digits, 0, 64)
	_, asFloat := strconv.ParseFloat(digits, 64)
	_, asDate := time.Parse("2006-1-2", key)
	return asInt != nil && asFloat != nil && asDate != nil && !sexagesimal.MatchString(key)
}

// quotedShort returns a string in quotes on one line.
func quotedShort(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		default:
			escape(&b, r)
		}
	}
	return b.String() + `"`
}

// quoted returns a string in quotes. If it has several lines, each is on its own line.
func quoted(s string, indent int) string {
	const fold = "\\\n"
	margin := strings.Repeat("  ", indent)
	var b strings.Builder
	b.WriteByte('"')
	several := strings.Contains(s, "\n")
	if several {
		b.WriteString(fold)
	}
	begins := several
	for _, r := range s {
		if begins {
			b.WriteString(margin)
			if unicode.IsSpace(r) && r != '\n' {
				b.WriteByte('\\') // the spaces at the beginning of a line belong to the string
			} else {
				b.WriteByte(' ')
			}
		}
		switch begins = r == '\n'; r {
		case '\n':
			b.WriteString(`\n` + fold)
		case '\t':
			b.WriteByte('\t')
		default:
			escape(&b, r)
		}
	}
	if several {
		if !begins {
			b.WriteString(fold)
		}
		b.WriteString(margin)
	}
	return b.String() + `"`
}

// escapes are the escape sequences of YAML for some runes that cannot be printed.
var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\a': `\a`, '\b': `\b`, '\f': `\f`, '\r': `\r`, '\v': `\v`, 0: `\0`, 0x1b: `\e`, 0x85: `\N`,
	0xa0: `\_`, 0x2028: `\L`, 0x2029: `\P`}

// escape writes a rune of a quoted string.
func escape(b *strings.Builder, r rune) {
	text, special := escapes[r]
	switch {
	case special:
		b.WriteString(text)
	case unicode.IsPrint(r):
		b.WriteRune(r)
	case r < utf8.RuneSelf:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}
