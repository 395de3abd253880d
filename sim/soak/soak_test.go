package soak

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

var (
	seedFlag = flag.Uint64("seed", 0, "soak with this seed only")
	update   = flag.Bool("update", false, "write the hashes of testdata/hashes.txt anew")
)

// failed reports a failed seed with the shortest scenario that still breaks the same promise.
func failed(t *testing.T, c Config) {
	t.Helper()
	r, err := Shrink(Options{Config: c}, Run)
	if err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s", c)
	for _, v := range r.Violations {
		t.Error(v)
	}
	path := filepath.Join(t.ArtifactDir(), "soak.txtar")
	if err := os.WriteFile(path, r.Scenario().Format(), 0o600); err != nil {
		t.Error(err)
	}
	t.Logf("%s\nreplay: go test ./sim/soak -run TestSoak -seed %d -artifacts, and kubesim run %s", r.Scenario().Format(), c.Seed, path)
}

// TestSoak checks that a correct cluster keeps all promises, regardless of disturbances.
func TestSoak(t *testing.T) {
	t.Parallel()
	first, last := uint64(1), uint64(25)
	if *seedFlag != 0 {
		first, last = *seedFlag, *seedFlag
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			is := is.New(t)
			c := Swarm(seed, 400)
			r, err := Run(Options{Config: c})
			is.NoErr(err)
			if len(r.Violations) > 0 {
				failed(t, c)
			}
		})
	}
}
