package scenario

import (
	"flag"
	"testing"
)

var _ = flag.Bool("update", false, "rewrite the transcripts of scenarios")

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
