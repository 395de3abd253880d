//go:build !js

package scenario

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/config"
)

// needed contains a line for each controller: its name, and a story that fails without it. With -update, the test
// searches for these stories again.
const needed = "testdata/needed.txt"

// served lists the controllers that act only in a server with TLS, or with versions of the API that are off by default, which a story
// does not have. Tests of fake and fake/conformance cover them.
var served = []string{"kube-apiserver-serving-clustertrustbundle-publisher-controller",
	"podgroup-protection-controller", "storageversion-garbage-collector-controller"}

// TestEveryControllerHasAStory checks that every controller has a story that fails without it.
func TestEveryControllerHasAStory(t *testing.T) {
	t.Parallel()
	all := stories(t)
	w, err := New(Options{Cluster: config.Cluster{Controllers: []string{"*"}}})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		writeNeeded(t, all, w.Controllers())
	}
	text, err := os.ReadFile(needed)
	if err != nil {
		t.Fatal(err)
	}
	story := map[string]string{}
	for line := range strings.Lines(string(text)) {
		controller, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		story[controller] = name
	}
	for _, controller := range w.Controllers() {
		if slices.Contains(served, controller) {
			continue
		}
		t.Run(controller, func(t *testing.T) {
			t.Parallel()
			f := all[story[controller]]
			if f == nil || !failsWithout(t, f, controller) {
				t.Errorf("%s has no story that fails without %s: run go test ./sim/scenario -run TestEveryControllerHasAStory -update, and write a story if it finds none",
					needed, controller)
			}
		})
	}
}

// writeNeeded searches for a story that fails without a controller, for each controller, and writes a list of these stories to a
// file.
func writeNeeded(t *testing.T, all map[string]*File, controllers []string) {
	t.Helper()
	names := slices.Sorted(maps.Keys(all))
	var b strings.Builder
	for _, controller := range controllers {
		if slices.Contains(served, controller) {
			continue
		}
		i := slices.IndexFunc(names, func(name string) bool { return failsWithout(t, all[name], controller) })
		if i < 0 {
			t.Errorf("no story fails without %s: write one that needs it", controller)
			continue
		}
		b.WriteString(controller + " " + names[i] + "\n")
	}
	if err := os.WriteFile(needed, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// failsWithout reports whether a story fails if a controller does not run. It omits operations on the controller.
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
