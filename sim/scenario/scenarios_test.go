package scenario

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var update = flag.Bool("update", false, "rewrite the transcripts of scenarios, and testdata/needed.txt")

// TestExamples runs the scenarios that ship with the project. Under js/wasm it compares the same transcripts, hashes
// included.
func TestExamples(t *testing.T) {
	t.Parallel()
	RunDir(t, "../../examples/scenarios")
}

// TestActors runs the scenarios about informers and controllers.
func TestActors(t *testing.T) {
	t.Parallel()
	RunDir(t, "testdata")
}

// A World that gets the lines one by one, as from the page, ends like a run of the file. A run of the scenario that it exports does, too.
func TestLineByLine(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	data, err := os.ReadFile("../../examples/scenarios/skew.txtar")
	is.NoErr(err)
	f, err := ParseFile(data)
	is.NoErr(err)
	w := world(t, Options{Files: f.Files})
	for _, line := range f.Lines {
		_, err := w.Do(line.Op)
		is.NoErr(err)
	}
	is.True(strings.HasSuffix(f.Transcript, "hash: "+w.Hash()+"\n")) // the hash that the file records
	exported, err := ParseFile(w.Export("What was done in the page.").Format())
	is.NoErr(err)
	out, err := Run(exported, RunOptions{})
	is.NoErr(err)
	is.Equal(out.Failure, nil)
	is.Equal(out.Hash, w.Hash())
}
