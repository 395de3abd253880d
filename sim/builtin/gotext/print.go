// Package gotext prints and compares objects in the API server's in-memory form. Some messages contain a value with all
// fields of the Go struct, in its order and with their Go names. types.txt describes the structs; make generate writes
// it.
package gotext

import (
	"bytes"
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Type is the name of a struct. Rules use the constants of types.go.
//
//	{"hostPort":80}  ─ JSON(ContainerPort) ─▶  {"Name":"","HostPort":80,"ContainerPort":0,"Protocol":"","HostIP":""}
type Type string

// typeTexts contains types.txt, with a line for each struct of schema.Default, and types-MINOR.txt for some later minor
// versions, with the structs that have changed there.
//
//go:embed types*.txt
var typeTexts embed.FS

// textsSince returns the minor versions that have a separate types file, oldest first: 37 is 1.37.
var textsSince = sync.OnceValue(func() (minors []int) {
	for _, r := range schema.Releases {
		if _, err := typeTexts.Open("types-" + r.Minor + ".txt"); err == nil {
			_, minor, _ := strings.Cut(r.Minor, ".")
			n, _ := strconv.Atoi(minor)
			minors = append(minors, n)
		}
	}
	return minors
})

// In returns the struct as servers of a minor version define it: 37 is 1.37. If the struct is from a separate types file, the
// version is a prefix of its name: 37/PodSpec.
func (t Type) In(minor int) Type {
	for _, since := range slices.Backward(textsSince()) {
		if minor >= since {
			return Type(strconv.Itoa(since)+"/") + t
		}
	}
	return t
}

// goField is one field of a struct.
type goField struct {
	name, json string // "" for an embedded struct, whose fields are printed in its place
	kind       byte   // s, i, b, q, p, j: string, number, bool, quantity, port, JSON as encoded; '.': the struct elem
	elem       Type
	pointer    bool // a missing value is printed as null
	list, dict bool // a list or map of elem; a missing one is printed as null
}

var goTypes = sync.OnceValue(func() map[Type][]goField {
	types := map[Type][]goField{}
	read("types.txt", "", types)
	for _, since := range textsSince() {
		prefix := strconv.Itoa(since)
		read("types.txt", prefix+"/", types)
		read("types-1."+prefix+".txt", prefix+"/", types)
	}
	return types
})

// read adds the structs in a types file to types. It adds the prefix to their names and to the names of changed structs that their
// fields refer to.
func read(file, prefix string, types map[Type][]goField) {
	text, _ := typeTexts.ReadFile(file) // cannot fail: textsSince has listed the file
	for line := range strings.Lines(string(text)) {
		name, list, ok := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		if !ok {
			continue
		}
		var fields []goField
		for text := range strings.SplitSeq(list, ", ") {
			if text == "" {
				continue // the struct has no fields
			}
			f := parseGoField(text)
			if f.elem != "" && f.elem != "ObjectMeta" && f.elem != "LabelSelector" {
				f.elem = Type(prefix) + f.elem
			}
			fields = append(fields, f)
		}
		types[Type(prefix+name)] = fields
	}
}

// parseGoField parses "HostPort i", "Monitors=monitors []s" or "+VolumeSource".
func parseGoField(text string) goField {
	var f goField
	if elem, ok := strings.CutPrefix(text, "+"); ok {
		return goField{kind: '.', elem: Type(elem)}
	}
	name, kind, _ := strings.Cut(text, " ")
	if f.name, f.json, _ = strings.Cut(name, "="); f.json == "" {
		f.json = lowerFirstWord(f.name)
	}
	kind, f.pointer = strings.CutPrefix(kind, "*")
	kind, f.list = strings.CutPrefix(kind, "[]")
	kind, f.dict = strings.CutPrefix(kind, "{}")
	if len(kind) == 1 {
		f.kind = kind[0]
	} else {
		f.kind, f.elem = '.', Type(kind)
	}
	return f
}

// lowerFirstWord returns name with its first word in lower case: HTTPGet becomes httpGet, and Name becomes name.
func lowerFirstWord(name string) string {
	upper := 0
	for upper < len(name) && unicode.IsUpper(rune(name[upper])) {
		upper++
	}
	if upper > 1 && upper < len(name) {
		upper--
	}
	return strings.ToLower(name[:upper]) + name[upper:]
}

// Value returns the Go struct that corresponds to o, for an error message.
func Value(t Type, o object.Object) field.Raw { return field.Raw(JSON(t, o)) }

// Values returns a slice of structs for an error message. A nil slice is printed as null.
func Values(t Type, list []any) field.Raw {
	return field.Raw(appendGoList(nil, goField{kind: '.', elem: t}, list))
}

// JSON returns the Go struct that corresponds to o, as a single line of JSON.
func JSON(t Type, o object.Object) []byte { return appendGoStruct(nil, t, o) }

// Diff returns the unified diff of two structs in the format of the server's messages.
func Diff(t Type, old, obj object.Object) string {
	return unifiedDiff(goLines(t, old), goLines(t, obj))
}

func goLines(t Type, o object.Object) []string {
	var b bytes.Buffer
	if err := json.Indent(&b, JSON(t, o), "", " "); err != nil {
		panic("gotext: a struct printed what is not JSON: " + err.Error())
	}
	return strings.Split(b.String(), "\n")
}

// appendGoStruct appends a struct to b.
func appendGoStruct(b []byte, t Type, o object.Object) []byte {
	b = append(b, '{')
	return closed(appendGoFields(b, t, o))
}

// closed replaces the comma after the last field with a closing brace.
func closed(b []byte) []byte { return append(bytes.TrimSuffix(b, []byte{','}), '}') }

// appendGoFields appends the fields of a struct to b, each followed by a comma.
func appendGoFields(b []byte, t Type, o object.Object) []byte {
	if t == PodSpec {
		o = inMemory(o)
	}
	for _, f := range goTypes()[t] {
		if f.elem == "ObjectMeta" {
			b = appendMeta(b, o.Map("metadata"))
			continue
		}
		if f.name == "" {
			b = appendGoFields(b, f.elem, o)
			continue
		}
		b = append(object.AppendString(b, f.name), ':')
		b = append(appendGoField(b, f, o[f.json]), ',')
	}
	return b
}

// inMemory moves fields of a pod spec to the security context if the server keeps them there in memory.
func inMemory(o object.Object) object.Object {
	security, spec := object.Object{}, object.Object{}
	maps.Copy(security, o.At("securityContext"))
	for _, name := range []string{"hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"} {
		if v, ok := o[name]; ok {
			security[name] = v
		}
	}
	maps.Copy(spec, o)
	spec["securityContext"] = map[string]any(security)
	return spec
}

func appendGoField(b []byte, f goField, v any) []byte {
	switch {
	case f.list:
		l, _ := v.([]any)
		return appendGoList(b, f, l)
	case f.dict:
		m, ok := v.(map[string]any)
		if !ok {
			return append(b, "null"...)
		}
		return object.AppendJSON(b, m)
	case f.pointer && v == nil:
		return append(b, "null"...)
	}
	return appendGoValue(b, f, v)
}

func appendGoList(b []byte, f goField, list []any) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	if f.kind == 'j' && f.json == "conditions" {
		return conditions.appendList(b, object.Object{f.json: list}.Objects(f.json))
	}
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendGoValue(b, f, v)
	}
	return append(b, ']')
}

