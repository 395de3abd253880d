package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	timeForm   = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	uuidForm   = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	wholeTime  = regexp.MustCompile(`^` + timeForm.String() + `$`)
	wholeUUID  = regexp.MustCompile(`^` + uuidForm.String() + `$`)
	wholeIP    = regexp.MustCompile(`^\d+\.\d+\.\d+\.\d+$`)
	wholeIPv6  = regexp.MustCompile(`^[0-9a-f:]*:[0-9a-f:]*$`)
	ageCell    = regexp.MustCompile(`(?m)^  - ([0-9]+[smhdy]){1,2}$`)
	tooLarge   = regexp.MustCompile(`Too large resource version: \S+, current: \S+`)
	tooOld     = regexp.MustCompile(`too old resource version: \S+ \(\S+\)`)
	rvInText   = regexp.MustCompile(`resourceVersion"?: ?"(\d+)"`)
	ageColumns = []string{"Age", "Created At", "Last Seen", "First Seen", "Last Schedule", "Duration"}
)

// labels maps values to labels numbered by first appearance.
type labels struct {
	of    map[string]string
	order []string // values in the order of their first appearance
}

// normaliser replaces values that differ from run to run with labels. A case uses a single normaliser, so that a value
// has the same label in all steps.
//
//	"uid": "6f…"   -> <uid:1>        "resourceVersion": "4711" -> <rv:2>, or <listrv:1> for lists
//	a time         -> <time>         the namespace             -> <ns>
//	"gen-x7k2p"    -> <name:gen-*:1> "continue": "eyJ…"        -> <continue:1>
type normaliser struct {
	ns   string
	kind map[string]*labels
	ages []int // the columns of a Table that contain ages; a watch sends the column definitions only once
}

func newNormaliser(ns string) *normaliser {
	return &normaliser{ns: ns, kind: map[string]*labels{}}
}

func (n *normaliser) labels(kind string) *labels {
	l := n.kind[kind]
	if l == nil {
		l = &labels{of: map[string]string{}}
		n.kind[kind] = l
	}
	return l
}

// label returns the label of v. If v is new, it gets the next number.
func (n *normaliser) label(kind, v string) string {
	l := n.labels(kind)
	return l.add(v, fmt.Sprintf("<%s:%d>", kind, len(l.order)+1))
}

func (l *labels) add(v, label string) string {
	if old, ok := l.of[v]; ok {
		return old
	}
	l.of[v] = label
	l.order = append(l.order, v)
	return label
}

// text normalises free text: messages, headers, and bodies that are not JSON.
func (n *normaliser) text(s string) string {
	if n.ns != "" {
		s = strings.ReplaceAll(s, n.ns, "<ns>")
	}
	s = uuidForm.ReplaceAllStringFunc(s, func(m string) string { return n.label("uid", m) })
	s = timeForm.ReplaceAllLiteralString(s, "<time>")
	for _, kind := range []string{"rv", "listrv", "name", "continue"} {
		l := n.labels(kind)
		for _, v := range l.order {
			if kind == "rv" || kind == "listrv" {
				s = replaceWord(s, v, l.of[v])
			} else {
				s = strings.ReplaceAll(s, v, l.of[v])
			}
		}
	}
	if strings.HasPrefix(s, "apiVersion: meta.k8s.io/v1\ncolumnDefinitions:") { // a Table in YAML
		s = ageCell.ReplaceAllLiteralString(s, "  - <age>")
	}
	s = tooLarge.ReplaceAllLiteralString(s, "Too large resource version: <n>, current: <n>")
	return tooOld.ReplaceAllLiteralString(s, "too old resource version: <n> (<n>)")
}

// replaceWord replaces word unless it is next to a letter, digit, '_', '.' or '-'.
func replaceWord(s, word, by string) string {
	var b strings.Builder
	done := 0 // s[:done] has been written to b
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			break
		}
		i += from
		end := i + len(word)
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[end:])
		if i > 0 && wordRune(before) || end < len(s) && wordRune(after) {
			from = i + 1
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(by)
		done, from = end, end
	}
	return b.String() + s[done:]
}

