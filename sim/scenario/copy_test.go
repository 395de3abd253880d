package scenario

import (
	"maps"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/config"
)

// TestCopy checks that a copy of a World continues like the original, whichever of them continues first.
func TestCopy(t *testing.T) {
	t.Parallel()
	all := stories(t)
	copies := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		w, err := New(f.prepared(Options{Files: f.Files}))
		if err != nil {
			t.Fatal(err)
		}
		half := len(f.Lines) / 2
		results(t, w, f.Lines[:half])
		c := w.Copy()
		if c == nil {
			continue
		}
		copies++
		second := c.Copy() // continues last
		for _, x := range []*World{c, w, second} {
			results(t, x, f.Lines[half:])
		}
		if c.Hash() != w.Hash() || second.Hash() != w.Hash() {
			t.Errorf("%s: after line %d the copies continue with other frames", name, half)
		}
		is.New(t).Equal(len(c.Log()), len(w.Log()))
	}
	if copies < len(all)/2 {
		t.Errorf("%d of %d stories can be copied", copies, len(all))
	}
}

// results runs lines and returns the lines of their results.
func results(t *testing.T, w *World, lines []Line) (out []string) {
	t.Helper()
	for _, l := range lines {
		r, err := w.Do(l.Op)
		if err != nil {
			t.Fatalf("%s: %v", l.Text, err)
		}
		out = append(append(out, r.Lines...), r.Failure)
	}
	return out
}

// TestCopyOfAPrompt checks that a copy has its own state of kubectl, files, clients and watches.
func TestCopyOfAPrompt(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w, err := New(Options{Cluster: config.Cluster{Seed: 1, Controllers: []string{"*"}, Nodes: 1}, Whole: true})
	is.NoErr(err)
	f, err := ParseFile([]byte("kubectl create namespace shop\nkubectl run a --image=nginx\ntick settled\nget pods --as alice\n" +
		"kubectl get pods -w\nstop w1\nkubectl config set-context --current --namespace=shop\necho hello > note\n"))
	is.NoErr(err)
	results(t, w, f.Lines)
	c := w.Copy()
	is.True(c != nil)
	f, err = ParseFile([]byte("kubectl get pods\ncat note\nlist pods --rv seen --as alice\n" +
		"kubectl config set-context --current --namespace=default\necho other > note\nkubectl get pods\nkubectl get pods -w\n"))
	is.NoErr(err)
	first := results(t, w, f.Lines)
	is.True(w.Copy() == nil) // a watch is open
	is.Equal(first, results(t, c, f.Lines))
	is.Equal(c.Hash(), w.Hash())
}
