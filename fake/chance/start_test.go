package chance_test

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/kubesim/kubesim/fake/chance"
	"github.com/matryer/is"
)

// What a process draws follows from what it was started with. The test starts itself.
func TestStart(t *testing.T) {
	const inside = "KUBESIM_TEST_START"
	if os.Getenv(inside) != "" {
		fmt.Println(rand.Uint64(), maphash.String(maphash.MakeSeed(), "a"))
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux hands bytes over")
	}
	is := is.New(t)
	program, err := os.Executable()
	is.NoErr(err)
	drawn := func(seed uint64) string {
		cmd := exec.Command(program, "-test.run=^TestStart$")
		cmd.Env = append(os.Environ(), inside+"=1", "GOMAXPROCS=1")
		out, err := cmd.StdoutPipe()
		is.NoErr(err)
		is.NoErr(chance.Start(cmd, seed))
		var a, b string
		_, err = fmt.Fscan(out, &a, &b)
		is.NoErr(err)
		is.NoErr(cmd.Wait())
		return a + " " + b
	}
	first := drawn(1)
	is.Equal(drawn(1), first)
	is.True(drawn(2) != first)
}
