package schema

import "sync"

// docs is the text of descriptions, read when the first one is asked for.
type docs struct {
	minor string
	once  sync.Once
	text  map[docKey]string
}

type docKey struct{ typeName, field string }

// Doc returns the description that the Go type of the definition gives to the JSON field, or "". The server shows
// these in the column definitions of a Table. There are only descriptions of ObjectMeta, of the served kinds, their
// specs and statuses, and of the few other types that columns are taken from (NodeSystemInfo, QueuingConfiguration …).
func (s *Set) Doc(typeName, jsonField string) string {
	s.docs.once.Do(s.docs.load)
	return s.docs.text[docKey{typeName, jsonField}]
}

// load reads the file of descriptions; a minor without one has no descriptions.
func (d *docs) load() {
	raw, err := unpack("data/docs-" + d.minor + ".bin")
	if err != nil {
		return
	}
	d.text = parseDocs(d.minor, raw)
}

// parseDocs reads a file of descriptions: types, each with fields, each with a text. Damaged data has none.
func parseDocs(minor string, raw []byte) map[docKey]string {
	r := &reader{data: raw}
	if r.header(minor) != nil {
		return nil
	}
	out := map[docKey]string{}
	types := r.count()
	for range types {
		name := r.str()
		fields := r.count()
		for range fields {
			field := r.str()
			out[docKey{name, field}] = r.str()
		}
	}
	if r.err != nil || len(r.data) != 0 {
		return nil
	}
	return out
}
