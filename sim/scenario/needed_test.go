//go:build !js

package scenario

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/config"
)

// Every controller has a story that fails without it.
func TestEveryControllerHasAStory(t *testing.T) {
	t.Parallel()
	all := stories(t)
	names := slices.Sorted(maps.Keys(all))
	w, err := New(Options{Cluster: config.Cluster{Controllers: []string{"*"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, controller := range w.Controllers() {
		needed := slices.ContainsFunc(names, func(name string) bool { return failsWithout(t, all[name], controller) })
		if !needed {
			t.Errorf("all stories go well without %s: write one that needs it", controller)
		}
	}
}

// failsWithout reports whether a story fails if a controller does not run. Operations on the controller are left out.
func failsWithout(t *testing.T, f *File, controller string) bool {
	t.Helper()
	without := *f
	without.Lines = nil
	for _, line := range f.Lines {
		switch {
		case line.Op.Name == "controllers":
			line.Op.Args = append(slices.Clone(line.Op.Args), "-"+controller)
			if !slices.Contains(line.Op.Args, "*") {
				return false
			}
		case slices.Contains(line.Op.Args, controller), strings.HasSuffix(line.Op.Text, " "+controller):
			continue
		}
		without.Lines = append(without.Lines, line)
	}
	out, err := Run(&without, RunOptions{})
	is.New(t).NoErr(err)
	return out.Failure != nil
}
