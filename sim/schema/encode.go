package schema

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// File is the content of a schema file. The default of a field is a json.RawMessage.
type File struct {
	Minor     string
	Types     []*Type // all types that are referenced below
	Names     map[string]*Type
	Kinds     map[GVK]*Type
	Groups    []Group
	Resources []Resource
}

// Encode encodes the schema file.
func (f *File) Encode() []byte {
	c := newEncoder(f.Minor)
	number := make(map[*Type]int, len(f.Types))
	for i, t := range f.Types {
		number[t] = i
	}
	x := contents{groups: f.Groups, resources: f.Resources}
	written := c.data
	for _, t := range f.Types {
		raw := rawType{Type: *t}
		if t.Elem != nil {
			raw.elem = number[t.Elem] + 1
		}
		for _, field := range t.Fields {
			raw.fields = append(raw.fields, number[field.Type])
		}
		c.data = nil
		c.typ(&raw, len(f.Types))
		x.blobs = append(x.blobs, c.data)
	}
	c.data = written
	for _, name := range object.SortedKeys(f.Names) {
		t := f.Names[name]
		x.names = append(x.names, nameOf{name, t.Published, number[t]})
	}
	for _, k := range slices.SortedFunc(maps.Keys(f.Kinds), GVK.Compare) {
		x.kinds = append(x.kinds, kindOf{k, number[f.Kinds[k]]})
	}
	c.contents(&x)
	return c.file()
}

// EncodeDocs encodes a file of descriptions. texts contains them by definition and field.
func EncodeDocs(minor string, texts map[string]map[string]string) []byte {
	c := newEncoder(minor)
	n := len(texts)
	c.count(&n)
	for _, name := range object.SortedKeys(texts) {
		c.str(&name)
		n := len(texts[name])
		c.count(&n)
		for _, field := range object.SortedKeys(texts[name]) {
			text := texts[name][field]
			c.str(&field)
			c.str(&text)
		}
	}
	return c.file()
}

func newEncoder(minor string) *coder {
	c := &coder{numbers: map[string]int{}}
	c.str(&minor)
	return c
}

// file returns the complete file: magic, strings, and encoded data.
func (c *coder) file() []byte {
	out := []byte(magic)
	out = binary.AppendUvarint(out, uint64(len(c.strings)))
	total := 0
	for _, s := range c.strings {
		out = binary.AppendUvarint(out, uint64(len(s)))
		total += len(s)
	}
	out = binary.AppendUvarint(out, uint64(total))
	for _, s := range c.strings {
		out = append(out, s...)
	}
	return append(out, c.data...)
}
