package structural

import "github.com/kubesim/kubesim/sim/object"

// ApplyDefaults sets the defaults of the schema in place, and removes nulls that are not allowed (CustomResourceDefinition
// documentation, "Defaulting and Nullable"). A default applies only if the enclosing object exists, so a nested default
// requires that its parent exists or has a default.
func (s *Schema) ApplyDefaults(v any) {
	s.Fill(v)
	s.DropNulls(v)
}

// Fill sets the defaults of the schema in place. A default also replaces a null that is not allowed.
func (s *Schema) Fill(v any) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.names {
			p := s.Properties[name]
			if p.Default == nil {
				continue
			}
			if x, ok := v[name]; !ok || p.refusesNull(x) {
				v[name] = object.Copy(p.Default)
			}
		}
		for name := range v { // order does not matter
			if child, _ := s.child(name); child != nil {
				if _, declared := s.Properties[name]; !declared && child.refusesNull(v[name]) {
					v[name] = object.Copy(child.Default)
				}
				child.Fill(v[name])
			}
		}
	case []any:
		for i := range v {
			if s.Items.refusesNull(v[i]) {
				v[i] = object.Copy(s.Items.Default)
			}
			s.Items.Fill(v[i])
		}
	}
}

// complete reports whether a value already has all defaults and no nulls that ApplyDefaults would remove.
func (s *Schema) complete(v any) bool {
	if s == nil {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.names {
			if _, ok := v[name]; !ok && s.Properties[name].Default != nil {
				return false
			}
		}
		for name, x := range v { // order does not matter
			if child, _ := s.child(name); child.refusesNull(x) || !child.complete(x) {
				return false
			}
		}
	case []any:
		for _, x := range v {
			if s.Items.refusesNull(x) && s.Items.Default != nil || !s.Items.complete(x) {
				return false
			}
		}
	}
	return true
}

// refusesNull reports whether v is null and the schema does not allow null.
func (s *Schema) refusesNull(v any) bool { return v == nil && s != nil && !s.Nullable }

// DropNulls removes fields that are null although they are not nullable, unless they have a default. It keeps list items.
func (s *Schema) DropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v { // order does not matter
			child, _ := s.child(name)
			if child.refusesNull(x) && child.Default == nil {
				delete(v, name)
				continue
			}
			child.DropNulls(x)
		}
	case []any:
		for _, x := range v {
			s.items().DropNulls(x)
		}
	}
}

// pruneDefaults removes from the defaults all fields that the schema does not have. It leaves the metadata of embedded resources to
// PruneMetadata.
func (s *Schema) pruneDefaults() {
	if s == nil {
		return
	}
	if s.Default != nil {
		s.Prune(s.Default)
	}
	for _, name := range s.names {
		if !s.Embedded || name != "metadata" {
			s.Properties[name].pruneDefaults()
		}
	}
	s.Additional.pruneDefaults()
	s.Items.pruneDefaults()
}

// PruneMetadata removes from the defaults for the metadata of embedded resources all fields that an ObjectMeta does not have, whether
// or not the schema declares them.
func (s *Schema) PruneMetadata(read Meta) {
	if s == nil {
		return
	}
	for _, name := range s.names {
		if s.Embedded && name == "metadata" {
			s.Properties[name].pruneWithin(read, nil)
		} else {
			s.Properties[name].PruneMetadata(read)
		}
	}
	s.Additional.PruneMetadata(read)
	s.Items.PruneMetadata(read)
}

// pruneWithin prunes the defaults of a schema at a path within metadata, and of its fields.
func (s *Schema) pruneWithin(read Meta, path []string) {
	if s.Default != nil {
		whole := object.Object{}
		if len(path) > 0 {
			whole.Set(s.Default, path...)
		} else if m, ok := s.Default.(map[string]any); ok {
			whole = m
		}
		if meta, _, err := read(map[string]any(whole)); err == nil {
			if s.Default = meta; len(path) > 0 {
				s.Default, _ = object.Object(meta).Get(path...) // nil if an ObjectMeta has no such field
			}
		}
	}
	for _, name := range s.names {
		s.Properties[name].pruneWithin(read, append(path[:len(path):len(path)], name))
	}
}
