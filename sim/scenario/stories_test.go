package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	_ "time/tzdata" // a CronJob of a story has a time zone

	"github.com/matryer/is"
)

// The stories together use every controller of the control plane, in an order that the seed determines. Each story
// contains a crash between two writes, a stop, and a lagging cache.

// TestStories runs the stories. Under js/wasm it compares the same transcripts, including hashes.
func TestStories(t *testing.T) {
	t.Parallel()
	RunDir(t, "testdata/stories")
}

// stories returns the stories that TestStories runs, by name.
func stories(t *testing.T) map[string]*File {
	t.Helper()
	paths, err := filepath.Glob("testdata/stories/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no stories", err)
	}
	all := map[string]*File{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ParseFile(data)
		if err != nil {
			t.Fatal(path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".txtar")] = f
	}
	return all
}

// TestStoriesHaveTroubles checks that in every story the seed determines the order, a controller crashes between two
// writes, one stops and one lags.
func TestStoriesHaveTroubles(t *testing.T) {
	t.Parallel()
	for name, f := range stories(t) {
		has := func(command string) bool {
			return slices.ContainsFunc(f.Lines, func(l Line) bool { return l.Op.Name == command })
		}
		is := is.New(t)
		out, err := Run(f, RunOptions{})
		is.NoErr(err)
		crashed := slices.ContainsFunc(out.World.Frames(0), func(x Frame) bool {
			return x.Kind == FaultHappened && strings.Contains(x.Text, " do crash ")
		})
		if !has("shuffle") || !has("lag") || !crashed || !has("stop") && !has("restart") {
			t.Errorf("%s: shuffle %t, lag %t, a crash that happened %t, stop or restart %t", name, has("shuffle"), has("lag"), crashed,
				has("stop") || has("restart"))
		}
	}
}
