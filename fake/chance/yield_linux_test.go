package chance_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/chance"
)

const yielding = "KUBESIM_TEST_YIELD"

// A child process checks that the thread is the right one: its CPU time grows while the runtime watches a goroutine, and its
// priority can be set.
func init() {
	if os.Getenv(yielding) == "" {
		return
	}
	before := chance.Interrupter()
	for began := chance.Real(); chance.Real()-began < 50*time.Millisecond; { // the runtime watches a goroutine that runs for a long time
	}
	if chance.Yield() && chance.Interrupter() > before && chance.Interrupter()-before < 50*time.Millisecond {
		os.Exit(0)
	}
	os.Exit(1)
}

// The thread that preempts goroutines is found: it uses a little CPU time while a goroutine runs for a long time, and has the
// lowest priority after Yield. The test starts its own binary.
func TestYield(t *testing.T) {
	is := is.New(t)
	program, err := os.Executable()
	is.NoErr(err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), yielding+"=1", "GOMAXPROCS=1")
	is.NoErr(cmd.Run())
}
