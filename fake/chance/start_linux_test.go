package chance_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/chance"
)

const inside = "KUBESIM_TEST_START"

// A child process of the test prints the iteration order of a large map. The order depends on the keys of the map's hash, which are
// generated when the process starts, and on the draws after Seed.
func init() {
	if os.Getenv(inside) == "" {
		return
	}
	chance.Seed(1)
	large := map[string]bool{}
	for i := range 1000 {
		large[strconv.Itoa(i)] = true
	}
	var order []string
	for name := range large {
		order = append(order, name)
	}
	fmt.Println(strings.Join(order, ","))
	os.Exit(0)
}

// The iteration order of maps in a process depends only on the seed with which it was started. The test starts its own binary.
func TestStart(t *testing.T) {
	is := is.New(t)
	program, err := os.Executable()
	is.NoErr(err)
	drawn := func(seed uint64) string {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), inside+"=1", "GOMAXPROCS=1")
		out, err := cmd.StdoutPipe()
		is.NoErr(err)
		is.NoErr(chance.Start(cmd, seed))
		var order string
		_, err = fmt.Fscan(out, &order)
		is.NoErr(err)
		is.NoErr(cmd.Wait())
		return order
	}
	first := drawn(1)
	is.Equal(drawn(1), first)
	is.True(drawn(2) != first)
}
