package network

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// TestStale checks that a cache is out of date if it lacks slices that were written, or has older versions of them.
func TestStale(t *testing.T) {
	t.Parallel()
	key := controller.Key{Namespace: "n", Name: "web"}
	s := func(uid string, generation int64) *slice {
		return &slice{Object: object.Object{"metadata": map[string]any{"uid": uid, "generation": generation}}}
	}
	for _, test := range []struct {
		name  string
		have  []*slice
		stale bool
	}{
		{"all there", []*slice{s("a", 2), s("b", 1)}, false},
		{"somebody else has written", []*slice{s("a", 3), s("b", 1), s("z", 1)}, false},
		{"one is missing", []*slice{s("a", 2)}, true},
		{"one is old", []*slice{s("a", 1), s("b", 1)}, true},
		{"one was deleted", []*slice{s("a", 2), s("b", 1), s("c", 5)}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var written tracker
			written.note(key, "a", 2)
			written.note(key, "b", 1)
			written.note(key, "c", goes)
			is.New(t).Equal(written.stale(key, test.have), test.stale)
		})
	}
}
