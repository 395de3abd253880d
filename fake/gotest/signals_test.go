//go:build linux

package gotest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
)

// A signal to kubesim gotest alone, and not to its process group, ends go test and the tests. A run with many seeds prints the result of
// the seeds so far, although an interrupted go test does not print the output of a package whose name was given. As in the background of
// a shell script, SIGINT is ignored when kubesim gotest starts.
func TestInterrupt(t *testing.T) {
	for name, args := range map[string][]string{
		"seeds":        {"--repeat=5"},
		"seeds in one": {"--repeat=5", "-v"}, // go test prints the output at once
		"events":       {"--repeat=5", "-json"},
		"once":         {},
		"real time":    {"--real"},
	} {
		for s, sent := range map[string]syscall.Signal{"interrupt": syscall.SIGINT, "terminate": syscall.SIGTERM} {
			t.Run(name+"/"+s, func(t *testing.T) {
				is := is.New(t)
				stdout, stderr, code := interrupted(t, sent, args...)
				t.Log(stdout + stderr)
				is.Equal(code, 1)
				if len(args) == 0 || args[0] == "--real" {
					return
				}
				is.Equal(strings.Count(stdout, "interrupted after 2 seeds in "), 1)
				is.Equal(strings.Count(stdout, "no test fails with the seeds 1 to 2"), 1)
				is.True(strings.Contains(stderr, "kubesim gotest: example.com/draws: 2 seeds, "))
			})
		}
	}
}

// The tests also end if kubesim gotest is killed.
func TestKilled(t *testing.T) {
	is := is.New(t)
	temp, err := os.MkdirTemp("", "killed-") // t.TempDir would fail if a killed process left a child that still writes
	is.NoErr(err)
	defer os.RemoveAll(temp)
	t.Setenv("TMPDIR", temp)
	for _, args := range [][]string{{"--repeat=5"}, {}} {
		_, _, code := interrupted(t, syscall.SIGKILL, args...)
		is.Equal(code, -1)
	}
}

// interrupted runs kubesim gotest in a process, and its tests send a signal to it. It returns the output and the exit code, after the test
// binary has ended.
func interrupted(t *testing.T, sent syscall.Signal, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	is := is.New(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	is.NoErr(syscall.Mkfifo(fifo, 0o600))
	ended := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(fifo)
		ended <- err
	}()
	t.Setenv("GOTEST_FIFO", fifo)
	t.Setenv("GOTEST_SIGNAL", strconv.Itoa(int(sent)))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args = append(append(buildArgs(t, "draws"), args...), "-run=TestInterrupt", ".")
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `trap "" INT; exec "$0" "$@"`, os.Args[0], gotestCommand}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	is.True(errors.As(err, new(*exec.ExitError)))
	select {
	case err := <-ended:
		is.NoErr(err)
	case <-ctx.Done():
		t.Fatal("the test binary has not ended")
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// A program that does not react to an interrupt is killed, and so are its children.
func TestStubborn(t *testing.T) {
	is := is.New(t)
	f := newForwarder()
	defer f.close()
	f.grace = 10 * time.Millisecond
	began := time.Now()
	interrupted, err := f.run(exec.Command("sh", "-c", `trap "" INT; kill -INT $PPID; sleep 60; sleep 60`), 0)
	is.True(interrupted)
	is.True(errors.As(err, new(*exec.ExitError)))
	is.True(time.Since(began) < 30*time.Second)
}
