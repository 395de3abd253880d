package schema

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// magic opens a schema file; the digit changes with the format.
const magic = "kubesim schema 1\n"

// errDamaged is the error for every schema file that the generator has not written.
var errDamaged = errors.New("schema: damaged data")

// coder reads or writes a schema file: each of its methods reads into its argument or writes it. After the first error it reads
// zeros.
type coder struct {
	data    []byte // the rest to read, or the written bytes
	strings []string
	numbers map[string]int // numbers of strings when the coder writes; nil when it reads
	err     error
}

// uint is for an unsigned varint (as encoding/binary writes it) that fits an int32.
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

// count is for the number of things that follow, each at least one byte long.
func (c *coder) count(n *int) {
	if c.uint(n); c.numbers == nil && *n > len(c.data) {
		c.fail()
		*n = 0
	}
}

// bytes is for a length and that many bytes; they are not copied.
func (c *coder) bytes(b *[]byte) {
	n := len(*b)
	if c.count(&n); c.numbers != nil {
		c.data = append(c.data, *b...)
		return
	}
	*b, c.data = c.data[:n], c.data[n:]
}

// str is for the number of a string.
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

// list is for how many there are, and each of them; nil for none.
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

// flags is for a word with a bit for each flag, the lowest for the first.
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

// id is for the number of a type, of which there are n.
func (c *coder) id(id *int, n int) {
	if c.uint(id); *id >= n {
		c.fail()
		*id = 0
	}
}

// rawType is a Type as the file has it: other types are numbers. 0 is no type, so numbers are one too high.
type rawType struct {
	Type
	elem   int
	fields []int // type of each of Fields
}

// typ is for the blob of one type; n is the number of types there are.
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

// field is for one field without its type. Rare properties follow only if their flag is set.
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

// value is for a default: JSON text as a string, bool, int64, float64, []any or map[string]any. When the coder writes, the value is
// a json.RawMessage.
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

// readStrings reads the string table. The strings share one copy of the bytes.
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

// header checks the magic and the minor.
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
