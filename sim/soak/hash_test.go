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

// TestGoldenHashes checks that the same seed produces the same bytes: in two runs, with the race detector, on another
// machine, and as js/wasm (make test-wasm runs this test in Node). A change of the trace or of any data that a client
// receives changes the hashes; go test ./sim/soak -run TestGoldenHashes -update rewrites them.
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

// TestSeeds checks that different seeds lead to different runs.
func TestSeeds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	a, err := Run(Options{Config: calm(1)})
	is.NoErr(err)
	b, err := Run(Options{Config: calm(2)})
	is.NoErr(err)
	is.True(a.Hash != b.Hash)
}

// TestOps checks that ops are lines of scenarios: parsing the text form of an op returns the same op.
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
