package schema

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Magic opens a schema file; the digit changes with the format.
const Magic = "kubesim schema 1\n"

// Flags returns what the flag word of a type says in a schema file, the lowest bit first.
func (t *Type) Flags() []*bool { return []*bool{&t.ElemPointer, &t.Message, &t.Published} }

// Flags returns what the lowest bits of the flag word of a field say.
func (f *Field) Flags() []*bool {
	return []*bool{&f.Pointer, &f.OmitEmpty, &f.OmitZero, &f.Required, &f.PlainRef}
}

// The bits behind Field.Flags: the value is in the file.
const (
	FieldInline = 1 << (iota + 5)
	FieldDefault
	FieldEnum
	FieldFormat
	FieldListType
	FieldMapKeys
	FieldMapType
	FieldPatch
)

// errDamaged is the answer to every schema file that is not what the generator wrote.
var errDamaged = errors.New("schema: damaged data")

// reader walks over the bytes of a schema file. After the first error it returns zeros.
type reader struct {
	data    []byte
	strings []string
	err     error
}

// uint reads an unsigned varint (as encoding/binary writes it) that fits an int32.
func (r *reader) uint() int {
	var v uint64
	for i := 0; i < len(r.data) && i < 5; i++ {
		b := r.data[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if v > 1<<31-1 {
				break
			}
			r.data = r.data[i+1:]
			return int(v)
		}
	}
	r.fail()
	return 0
}

// count reads the number of things that follow, each at least one byte long.
func (r *reader) count() int {
	n := r.uint()
	if n > len(r.data) {
		r.fail()
		return 0
	}
	return n
}

// bytes reads a length and that many bytes; they are not copied.
func (r *reader) bytes() []byte {
	n := r.count()
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

// str reads the number of a string.
func (r *reader) str() string {
	i := r.uint()
	if i >= len(r.strings) {
		r.fail()
		return ""
	}
	return r.strings[i]
}

// list reads how many there are, and each of them; nil for none.
func list[T any](r *reader, each func(*reader) T) []T {
	n := r.count()
	if n == 0 {
		return nil
	}
	out := make([]T, n)
	for i := range out {
		out[i] = each(r)
	}
	return out
}

func (r *reader) strs() []string { return list(r, (*reader).str) }

func (r *reader) gvk() GVK { return GVK{Group: r.str(), Version: r.str(), Kind: r.str()} }

func (r *reader) bool() bool { return r.uint() != 0 }

func (r *reader) fail() {
	r.err = errDamaged
	r.data = nil
}

// flags reads a flag word.
func (r *reader) flags(flags []*bool) (word int) {
	word = r.uint()
	for i, flag := range flags {
		*flag = word&(1<<i) != 0
	}
	return word
}

// id reads the number of a type, of which there are n.
func (r *reader) id(n int) int {
	id := r.uint()
	if id >= n {
		r.fail()
		return 0
	}
	return id
}

// rawType is a Type as the file has it: other types are numbers. 0 is no type, so numbers are one too high.
type rawType struct {
	Type
	elem   int
	fields []int // type of each of Fields
}

// typ reads the blob of one type; n is the number of types there are.
func (r *reader) typ(n int) rawType {
	var t rawType
	t.Kind = Kind(r.uint())
	r.flags(t.Flags())
	t.Bits = r.uint()
	t.Name, t.GoType = r.str(), r.str()
	t.MapType, t.Unions = r.str(), r.str()
	t.elem = r.id(n + 1)
	t.GVKs = list(r, (*reader).gvk)
	t.Fields = list(r, func(r *reader) Field {
		t.fields = append(t.fields, r.id(n))
		return r.field()
	})
	if t.Kind > FieldsV1 || (t.elem == 0 && (t.Kind == List || t.Kind == Map)) {
		r.fail()
	}
	return t
}

// field reads one field without its type.
func (r *reader) field() Field {
	f := Field{Name: r.str(), Proto: r.uint()}
	flags := r.flags(f.Flags())
	if flags&FieldInline != 0 {
		f.Inline = list(r, (*reader).uint)
	}
	if flags&FieldDefault != 0 {
		f.Default = r.value()
	}
	if flags&FieldEnum != 0 {
		f.Enum = r.strs()
	}
	if flags&FieldFormat != 0 {
		f.Format = r.str()
	}
	if flags&FieldListType != 0 {
		f.ListType = r.str()
	}
	if flags&FieldMapKeys != 0 {
		f.MapKeys = r.strs()
	}
	if flags&FieldMapType != 0 {
		f.MapType = r.str()
	}
	if flags&FieldPatch != 0 {
		f.PatchStrategy, f.PatchMergeKey = r.strs(), r.str()
	}
	return f
}

// value reads a default: JSON text as a string, bool, int64, float64, []any or map[string]any.
func (r *reader) value() any {
	text := r.str()
	if r.err != nil {
		return nil
	}
	var i int64
	if json.Unmarshal([]byte(text), &i) == nil {
		return i
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil || v == nil {
		r.fail()
	}
	return v
}

// table reads n blobs without looking into them.
func (r *reader) table() [][]byte {
	out := make([][]byte, r.count())
	for i := range out {
		out[i] = r.bytes()
	}
	return out
}

// readStrings reads the string table into r.strings. The strings share one copy of the bytes.
func (r *reader) readStrings() {
	lengths := list(r, (*reader).uint)
	all := string(r.bytes())
	r.strings = make([]string, len(lengths))
	for i, n := range lengths {
		if n > len(all) {
			r.fail()
			return
		}
		r.strings[i], all = all[:n], all[n:]
	}
}

// header checks the magic and the minor.
func (r *reader) header(minor string) error {
	if len(r.data) < len(Magic) || string(r.data[:len(Magic)]) != Magic {
		return errDamaged
	}
	r.data = r.data[len(Magic):]
	r.readStrings()
	if got := r.str(); r.err == nil && got != minor {
		return fmt.Errorf("schema: data of %s where %s was expected", got, minor)
	}
	return r.err
}
