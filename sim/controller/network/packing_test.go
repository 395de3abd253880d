package network

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

func numbered(n int, ready bool) object.Object {
	return object.Object{"addresses": []any{fmt.Sprintf("10.0.%d.%d", n/256, n%256)}, "conditions": map[string]any{"ready": ready}}
}

// TestPack checks pack with random slices and endpoints: each endpoint is in exactly one slice in its desired state, no slice is
// empty or exceeds the maximum, and no unchanged slice is written to shrink another.
func TestPack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		is, r := is.New(t), rand.New(rand.NewPCG(seed, 1))
		most := 1 + r.IntN(8)
		var have []*slice
		for n, id := r.IntN(6), 0; len(have) < n; {
			s := &slice{Object: object.Object{"metadata": map[string]any{"name": fmt.Sprint("s", len(have))}}}
			for range 1 + r.IntN(most) {
				s.endpoints = append(s.endpoints, numbered(id, r.IntN(4) > 0))
				id++
			}
			have = append(have, s)
		}
		want, states := endpointSet{}, map[string]bool{}
		for range r.IntN(40) {
			e := numbered(r.IntN(40), r.IntN(4) > 0)
			states[endpointKey(e)] = e.True("conditions", "ready")
			want.insert(e)
		}
		c := pack(have, &want, most, func(*slice) bool { return false }, func() *slice { return &slice{Object: object.Object{}} })
		found := map[string]bool{}
		for _, s := range slices.Concat(c.create, c.update, c.untouched(have)) {
			is.True(len(s.endpoints) > 0 && len(s.endpoints) <= most) // for this seed
			for _, e := range s.endpoints {
				_, twice := found[endpointKey(e)]
				is.True(!twice) // an endpoint is in one slice only
				found[endpointKey(e)] = e.True("conditions", "ready")
			}
		}
		is.Equal(found, states)
		is.True(len(c.create) <= (len(states)+most-1)/most) // all new slices except the last are full
	}
}

func TestRoomiest(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var all []*slice
	for _, n := range []int{2, 7, 5} {
		all = append(all, &slice{endpoints: make([]object.Object, n)})
	}
	is.Equal(sliceToFill(all, 3, 10), all[1]) // exactly full
	is.Equal(sliceToFill(all, 4, 10), all[2])
	is.Equal(sliceToFill(all, 9, 10), nil)
	is.Equal(sliceToFill(all, 10, 10), nil) // a new slice would be equally full
}