func wordRune(r rune) bool {
	return r == '_' || r == '.' || r == '-' || unicode.IsLetter(r) || unicode.IsNumber(r)
}

// value normalises a JSON value. key is the name of its member; kind is "list" in the metadata of a list.
func (n *normaliser) value(v any, key, kind string) any {
	switch v := v.(type) {
	case *Object:
		return n.object(v, kind)
	case *List:
		return v.each(func(x any) any { return n.value(x, key, kind) })
	case string:
		return n.string(v, key, kind)
	}
	return v
}

func (n *normaliser) object(v *Object, kind string) any {
	_, hasItems := v.Get("items").(*List)
	isList := hasItems || v.Has("columnDefinitions")
	if v.Has("columnDefinitions") {
		n.table(v)
	}
	if name, prefix, drawn := generatedName(v); drawn {
		l := n.labels("name")
		l.add(name, fmt.Sprintf("<name:%s*:%d>", prefix, len(l.order)+1))
	}
	out := newObject()
	for _, k := range v.Keys {
		below := kind
		if k == "metadata" {
			below = "object"
			if isList {
				below = "list"
			}
		}
		x := n.value(v.Members[k], k, below)
		if n.ns != "" && strings.Contains(k, n.ns) || uuidForm.MatchString(k) {
			k = n.text(k)
		}
		out.Set(k, x)
	}
	return out
}

// table replaces the ages in the rows of a Table.
func (n *normaliser) table(v *Object) {
	if columns := itemsAt(v, "columnDefinitions"); len(columns) > 0 {
		n.ages = nil
		for i, c := range columns {
			if slices.Contains(ageColumns, textAt(c, "name")) {
				n.ages = append(n.ages, i)
			}
		}
	}
	for _, row := range itemsAt(v, "rows") {
		cells := itemsAt(row, "cells")
		for _, i := range n.ages {
			if i < len(cells) {
				cells[i] = "<age>"
			}
		}
	}
}

// generatedName returns the name of an object, its generateName prefix, and whether the name is the prefix with a
// generated suffix.
func generatedName(v *Object) (name, prefix string, drawn bool) {
	name, prefix = textAt(v, "metadata", "name"), textAt(v, "metadata", "generateName")
	return name, prefix, prefix != "" && strings.HasPrefix(name, prefix) && utf8.RuneCountInString(name) == utf8.RuneCountInString(prefix)+5
}

func (n *normaliser) string(v, key, kind string) string {
	switch {
	case v == masked || v == "":
		return v
	case wholeUUID.MatchString(v):
		return n.label("uid", v)
	case key == "uid":
		return n.text(v)
	case key == "resourceVersion" && v != "0" && kind == "list":
		return n.label("listrv", v)
	case key == "resourceVersion" && v != "0":
		return n.label("rv", v)
	case key == "continue":
		return n.label("continue", v)
	case (key == "clusterIP" || key == "clusterIPs") && wholeIP.MatchString(v):
		return "<ip>"
	case (key == "clusterIP" || key == "clusterIPs") && wholeIPv6.MatchString(v):
		return "<ip6>"
	case wholeTime.MatchString(v):
		return "<time>"
	}
	return n.text(v)
}

// binary returns the type in the envelope of a protobuf response. The rest is not compared.
func binary(data []byte) string {
	if len(data) < 6 || string(data[:5]) != "k8s\x00\x0a" {
		return "<binary>"
	}
	head := data[6:]
	head = head[:min(len(head), int(data[5]))]
	apiVersion, head := envelopeField(head, 0x0a, "./-")
	kind, _ := envelopeField(head, 0x12, "")
	return fmt.Sprintf("<protobuf %s %s>", apiVersion, kind)
}

// envelopeField reads a tag byte and a length byte, and returns the word characters (or characters in extra) that
// follow, and the rest.
func envelopeField(data []byte, tag byte, extra string) (string, []byte) {
	if len(data) < 2 || data[0] != tag {
		return "", data
	}
	data = data[2:]
	n := 0
	for n < len(data) && (isWord(data[n]) || strings.IndexByte(extra, data[n]) >= 0) {
		n++
	}
	return string(data[:n]), data[n:]
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