// appendGoValue appends a value to b. If the value is missing, it appends the zero value of the field's kind.
func appendGoValue(b []byte, f goField, v any) []byte {
	if f.kind == '.' {
		m, _ := v.(map[string]any)
		if f.elem == "LabelSelector" {
			return append(b, LabelSelector(m)...)
		}
		return appendGoStruct(b, f.elem, m)
	}
	return object.AppendJSON(b, f.orZero(v))
}

// orZero returns v, or the zero value of the field's kind if v is missing.
func (f *goField) orZero(v any) any {
	if v != nil {
		return v
	}
	switch f.kind {
	case 's':
		return ""
	case 'i', 'p':
		return int64(0)
	case 'b':
		return false
	case 'q':
		return "0"
	}
	return nil
}

// requirement is a metav1.LabelSelectorRequirement.
var requirement = wireStruct{[]string{"key", "operator", "values"}, 2}

// LabelSelector returns a metav1.LabelSelector, one of the few structs whose in-memory form equals its JSON encoding.
func LabelSelector(selector object.Object) []byte {
	b := []byte{'{'}
	if m := selector.Map("matchLabels"); len(m) > 0 {
		b = append(object.AppendJSON(append(b, `"matchLabels":`...), m), ',')
	}
	if list := selector.Objects("matchExpressions"); len(list) > 0 {
		b = append(requirement.appendList(append(b, `"matchExpressions":`...), list), ',')
	}
	return closed(b)
}
