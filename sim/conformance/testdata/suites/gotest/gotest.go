// Package gotest runs the tests of other projects, over one server and over another, and keeps how each of them ended:
//
//	module proxy ─▶ Fetch ─▶ go test -c ─▶ test2json ─▶ ReadTests ─▶ Results ─▶ Verdicts, a file
//
// Commands suites and integration are built on it.
package gotest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Fetch copies a module, path@version, from the module proxy into a writable folder, unless it is there.
func Fetch(ctx context.Context, module, folder string) error {
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
		return nil
	}
	dir, err := Download(ctx, module)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	partial := folder + ".partial"
	if err := errors.Join(os.RemoveAll(partial), CopyTree(dir, partial)); err != nil {
		return err
	}
	return os.Rename(partial, folder)
}

// Download downloads a module, path@version, into the module cache and returns its folder there.
func Download(ctx context.Context, module string) (string, error) {
	out, err := Command(ctx, os.TempDir(), "go", "mod", "download", "-json", module)
	if err != nil {
		return "", err
	}
	var cached struct{ Dir string }
	return cached.Dir, errors.Join(json.Unmarshal(out, &cached))
}

// CopyTree copies a folder of the module cache; the copies can be written to.
func CopyTree(from, to string) error {
	return filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(file, from)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}

// Command runs a program in a folder and returns its output. If it fails, the error has what it printed on stderr.
func Command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	var out, complaint bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &complaint
	c.Env = append(os.Environ(), "GOWORK=off", "PWD="+dir)
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out.Bytes(), complaint.Bytes())
	}
	return out.Bytes(), nil
}

// Run is one run of a test binary.
type Run struct {
	File   string // the binary
	Dir    string // the package's folder
	Path   string // of the package, for the events
	Args   []string
	Env    []string
	Limit  time.Duration // for all tests
	Silent time.Duration // maximal time without output; 0 means no limit
	Events string        // a file for the events of test2json and for stderr
}

// Start runs the binary like go test. A failing test is not an error. If the binary prints nothing for too long, Start ends it and does
// not return an error either.
func (r Run) Start(ctx context.Context) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := os.Create(r.Events)
	if err != nil {
		return err
	}
	defer events.Close()
	args := []string{"tool", "test2json", "-t", "-p", r.Path, r.File, "-test.v=test2json", "-test.paniconexit0", "-test.timeout=" + r.Limit.String()}
	c := exec.CommandContext(within, "go", append(args, r.Args...)...)
	c.Dir, c.Env, c.Stdout, c.Stderr = r.Dir, r.Env, events, events
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 10 * time.Second // servers that a test leaves behind may hold the pipe
	if r.Silent > 0 {
		go endSilent(within, cancel, events, r.Silent)
	}
	if err := c.Run(); err != nil && c.ProcessState == nil {
		return err
	}
	return ctx.Err()
}

// endSilent calls end when a file has not grown for a while.
func endSilent(ctx context.Context, end func(), file *os.File, limit time.Duration) {
	var size int64
	grown := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(limit / 20):
		}
		switch info, err := file.Stat(); {
		case err != nil:
			return
		case info.Size() != size:
			size, grown = info.Size(), time.Now()
		case time.Since(grown) > limit:
			end()
			return
		}
	}
}

// EndLeft ends the servers that tests have left behind: the processes that were given the folder for temporary files. It
// does nothing where there is no /proc.
func EndLeft(temp string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(env), "\x00TMPDIR="+temp+"\x00") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}
