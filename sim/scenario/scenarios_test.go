package scenario

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var update = flag.Bool("update", false, "rewrite the transcripts of scenarios, and testdata/needed.txt")

// TestExamples runs the scenarios that are part of the project. Under js/wasm it compares the same transcripts,
// including hashes.
func TestExamples(t *testing.T) {
	t.Parallel()
	RunDir(t, "../../examples/scenarios")
}

// TestActors runs the scenarios about informers and controllers.
func TestActors(t *testing.T) {
	t.Parallel()
	RunDir(t, "testdata")
}

// TestLineByLine checks that a World that receives the lines one by one, like from the page, has the same result as a
// run of the file, and that a run of the exported scenario does, too.
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
	is.True(strings.HasSuffix(f.Transcript, "hash: "+w.Hash()+"\n")) // the hash in the file
	exported, err := ParseFile(w.Export("What was done in the page.").Format())
	is.NoErr(err)
	out, err := Run(exported, RunOptions{})
	is.NoErr(err)
	is.Equal(out.Failure, nil)
	is.Equal(out.Hash, w.Hash())
}
