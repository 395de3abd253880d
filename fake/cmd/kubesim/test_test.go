package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/matryer/is"
)

// drawing is a test that prints results of random choices.
const drawing = `package drawing

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

func TestDraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		order := make(chan int, 9)
		for i := range 9 {
			go func() {
				time.Sleep(time.Second) // all wake up at the same time
				order <- i
			}()
		}
		time.Sleep(time.Minute)
		close(order)
		for i := range order {
			fmt.Print(i, " ")
		}
		fmt.Println("drawn", rand.Uint64())
	})
}
`

// Two runs with one seed are equal, and a run with another seed differs.
func TestTest(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library for js/wasm and needs node")
	}
	for _, tool := range []string{"go", "node", "env"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("kubesim test needs %s", tool)
		}
	}
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module drawing\n\ngo 1.25\n"), 0o644))
	is.NoErr(os.WriteFile(filepath.Join(dir, "draw_test.go"), []byte(drawing), 0o644))
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	drawn := regexp.MustCompile(`(?m)^[0-8 ]+drawn \d+$`)
	run := func(seed string) string {
		t.Setenv("KUBESIM_SEED", seed)
		code, stdout, stderr := ended("test", "-v", ".")
		if code != 0 {
			t.Fatal(stdout, stderr)
		}
		return drawn.FindString(stdout)
	}
	first := run("1")
	is.True(first != "")
	is.Equal(run("1"), first)
	is.True(run("2") != first)
}
