package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// serve runs the server process of an endurance run: a server with TLS and the real clock. It prints its address, and responds to
// each line "rest" on its input with its condition: heap size in bytes, number of goroutines, and processor time so far in
// nanoseconds.
func serve(in io.Reader, out io.Writer, archive string) error {
	srv, err := fake.New(fake.Options{Clock: clock.System{}, Archive: archive})
	if err != nil {
		return err
	}
	defer srv.Close()
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, l.URL(), base64.StdEncoding.EncodeToString(l.CA()))
	for lines := bufio.NewScanner(in); lines.Scan(); {
		srv.Expire()
		for n := -1; n != runtime.NumGoroutine(); time.Sleep(100 * time.Millisecond) { // wait for connections that have just been closed
			n = runtime.NumGoroutine()
		}
		runtime.GC()
		runtime.GC() // also frees objects with finalizers
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return err
		}
		fmt.Fprintln(out, m.HeapAlloc, runtime.NumGoroutine(), u.Utime.Nano()+u.Stime.Nano())
	}
	return srv.DataError()
}

// child is a running server process.
type child struct {
	process *exec.Cmd
	url     string
	ca      []byte
	in      io.WriteCloser
	out     *bufio.Reader
}

// condition is the resource usage of an idle server.
type condition struct {
	heap       int64 // bytes
	goroutines int
	cpu        time.Duration
}

// startChild starts this program again as a server with the given archive file, and reads its URL and CA.
func startChild(ctx context.Context, archive string) (*child, error) {
	c := &child{process: exec.CommandContext(ctx, os.Args[0], "-serve", archive)}
	c.process.Stderr = os.Stderr
	out, err := c.process.StdoutPipe()
	if err == nil {
		c.in, err = c.process.StdinPipe()
	}
	if err == nil {
		err = c.process.Start()
	}
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	line, err := c.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	url, ca, _ := strings.Cut(strings.TrimSpace(line), " ")
	c.url = url
	c.ca, err = base64.StdEncoding.DecodeString(ca)
	return c, err
}

// rest returns the current condition of the server.
func (c *child) rest() (r condition, err error) {
	if _, err := io.WriteString(c.in, "rest\n"); err != nil {
		return r, err
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		return r, err
	}
	words := strings.Fields(line)
	if len(words) != 3 {
		return r, fmt.Errorf("the server says %q", line)
	}
	heap, err1 := strconv.ParseInt(words[0], 10, 64)
	goroutines, err2 := strconv.Atoi(words[1])
	cpu, err3 := strconv.ParseInt(words[2], 10, 64)
	return condition{heap, goroutines, time.Duration(cpu)}, errors.Join(err1, err2, err3)
}

// stop ends the server process and waits for it.
func (c *child) stop() error {
	c.in.Close()
	return c.process.Wait()
}
