package schema

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// magic is the beginning of every schema file. The digit changes with the format.
const magic = "kubesim schema 1\n"

// errDamaged is the error for a schema file that was not written by the generator.
var errDamaged = errors.New("schema: damaged data")

// coder decodes or encodes a schema file. Each method decodes into its argument or encodes it. After the first error, it
// decodes zeros.
type coder struct {
	data    []byte // the remaining input, or the output
	strings []string
	numbers map[string]int // numbers of strings when encoding; nil when decoding
	err     error
}

// uint codes an unsigned varint (in the format of encoding/binary) that fits an int32.
func (c *coder) uint(n *int) {
	if c.numbers != nil {
		c.data = binary.AppendUvarint(c.data, uint64(*n))
		return
	}
	v, size := binary.Uvarint(c.data[:min(len(c.data), 5)])
	if size <= 0 || v > 1<<31-1 {
		c.fail()
		v, size = 0, 0
	}
	*n, c.data = int(v), c.data[size:]
}

// count codes a number of items that follow. Each of them takes at least one byte.
func (c *coder) count(n *int) {
	if c.uint(n); c.numbers == nil && *n > len(c.data) {
		c.fail()
		*n = 0
	}
}

// bytes codes a length and the bytes themselves. The decoded slice refers to the input.
func (c *coder) bytes(b *[]byte) {
	n := len(*b)
	if c.count(&n); c.numbers != nil {
		c.data = append(c.data, *b...)
		return
	}
	*b, c.data = c.data[:n], c.data[n:]
}

// str codes a string by its number in the string table.
func (c *coder) str(s *string) {
	i, known := c.numbers[*s]
	if c.numbers != nil && !known {
		i = len(c.strings)
		c.numbers[*s], c.strings = i, append(c.strings, *s)
	}
	if c.uint(&i); i >= len(c.strings) {
		c.fail()
		return
	}
	*s = c.strings[i]
}

// list codes the number of items and each item. An empty list is decoded as nil.
func list[T any](c *coder, all *[]T, each func(*coder, *T)) {
	n := len(*all)
	if c.count(&n); n > len(*all) {
		*all = make([]T, n)
	}
	for i := range *all {
		each(c, &(*all)[i])
	}
}

func (c *coder) strs(all *[]string) { list(c, all, (*coder).str) }

func (c *coder) gvk(k *GVK) {
	c.str(&k.Group)
	c.str(&k.Version)
	c.str(&k.Kind)
}

// flags codes a bit mask, with the first flag in the lowest bit.
func (c *coder) flags(flags ...*bool) {
	word := 0
	for i, flag := range flags {
		if *flag {
			word |= 1 << i
		}
	}
	c.uint(&word)
	for i, flag := range flags {
		*flag = word&(1<<i) != 0
	}
}

func (c *coder) fail() {
	c.err = errDamaged
	c.data = nil
}

// id codes a type by its number, which must be less than n.
func (c *coder) id(id *int, n int) {
	if c.uint(id); *id >= n {
		c.fail()
		*id = 0
	}
}

// rawType is the encoded form of a Type, in which other types are numbers.
type rawType struct {
	Type
	elem   int
	fields []int // numbers of the types of Fields
}

// typ codes the blob of one type. n is the total number of types.
func (c *coder) typ(t *rawType, n int) {
	kind := int(t.Kind)
	c.uint(&kind)
	t.Kind = Kind(kind)
	c.flags(&t.ElemPointer, &t.Message, &t.Published)
	c.uint(&t.Bits)
	for _, s := range []*string{&t.Name, &t.GoType, &t.MapType, &t.Unions} {
		c.str(s)
	}
	c.id(&t.elem, n+1)
	list(c, &t.GVKs, (*coder).gvk)
	i := 0
	list(c, &t.Fields, func(c *coder, f *Field) {
		if t.fields == nil {
			t.fields = make([]int, len(t.Fields))
		}
		c.id(&t.fields[i], n)
		c.field(f)
		i++
	})
	if t.Kind > FieldsV1 || (t.elem == 0 && (t.Kind == List || t.Kind == Map)) {
		c.fail()
	}
}

// field codes a field except for its type. A rare property is present only if its flag is set.
func (c *coder) field(f *Field) {
	c.str(&f.Name)
	c.uint(&f.Proto)
	inline, value, enum, format := f.Inline != nil, f.Default != nil, f.Enum != nil, f.Format != ""
	listType, mapKeys, mapType := f.ListType != "", f.MapKeys != nil, f.MapType != ""
	patch := len(f.PatchStrategy) > 0 || f.PatchMergeKey != ""
	c.flags(&f.Pointer, &f.OmitEmpty, &f.OmitZero, &f.Required, &f.PlainRef,
		&inline, &value, &enum, &format, &listType, &mapKeys, &mapType, &patch)
	if inline {
		list(c, &f.Inline, (*coder).uint)
	}
	if value {
		c.value(&f.Default)
	}
	if enum {
		c.strs(&f.Enum)
	}
	if format {
		c.str(&f.Format)
	}
	if listType {
		c.str(&f.ListType)
	}
	if mapKeys {
		c.strs(&f.MapKeys)
	}
	if mapType {
		c.str(&f.MapType)
	}
	if patch {
		c.strs(&f.PatchStrategy)
		c.str(&f.PatchMergeKey)
	}
}

// value codes a default value as JSON. It is decoded to a string, bool, int64, float64, []any or map[string]any. When
// encoding, the value is a json.RawMessage.
func (c *coder) value(v *any) {
	raw, _ := (*v).(json.RawMessage)
	text := string(raw)
	if c.str(&text); c.err != nil || c.numbers != nil {
		return
	}
	var i int64
	if json.Unmarshal([]byte(text), &i) == nil {
		*v = i
		return
	}
	if json.Unmarshal([]byte(text), v) != nil || *v == nil {
		c.fail()
	}
}

// readStrings decodes the string table. All strings share one copy of its bytes.
func (c *coder) readStrings() {
	var lengths []int
	var text []byte
	list(c, &lengths, (*coder).uint)
	c.bytes(&text)
	all := string(text)
	c.strings = make([]string, len(lengths))
	for i, n := range lengths {
		if n > len(all) {
			c.fail()
			return
		}
		c.strings[i], all = all[:n], all[n:]
	}
}

// header checks the magic string and the minor version.
func (c *coder) header(minor string) error {
	if len(c.data) < len(magic) || string(c.data[:len(magic)]) != magic {
		return errDamaged
	}
	c.data = c.data[len(magic):]
	c.readStrings()
	var got string
	if c.str(&got); c.err == nil && got != minor {
		return fmt.Errorf("schema: data of %s where %s was expected", got, minor)
	}
	return c.err
}
