package schema

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"
)

// texts are the descriptions of one file, read when the first one is asked for.
type texts struct {
	from files
	name string
	once sync.Once
	text map[docKey]string
}

// docKey is a field of a definition, or with "" the definition itself.
type docKey struct{ typeName, field string }

// Doc returns the description that the Go type of the definition gives to the JSON field, or "". The server shows
// these in the column definitions of a Table. There are only descriptions of ObjectMeta, of the served kinds, their
// specs and statuses, and of the few other types that columns are taken from (NodeSystemInfo, QueuingConfiguration …).
func (s *Set) Doc(typeName, jsonField string) string { return s.docs.get(s.minor, typeName, jsonField) }

// Description returns the description of a field in the published OpenAPI or, if the field is empty, that of the definition itself.
// If there is none, it returns "". The values of an enum are described at its end. The kinds from which parameters are taken
// (ListOptions, PodLogOptions …) have descriptions, too, though they are not published.
//
// In a program without these texts (GOOS=js) it returns the result of Doc.
func (s *Set) Description(definition, field string) string {
	if text := s.prose.get(s.minor, definition, field); text != "" || len(s.prose.text) > 0 {
		return text
	}
	return s.Doc(definition, field)
}

func (t *texts) get(minor, typeName, field string) string {
	t.once.Do(func() {
		if raw, err := unpack(t.from, t.name); err == nil { // a minor without the file has no descriptions
			t.text = parseDocs(minor, raw)
		}
	})
	return t.text[docKey{typeName, field}]
}

// unpack returns the contents of a file of descriptions.
func unpack(from files, name string) ([]byte, error) {
	packed, err := from.ReadFile(name)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// parseDocs reads a file of descriptions: types, each with fields, each with a text. Damaged data has none.
func parseDocs(minor string, raw []byte) map[docKey]string {
	c := &coder{data: raw}
	if c.header(minor) != nil {
		return nil
	}
	out := map[docKey]string{}
	var types, fields int
	var key docKey
	var text string
	c.count(&types)
	for range types {
		c.str(&key.typeName)
		c.count(&fields)
		for range fields {
			c.str(&key.field)
			c.str(&text)
			out[key] = text
		}
	}
	if c.err != nil || len(c.data) != 0 {
		return nil
	}
	return out
}
