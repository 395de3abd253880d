package network

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// perSlice is the maximum number of endpoints that the endpointslice-controller puts in a slice (--max-endpoints-per-slice).
const perSlice = 100

// changes contains the pending writes to slices.
type changes struct{ create, update, remove []*slice }

func (c *changes) add(more changes) {
	c.create = append(c.create, more.create...)
	c.update = append(c.update, more.update...)
	c.remove = append(c.remove, more.remove...)
}

// untouched returns the slices that are neither updated nor removed.
func (c *changes) untouched(all []*slice) []*slice {
	return slices.DeleteFunc(slices.Clone(all), func(s *slice) bool {
		return slices.Contains(c.update, s) || slices.Contains(c.remove, s)
	})
}

// recycle replaces pairs of a creation and a deletion with updates, if usable allows it.
func (c *changes) recycle(usable func(old, made *slice) bool) {
	c.remove = slices.DeleteFunc(c.remove, func(old *slice) bool {
		for i, made := range slices.Backward(c.create) {
			if usable(old, made) {
				made.SetMeta("name", old.Name())
				c.create, c.update = slices.Delete(c.create, i, i+1), append(c.update, made)
				return true
			}
		}
		return false
	})
}

// endpointSet is a set of endpoints by key, in order of insertion.
type endpointSet struct {
	keys  []string
	byKey map[string]object.Object
}

func (s *endpointSet) insert(e object.Object) {
	if s.byKey == nil {
		s.byKey = map[string]object.Object{}
	}
	key := endpointKey(e)
	if s.byKey[key] == nil {
		s.keys = append(s.keys, key)
	}
	s.byKey[key] = e
}

// take removes and returns the endpoint with the key. It returns nil if there is none.
func (s *endpointSet) take(key string) object.Object {
	e := s.byKey[key]
	delete(s.byKey, key)
	return e
}

func (s *endpointSet) len() int { return len(s.byKey) }

// fill moves endpoints into a slice until the slice has most endpoints or the set is empty.
func (s *endpointSet) fill(into *slice, most int) {
	for len(s.keys) > 0 && len(into.endpoints) < most {
		if e := s.take(s.keys[0]); e != nil {
			into.endpoints = append(into.endpoints, e)
		}
		s.keys = s.keys[1:]
	}
}

// pack distributes endpoints with the same ports to slices (endpointslice.reconcileByPortMapping), and changes as few slices as
// possible:
//
//  1. Endpoints that are already in a slice stay there. Unwanted endpoints are removed.
//  2. The remaining endpoints fill up the slices that are changed anyway, with the fullest first.
//  3. After that, remaining endpoints fill the unchanged slice that they fit best, or else new slices.
//
// relabel sets the labels of a slice, and reports whether it changed them.
func pack(have []*slice, want *endpointSet, most int, relabel func(*slice) bool, empty func() *slice) (c changes) {
	var same []*slice
	for _, s := range have {
		updated := false
		var kept []object.Object
		for _, e := range s.endpoints {
			if now := want.take(endpointKey(e)); now != nil {
				updated = updated || !sameEndpoint(e, now)
				kept = append(kept, now)
			}
		}
		relabelled := relabel(s)
		switch updated = updated || len(kept) < len(s.endpoints); {
		case updated && len(kept) == 0:
			c.remove = append(c.remove, s)
		case updated:
			s.endpoints = kept
			c.update = append(c.update, s)
		case relabelled:
			c.update = append(c.update, s)
		default:
			same = append(same, s)
		}
	}
	byLength := slices.Clone(c.update)
	slices.SortStableFunc(byLength, func(a, b *slice) int { return len(b.endpoints) - len(a.endpoints) })
	for _, s := range byLength {
		want.fill(s, most)
	}
	for want.len() > 0 {
		s := sliceToFill(same, want.len(), most)
		if s == nil {
			s = empty()
			c.create = append(c.create, s)
		} else {
			same = slices.DeleteFunc(same, func(x *slice) bool { return x == s })
			c.update = append(c.update, s)
		}
		want.fill(s, most)
	}
	return c
}

// sliceToFill returns the slice that will be the fullest after n more endpoints are added, or nil if they fit in none
// (endpointslice.getSliceToFill).
func sliceToFill(all []*slice, n, most int) (best *slice) {
	if n >= most {
		return nil
	}
	closest := most
	for _, s := range all {
		if left := most - n - len(s.endpoints); left >= 0 && left < closest {
			closest, best = left, s
		}
	}
	return best
}
