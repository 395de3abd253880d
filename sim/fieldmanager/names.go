package fieldmanager

import "github.com/kubesim/kubesim/sim/schema"

// names are the names of an object's members, a bit of 64 for each, so that two may have the same one. Most fields of a pod are
// absent, and to find no bit costs a tenth of what it costs to find nothing in a map.
type names uint64

func nameBit(name string) names {
	n := len(name)
	if n == 0 {
		return 1
	}
	return 1 << ((n + 7*int(name[0]) + 3*int(name[n-1])) & 63)
}

// names returns the names of the members of an object; all, where it has most of its fields and may as well be asked for each.
func (s *shape) names(m map[string]any) (all names) {
	if len(s.fields) < 2*len(m) {
		return ^names(0)
	}
	for name := range m { // order does not matter
		all |= nameBit(name)
	}
	return all
}

// mayBeIn reports whether an object with these names may have the field: if not, there is no need to look.
func (f *member) mayBeIn(all names, typed bool) bool {
	return all&f.bit != 0 || typed && f.show == schema.Always
}
