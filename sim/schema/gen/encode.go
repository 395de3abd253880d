package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"os"
	"sort"

	"github.com/kubesim/kubesim/sim/schema"
)

// writer collects the body of a schema file and the strings it refers to by number.
type writer struct {
	body    []byte
	numbers map[string]int
	strings []string
}

func newWriter() *writer { return &writer{numbers: map[string]int{}} }

func (w *writer) uint(n int) { w.body = binary.AppendUvarint(w.body, uint64(n)) }

func (w *writer) bool(b bool) {
	if b {
		w.uint(1)
	} else {
		w.uint(0)
	}
}

func (w *writer) str(s string) {
	n, ok := w.numbers[s]
	if !ok {
		n = len(w.strings)
		w.numbers[s] = n
		w.strings = append(w.strings, s)
	}
	w.uint(n)
}

func (w *writer) strs(list []string) {
	w.uint(len(list))
	for _, s := range list {
		w.str(s)
	}
}

func (w *writer) ints(list []int) {
	w.uint(len(list))
	for _, n := range list {
		w.uint(n)
	}
}

func (w *writer) gvk(k schema.GVK) {
	w.str(k.Group)
	w.str(k.Version)
	w.str(k.Kind)
}

// blob writes what f writes, with its length before it.
func (w *writer) blob(f func()) {
	outer := w.body
	w.body = nil
	f()
	inner := w.body
	w.body = outer
	w.uint(len(inner))
	w.body = append(w.body, inner...)
}

// file returns the whole file: magic, strings, body.
func (w *writer) file() []byte {
	out := []byte(schema.Magic)
	out = binary.AppendUvarint(out, uint64(len(w.strings)))
	total := 0
	for _, s := range w.strings {
		out = binary.AppendUvarint(out, uint64(len(s)))
		total += len(s)
	}
	out = binary.AppendUvarint(out, uint64(total))
	for _, s := range w.strings {
		out = append(out, s...)
	}
	return append(out, w.body...)
}

// encode returns the schema file.
func encode(minor string, from *walk, s *served) []byte {
	w := newWriter()
	w.str(minor)
	number := make(map[*schema.Type]int, len(from.order))
	for i, t := range from.order {
		number[t] = i
	}
	w.uint(len(from.order))
	for _, t := range from.order {
		w.blob(func() { w.typ(t, number) })
	}
	names := make([]string, 0, len(from.named))
	for name := range from.named {
		names = append(names, name)
	}
	sort.Strings(names)
	w.uint(len(names))
	for _, name := range names {
		w.str(name)
		w.bool(from.named[name].Published)
		w.uint(number[from.named[name]])
	}
	kinds := sortedGVKs(from.kinds)
	w.uint(len(kinds))
	for _, k := range kinds {
		w.gvk(k)
		w.uint(number[from.kinds[k]])
	}
	w.discovery(s)
	return w.file()
}

func (w *writer) discovery(s *served) {
	w.uint(len(s.groups))
	for _, g := range s.groups {
		w.str(g.Name)
		w.strs(g.Versions)
	}
	w.uint(len(s.resources))
	for _, r := range s.resources {
		w.gvk(r.GVK)
		w.str(r.Resource)
		w.str(r.Singular)
		w.strs(r.ShortNames)
		w.strs(r.Categories)
		w.bool(r.Namespaced)
		w.strs(r.Verbs)
		w.gvk(r.Storage)
		w.uint(len(r.Subresources))
		for _, sub := range r.Subresources {
			w.str(sub.Name)
			w.gvk(sub.GVK)
			w.strs(sub.Verbs)
		}
	}
}

func (w *writer) typ(t *schema.Type, number map[*schema.Type]int) {
	w.uint(int(t.Kind))
	w.uint(bit(t.ElemPointer, schema.TypeElemPointer) | bit(t.Message, schema.TypeMessage) |
		bit(t.Published, schema.TypePublished))
	w.uint(t.Bits)
	w.str(t.Name)
	w.str(t.GoType)
	w.str(t.MapType)
	w.str(t.Unions)
	if t.Elem == nil {
		w.uint(0)
	} else {
		w.uint(number[t.Elem] + 1)
	}
	w.uint(len(t.GVKs))
	for _, k := range t.GVKs {
		w.gvk(k)
	}
	w.uint(len(t.Fields))
	for _, f := range t.Fields {
		w.uint(number[f.Type])
		w.field(f)
	}
}

func (w *writer) field(f schema.Field) {
	text, _ := f.Default.(json.RawMessage)
	patch := len(f.PatchStrategy) > 0 || f.PatchMergeKey != ""
	w.str(f.Name)
	w.uint(f.Proto)
	w.uint(bit(f.Pointer, schema.FieldPointer) | bit(f.OmitEmpty, schema.FieldOmitEmpty) |
		bit(f.OmitZero, schema.FieldOmitZero) | bit(f.Required, schema.FieldRequired) |
		bit(f.Inline != nil, schema.FieldInline) | bit(text != nil, schema.FieldDefault) |
		bit(f.Enum != nil, schema.FieldEnum) | bit(f.Format != "", schema.FieldFormat) |
		bit(f.ListType != "", schema.FieldListType) | bit(f.MapKeys != nil, schema.FieldMapKeys) |
		bit(f.MapType != "", schema.FieldMapType) | bit(patch, schema.FieldPatch) |
		bit(f.PlainRef, schema.FieldPlainRef))
	if f.Inline != nil {
		w.ints(f.Inline)
	}
	if text != nil {
		w.str(string(text))
	}
	if f.Enum != nil {
		w.strs(f.Enum)
	}
	if f.Format != "" {
		w.str(f.Format)
	}
	if f.ListType != "" {
		w.str(f.ListType)
	}
	if f.MapKeys != nil {
		w.strs(f.MapKeys)
	}
	if f.MapType != "" {
		w.str(f.MapType)
	}
	if patch {
		w.strs(f.PatchStrategy)
		w.str(f.PatchMergeKey)
	}
}

func bit(on bool, value int) int {
	if on {
		return value
	}
	return 0
}

// writePacked compresses raw and writes it. The gzip header holds no name and no time.
func writePacked(path string, raw []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
