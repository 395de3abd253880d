package fieldmanager

import (
	"math/rand/v2"
	"testing"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/matryer/is"
)

// randomSet returns a set of paths below metadata, some of which nobody owns, and below spec.
func randomSet(r *rand.Rand) map[string]any {
	paths := [][]string{
		{"f:metadata"}, {"f:metadata", "f:labels"}, {"f:metadata", "f:labels", "f:a"}, {"f:metadata", "f:labels", "f:b"},
		{"f:metadata", "f:resourceVersion"}, {"f:metadata", "f:uid"}, {"f:kind"}, {"f:spec"}, {"f:spec", "f:a"}, {"f:spec", "f:b"},
	}
	set := map[string]any{}
	for range r.IntN(6) {
		one := leaf
		path := paths[r.IntN(len(paths))]
		for i := len(path) - 1; i >= 0; i-- {
			one = map[string]any{path[i]: one}
		}
		set = plus(set, one)
	}
	return set
}

// TestWhoHasWhatItGains: an entry that has what the change gives it already is as it would be if it lost and gained that.
func TestWhoHasWhatItGains(t *testing.T) {
	is := is.New(t)
	had := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 7))
		c := &change{changed: randomSet(r), removed: randomSet(r)}
		set := stripped(c.changed)
		e := &entry{manager: "m", operation: opUpdate, apiVersion: "v1", fields: plus(randomSet(r), randomSet(r))}
		if !e.has(c, set) {
			continue
		}
		had++
		before := string(object.JSON(e.fields))
		e.lose(c)
		l := managed{e}.gain(By{Name: "m"}, opUpdate, "v1", set)
		is.Equal(string(object.JSON(l[0].fields)), before)
	}
	is.True(had > 100) // the test has something to say
}
