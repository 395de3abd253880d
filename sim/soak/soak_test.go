package soak

import (
	"flag"
	"fmt"
	"testing"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/matryer/is"
)

var (
	seedFlag = flag.Uint64("seed", 0, "soak with this seed only")
	update   = flag.Bool("update", false, "write the hashes of testdata/hashes.txt anew")
)

// failed says how to run a seed again, with the shortest list of ops that still breaks the same promise.
func failed(t *testing.T, c Config, ops []Op, violations []checker.Violation) {
	t.Helper()
	promise := violations[0].Promise
	ops = fault.Minimize(ops, func(ops []Op) bool {
		r, err := Run(Options{Config: c, Ops: ops})
		return err == nil && len(r.Violations) > 0 && r.Violations[0].Promise == promise
	})
	r, err := Run(Options{Config: c, Ops: ops, Tail: 60})
	if err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s", c)
	for _, v := range r.Violations {
		t.Error(v)
	}
	for _, o := range ops {
		t.Log(o)
	}
	t.Log(r.Tail)
	t.Logf("replay: go test ./sim/soak -run TestSoak -seed %d", c.Seed)
}

// No promise is broken, whatever happens to a correct cluster.
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
			ops := Generate(c)
			r, err := Run(Options{Config: c, Ops: ops})
			is.NoErr(err)
			if len(r.Violations) > 0 {
				failed(t, c, ops, r.Violations)
			}
		})
	}
}
