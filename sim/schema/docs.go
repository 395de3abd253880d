package schema

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"
)

// texts contains the descriptions in one file, which is read when they are first needed.
type texts struct {
	from files
	name string
	base *texts // contains the texts that the file lacks; may be nil
	once sync.Once
	text map[docKey]string
}

// docKey identifies a field of a definition. If field is "", it identifies the definition itself.
type docKey struct{ typeName, field string }

// Doc returns the description of a JSON field from the Go type of a definition, or "". The server uses these descriptions for Table
// columns. They exist only for ObjectMeta, for the served kinds with their specs and statuses, and for the few other types whose
// fields appear in columns (NodeSystemInfo, QueuingConfiguration …).
func (s *Set) Doc(typeName, jsonField string) string { return s.docs.get(s.minor, typeName, jsonField) }

// Description returns the description of a field in the published OpenAPI. If field is "", it returns the description of the
// definition itself. If there is none, it returns "". The description of an enum ends with descriptions of its values. The
// kinds that define query parameters (ListOptions, PodLogOptions …) also have descriptions, although they are not published.
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
	if text, ok := t.text[docKey{typeName, field}]; ok || t.base == nil {
		return text
	}
	return t.base.get(minor, typeName, field)
}

// gzipMagic begins each gzip file (RFC 1952, section 2.3.1).
var gzipMagic = []byte{0x1f, 0x8b}

// unpack returns a file, decompressed if it is compressed: the engine of the web page contains some files uncompressed (wasm/build.mjs).
func unpack(from files, name string) ([]byte, error) {
	packed, err := from.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(packed, gzipMagic) {
		return packed, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// parseDocs parses a file of descriptions, which contains types with their fields and texts. If the data is damaged, it returns
// nil.
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
