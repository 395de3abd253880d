package schema

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/matryer/is"
)

// TestEncode checks that a decoded file is encoded to the same bytes.
func TestEncode(t *testing.T) {
	t.Parallel()
	for _, minor := range Known() {
		is := is.New(t)
		want, err := data.ReadFile(setFile(minor))
		is.NoErr(err)
		s, err := open(data, minor)
		is.NoErr(err)
		f := File{Minor: minor, Names: map[string]*Type{}, Kinds: map[GVK]*Type{}, Groups: s.groups, Resources: s.resources}
		for id := range s.blobs {
			typ := s.readLocked(id)
			for i := range typ.Fields {
				if v := typ.Fields[i].Default; v != nil {
					text, err := json.Marshal(v)
					is.NoErr(err)
					typ.Fields[i].Default = json.RawMessage(text)
				}
			}
			f.Types = append(f.Types, typ)
		}
		for name, id := range s.names { // order does not matter: it fills a map
			f.Names[name] = s.types[id]
		}
		for k, id := range s.kinds { // order does not matter: it fills a map
			f.Kinds[k] = s.types[id]
		}
		is.True(bytes.Equal(f.Encode(), want))
	}
}

// TestEncodeDocs checks that descriptions are decoded as they were encoded.
func TestEncodeDocs(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	file := EncodeDocs("1.36", map[string]map[string]string{"a": {"x": "one", "": "two"}, "b": {}, "c": {"x": "one"}})
	is.Equal(parseDocs("1.36", file), map[docKey]string{{"a", "x"}: "one", {"a", ""}: "two", {"c", "x"}: "one"})
	is.True(parseDocs("1.35", file) == nil) // for another minor
}
