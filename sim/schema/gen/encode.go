package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"slices"

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

// list writes how many there are, and each of them.
func list[T any](w *writer, all []T, each func(T)) {
	w.uint(len(all))
	for _, x := range all {
		each(x)
	}
}

func (w *writer) strs(all []string) { list(w, all, w.str) }

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
	list(w, from.order, func(t *schema.Type) { w.blob(func() { w.typ(t, number) }) })
	list(w, slices.Sorted(maps.Keys(from.named)), func(name string) {
		w.str(name)
		w.bool(from.named[name].Published)
		w.uint(number[from.named[name]])
	})
	list(w, sortedGVKs(from.kinds), func(k schema.GVK) {
		w.gvk(k)
		w.uint(number[from.kinds[k]])
	})
	w.discovery(s)
	return w.file()
}

func (w *writer) discovery(s *served) {
	list(w, s.groups, func(g schema.Group) {
		w.str(g.Name)
		w.strs(g.Versions)
	})
	list(w, s.resources, func(r schema.Resource) {
		w.gvk(r.GVK)
		w.str(r.Resource)
		w.str(r.Singular)
		w.strs(r.ShortNames)
		w.strs(r.Categories)
		w.bool(r.Namespaced)
		w.strs(r.Verbs)
		w.gvk(r.Storage)
		list(w, r.Subresources, func(sub schema.Subresource) {
			w.str(sub.Name)
			w.gvk(sub.GVK)
			w.strs(sub.Verbs)
		})
	})
}

func (w *writer) typ(t *schema.Type, number map[*schema.Type]int) {
	w.uint(int(t.Kind))
	w.uint(flagWord(t.Flags()))
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
	list(w, t.GVKs, w.gvk)
	list(w, t.Fields, func(f schema.Field) {
		w.uint(number[f.Type])
		w.field(f)
	})
}

func (w *writer) field(f schema.Field) {
	text, _ := f.Default.(json.RawMessage)
	flags := flagWord(f.Flags())
	values := []struct {
		flag  int
		there bool
		write func()
	}{
		{schema.FieldInline, f.Inline != nil, func() { list(w, f.Inline, w.uint) }},
		{schema.FieldDefault, text != nil, func() { w.str(string(text)) }},
		{schema.FieldEnum, f.Enum != nil, func() { w.strs(f.Enum) }},
		{schema.FieldFormat, f.Format != "", func() { w.str(f.Format) }},
		{schema.FieldListType, f.ListType != "", func() { w.str(f.ListType) }},
		{schema.FieldMapKeys, f.MapKeys != nil, func() { w.strs(f.MapKeys) }},
		{schema.FieldMapType, f.MapType != "", func() { w.str(f.MapType) }},
		{schema.FieldPatch, len(f.PatchStrategy) > 0 || f.PatchMergeKey != "", func() { w.strs(f.PatchStrategy); w.str(f.PatchMergeKey) }},
	}
	for _, v := range values {
		if v.there {
			flags |= v.flag
		}
	}
	w.str(f.Name)
	w.uint(f.Proto)
	w.uint(flags)
	for _, v := range values {
		if v.there {
			v.write()
		}
	}
}

func flagWord(flags []*bool) (word int) {
	for i, flag := range flags {
		if *flag {
			word |= 1 << i
		}
	}
	return word
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
