package kubelet

import (
	"encoding/json"

	"github.com/kubesim/kubesim/sim/object"
)

// few is a map with few entries by name. A kubelet has several of them for each pod: a Go map would have room for eight entries. Its JSON is
// that of a map.
type few[V any] []entry[V]

// entry is an entry of a few.
type entry[V any] struct {
	name  string
	value V
}

// get returns the entry with a name, or the zero value if there is none.
func (f few[V]) get(name string) (value V) {
	value, _ = f.lookup(name)
	return value
}

// lookup returns the entry with a name. It returns false if there is none.
func (f few[V]) lookup(name string) (value V, ok bool) {
	for i := range f {
		if f[i].name == name {
			return f[i].value, true
		}
	}
	return value, false
}

// set adds an entry, or replaces the one with its name. A new entry keeps name, which must not be a part of a larger string.
func (f *few[V]) set(name string, value V) {
	for i := range *f {
		if (*f)[i].name == name {
			(*f)[i].value = value
			return
		}
	}
	*f = append(*f, entry[V]{name, value})
}

// MarshalJSON implements json.Marshaler.
func (f few[V]) MarshalJSON() ([]byte, error) {
	if f == nil {
		return []byte("null"), nil
	}
	all := make(map[string]V, len(f))
	for _, e := range f {
		all[e.name] = e.value
	}
	return json.Marshal(all)
}

// UnmarshalJSON implements json.Unmarshaler. The entries are in the order of their names.
func (f *few[V]) UnmarshalJSON(text []byte) error {
	var all map[string]V
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*f = nil
	for _, name := range object.SortedKeys(all) {
		f.set(name, all[name])
	}
	return nil
}
