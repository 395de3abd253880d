//go:build !js

package scenario

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// TestStoriesEndAlike checks that a story has the expected end, with the same objects in the same state, regardless of
// the order of controllers. A seed affects only that order, names, addresses and nodes.
func TestStoriesEndAlike(t *testing.T) {
	t.Parallel()
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for name, f := range stories(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			var want string
			ways := map[string]bool{}
			for seed := uint64(1); seed <= seeds; seed++ {
				out, err := Run(f, RunOptions{Seed: seed})
				is.NoErr(err)
				if out.Failure != nil {
					t.Fatalf("seed %d: %v", seed, out.Failure)
				}
				ways[out.Hash] = true
				got := outcome(t, out.World)
				if want == "" {
					want = got
				}
				if d := Difference(want, got); d != "" {
					t.Fatalf("seed %d ends otherwise than seed 1: %s", seed, d)
				}
			}
			is.Equal(len(ways), int(seeds)) // each seed leads to another order
		})
	}
}

// drawn are fields that depend on the seed or on the order of events: names of nodes, addresses, signed values, and
// numbers of writes.
var drawn = []string{"uid", "resourceVersion", "generation", "observedGeneration", "managedFields", "nodeName", "hostIP", "hostIPs", "podIP", "podIPs", "containerID",
	"imageID", "clusterIP", "clusterIPs", "acquireTime", "renewTime", "certificate", "token"}

// outcome returns all objects except events and leases, sorted, without the values that depend on the seed.
func outcome(t *testing.T, w *World) string {
	t.Helper()
	var all []object.Object
	made := map[string]string{} // replacements of generated names and uids
	seen := map[string]bool{"events": true, "events.events.k8s.io": true, "leases.coordination.k8s.io": true}
	for _, d := range w.cluster.Server(1).Table.All() {
		if seen[d.Storage] || seen[d.GroupResource().String()] {
			continue
		}
		seen[d.Storage] = true
		found, err := w.cluster.ListAt(d, "", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, obj := range found {
			all = append(all, obj)
			if prefix := obj.String("metadata", "generateName"); prefix != "" {
				made[obj.Name()] = prefix + "*"
			}
			made[obj.UID()] = "UID"
			if obj.Kind() == "VolumeAttachment" { // its name is a hash of a volume's name, which contains a uid
				made[obj.Name()] = "csi-*"
			}
		}
	}
	lines := make([]string, len(all))
	for i, obj := range all {
		text := string(object.JSON(plain(map[string]any(obj))))
		for _, name := range slices.SortedFunc(maps.Keys(made), func(a, b string) int { return strings.Compare(b, a) }) {
			if name != "" {
				text = strings.ReplaceAll(text, name, made[name])
			}
		}
		lines[i] = text
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

var instants = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*Z`)

// plain returns a value without drawn fields and times.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, x := range v { // order does not matter: a map again
			if !slices.Contains(drawn, key) {
				out[key] = plain(x)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plain(x)
		}
		return out
	case string:
		return instants.ReplaceAllString(v, "TIME")
	}
	return v
}
