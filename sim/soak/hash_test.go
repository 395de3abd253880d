package soak

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/scenario"
)

const goldenFile = "testdata/hashes.txt"

// The same seed gives the same bytes: run twice, with the race detector, on another machine, and as js/wasm (make
// test-wasm runs this test under node). A change of anything that a client can see, or of the trace, changes the hashes:
// go test ./sim/soak -run TestGoldenHashes -update rewrites them.
func TestGoldenHashes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var got bytes.Buffer
	for seed := uint64(1); seed <= 6; seed++ {
		c := Swarm(seed, 250)
		a, err := Run(Options{Config: c})
		is.NoErr(err)
		b, err := Run(Options{Config: c})
		is.NoErr(err)
		is.Equal(a.Hash, b.Hash) // twice in one process
		fmt.Fprintln(&got, seed, a.Hash, a.Semantic)
	}
	if *update {
		is.NoErr(os.WriteFile(goldenFile, got.Bytes(), 0o600))
	}
	want, err := os.ReadFile(goldenFile)
	is.NoErr(err)
	if got.String() != string(want) {
		t.Errorf("the hashes are\n%swant\n%sif what the server answers was changed on purpose: go test ./sim/soak -run TestGoldenHashes -update", &got, want)
	}
}

// Another seed is another run.
func TestSeeds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	a, err := Run(Options{Config: calm(1)})
	is.NoErr(err)
	b, err := Run(Options{Config: calm(2)})
	is.NoErr(err)
	is.True(a.Hash != b.Hash)
}

// Ops are lines of scenarios: they print as they are read, whatever was drawn.
func TestOps(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for seed := uint64(1); seed <= 20; seed++ {
		for _, o := range Generate(Swarm(seed, 100)) {
			read, err := scenario.Parse(o.String())
			is.NoErr(err)
			is.Equal(read, o)
		}
	}
}
