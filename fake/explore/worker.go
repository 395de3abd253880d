package explore

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/fake/chance"
	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// worker is a process that runs plans.
type worker struct {
	cmd    *exec.Cmd
	held   atomic.Pointer[func()] // lets the runtime preempt goroutines (chance.Start); nil if it may do so
	ask    io.WriteCloser
	answer *bufio.Reader
	pipe   io.Closer
	output *tailOf
	temp   string // its directory of temporary files: the process ends before the test would remove them
	failed bool   // it has ended, or can no longer be used
	err    error
	vain   atomic.Int64 // the number of progress checks since the worker last confirmed one
}

// start starts a worker.
func (t *team) start() *worker {
	return startProcess(t.local.t.Name(), workerVariable+"="+strconv.Itoa(t.call))
}

// startProcess starts the test binary for one test, with an additional environment variable. If it cannot start, the
// first job reports the error.
func startProcess(test, variable string) *worker {
	w := &worker{output: &tailOf{}}
	program, err := os.Executable()
	if err != nil {
		return &worker{failed: true, err: err, output: w.output}
	}
	in, ask, err := os.Pipe()
	if err != nil {
		return &worker{failed: true, err: err, output: w.output}
	}
	answer, out, err := os.Pipe()
	if err != nil {
		in.Close()
		ask.Close()
		return &worker{failed: true, err: err, output: w.output}
	}
	w.cmd = exec.Command(program, workerArgs(test)...)
	w.cmd.Env = append(repeatableEnv(os.Environ()), variable)
	if w.temp = tempDir(); w.temp != "" {
		w.cmd.Env = append(w.cmd.Env, "TMPDIR="+w.temp)
	}
	w.cmd.ExtraFiles = []*os.File{in, out}
	w.cmd.Stdout, w.cmd.Stderr = w.output, w.output
	w.ask, w.answer, w.pipe = ask, bufio.NewReader(answer), answer
	release, err := chance.Start(w.cmd, 1)
	if release != nil {
		w.held.Store(&release)
	}
	in.Close()
	out.Close()
	w.failed, w.err = err != nil, err
	return w
}

// tempDir creates a directory for temporary files, and returns "" if that is not possible. All names have the same length, because the
// addresses of a worker's values depend on it, and the iteration order of maps with pointers as keys depends on the addresses.
func tempDir() string {
	for range 100 {
		name := filepath.Join(os.TempDir(), fmt.Sprintf("kubesim-%010d", rand.Uint32()))
		if err := os.Mkdir(name, 0o700); err == nil {
			return name
		} else if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return ""
}

// workerArgs returns the arguments with which the binary runs only the given test. It keeps arguments that do not
// belong to package testing.
func workerArgs(test string) []string {
	args := []string{"-test.run=" + pattern(test), "-test.timeout=0", "-test.count=1"}
	for _, a := range os.Args[1:] {
		if !strings.HasPrefix(a, "-test.") && !strings.HasPrefix(a, "--test.") {
			args = append(args, a)
		}
	}
	return args
}

// do runs a plan. If the worker process ends while running it, that is a failure of the plan.
func (w *worker) do(p campaign.Plan, full bool) (out campaign.Outcome) {
	err := w.err
	if err == nil {
		err = w.send(job{Plan: p.String(), Full: full})
	}
	var line []byte
	if err == nil {
		stop := w.watch()
		line, err = w.read()
		stop()
	}
	if err == nil {
		err = json.Unmarshal(line, &out)
	}
	if err == nil {
		out.Disturbed = out.Disturbed && w.held.Load() == nil
		return out
	}
	w.failed = true
	if w.cmd != nil && w.cmd.Process != nil {
		w.ask.Close()
		if ended := w.wait(); ended != nil {
			err = ended
		}
	}
	return campaign.Outcome{Failures: []campaign.Failure{w.ended(err)}}
}

// release lets the runtime of the worker preempt goroutines.
func (w *worker) release() {
	if f := w.held.Swap(nil); f != nil {
		(*f)()
	}
}

// wait waits until the process has ended.
func (w *worker) wait() error {
	w.release()
	err := w.cmd.Wait()
	w.cmd = nil
	return err
}

// heardLine is the line with which a worker confirms a progress check.
const heardLine = "heard\n"

// read returns the next line that is not a confirmation.
func (w *worker) read() ([]byte, error) {
	for {
		line, err := w.answer.ReadBytes('\n')
		if err != nil || string(line) != heardLine {
			return line, err
		}
		w.vain.Store(0)
	}
}

// send sends one line.
func (w *worker) send(j job) error {
	line, err := json.Marshal(j)
	if err == nil {
		_, err = w.ask.Write(append(line, '\n'))
	}
	return err
}

// watch sends progress checks to the worker until stop is called. If the worker does not confirm them for a long time,
// watch ends it, so that it prints its stacks.
func (w *worker) watch() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(checkEvery)
		defer ticker.Stop()
		could := couldRun{queued: queued(w.cmd.Process.Pid)}
		for w.vain.Store(0); ; {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			if !could.tick(queued(w.cmd.Process.Pid)) {
				continue
			}
			vain := w.vain.Add(1)
			if vain > holdChecks {
				w.release()
			}
			if vain > 2*busyChecks {
				quit(w.cmd.Process)
			} else if w.send(job{Look: true}) != nil {
				return // the process has ended
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// couldRun measures the time in which a worker could make progress. On a busy machine that is less than the real time.
type couldRun struct {
	queued time.Duration // at the last tick: the total time for which it waited for a processor
	left   time.Duration // the time since the last check in which it did not wait for one
}

// tick is called after each checkEvery. It reports whether a progress check is due.
func (c *couldRun) tick(queued time.Duration) bool {
	waited := min(max(queued-c.queued, 0), checkEvery) // less than 0 if a thread has ended
	c.queued = queued
	if c.left += checkEvery - waited; c.left < checkEvery {
		return false
	}
	c.left -= checkEvery
	return true
}

// ended returns the failure that describes why a worker has ended.
func (w *worker) ended(err error) campaign.Failure {
	text := w.output.String()
	if _, report, ok := strings.Cut(text, hangMark); ok {
		return campaign.Failure{Site: campaign.SiteHang, Text: strings.TrimSpace(report)}
	}
	if at := strings.Index(text, "panic: "); at >= 0 {
		return campaign.Failure{Site: campaign.SitePanic, Text: text[at:]}
	}
	if at := strings.Index(text, "fatal error: "); at >= 0 {
		return campaign.Failure{Site: campaign.SitePanic, Text: text[at:]}
	}
	return campaign.Failure{Site: campaign.SiteWorker, Text: fmt.Sprintf("the process that runs the test ended: %v\n%s", err, text)}
}

// close ends the process.
func (w *worker) close() {
	if w.ask != nil {
		w.ask.Close()
		w.pipe.Close()
	}
	if w.cmd != nil {
		_ = w.wait() // the error does not matter any more
	}
	if w.temp != "" {
		_ = os.RemoveAll(w.temp)
	}
}

// tailOf is a writer that retains the end of its input.
type tailOf struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const tailMost = 1 << 20

// Write implements io.Writer.
func (t *tailOf) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.buf.Len() > tailMost {
		t.buf.Next(t.buf.Len() - tailMost/2)
	}
	return t.buf.Write(p)
}

// String returns the retained text.
func (t *tailOf) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
