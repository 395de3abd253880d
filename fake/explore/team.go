package explore

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/fake/chance"
	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// workerVariable is set in the environment of a worker. Its value is the number of the call to Explore in the test,
// counted from 1.
const workerVariable = "KUBESIM_EXPLORE_WORKER"

func isWorker() bool { return os.Getenv(workerVariable) != "" }

func workerCall() int {
	n, _ := strconv.Atoi(os.Getenv(workerVariable)) // 0 does not match any call
	return n
}

// job is a request to a worker, as a line of JSON. The response is a campaign.Outcome, also on one line. If Look is
// set, the job is a progress check: the worker confirms it with heardLine, or prints a report and exits.
type job struct {
	Plan string `json:",omitempty"`
	Full bool   `json:",omitempty"`
	Look bool   `json:",omitempty"`
}

// team runs plans in several processes of the test binary concurrently, or in this process if it cannot start others.
//
//	search ─ plans ─▶ team ─┬─ job, fd 3 ─▶ worker: one bubble per job ─ Outcome, fd 4 ─▶
//	                        └─ …
type team struct {
	local   *testUnderPlan
	call    int
	free    chan *worker // a nil worker is started when it is needed
	workers int
}

func newTeam(x *testUnderPlan, call int) *team {
	n := x.options.Workers
	if n <= 0 {
		n = runtime.NumCPU()
	}
	if runtime.GOOS == "js" {
		n = 1
	}
	t := &team{local: x, call: call, workers: n, free: make(chan *worker, n)}
	for range n {
		t.free <- nil
	}
	return t
}

// close ends the workers.
func (t *team) close() {
	for range t.workers {
		if w := <-t.free; w != nil {
			w.close()
		}
	}
}

// run runs one plan.
func (t *team) run(p campaign.Plan, full bool) campaign.Outcome {
	return t.each([]campaign.Plan{p}, full, 1)[0]
}

// all runs plans and returns their outcomes in the same order.
func (t *team) all(plans []campaign.Plan) []campaign.Outcome { return t.each(plans, false, 1) }

// allFull is like all, but the outcomes contain hashes and the last events, and each run has a separate process, so
// that it does not depend on state that earlier runs have left in a process. It repeats runs that had to wait for the
// machine.
func (t *team) allFull(plans []campaign.Plan) []campaign.Outcome {
	return t.each(plans, true, attemptsAlone)
}

// attemptsAlone is the maximum number of attempts to run in a separate process without waiting for the machine.
const attemptsAlone = 3

// each runs plans and returns their outcomes in the same order, without known failures.
func (t *team) each(plans []campaign.Plan, full bool, attempts int) []campaign.Outcome {
	out := make([]campaign.Outcome, len(plans))
	defer func() {
		for i := range out {
			out[i].Forget(t.local.options.Known)
		}
	}()
	if !canExec {
		for i, p := range plans {
			out[i] = t.local.run(p, full)
		}
		return out
	}
	var all sync.WaitGroup
	for i, p := range plans {
		w := <-t.free
		all.Go(func() {
			for n := 0; n == 0 || out[i].Disturbed && n < attempts; n++ {
				w, out[i] = t.do(w, p, full)
			}
			t.free <- w
		})
	}
	all.Wait()
	return out
}

// do runs a plan in w, or in a new worker if w is nil or full is true. It returns the worker, or nil if that has ended.
func (t *team) do(w *worker, p campaign.Plan, full bool) (*worker, campaign.Outcome) {
	if w != nil && full {
		w.close()
		w = nil
	}
	if w == nil {
		w = t.start()
	}
	out := w.do(p, full)
	if w.failed {
		w.close()
		w = nil
	}
	return w, out
}

// canExec reports whether this process can start others.
const canExec = hasPipes

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
	if w.temp, err = os.MkdirTemp("", "kubesim-"); err == nil {
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
		for w.vain.Store(0); ; {
			select {
			case <-done:
				return
			case <-ticker.C:
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

// answering is held while a line is written to the parent.
var answering sync.Mutex

// serve runs plans for the parent process until that process closes the pipe, and then ends this process.
func (x *testUnderPlan) serve() {
	in, out := pipes()
	x.capture = newCapture()
	steady()
	jobs := make(chan job)
	go hear(in, jobs)
	calm := campaign.Plan{Seed: x.options.Seed}
	for j := range jobs {
		p, err := campaign.Parse(j.Plan)
		if err != nil {
			x.t.Fatalf("kubesim: a worker cannot read its plan: %v", err)
		}
		if calm.Seed != 0 && len(p.Items) > 0 { // a process must begin with a run without faults, because fake.Outcome compares later runs with it
			repeatably(calm.Seed, func() { x.run(calm, false) })
		}
		calm.Seed = 0
		var o campaign.Outcome
		repeatably(p.Seed, func() { o = x.run(p, j.Full) })
		answer, err := json.Marshal(o)
		if err == nil {
			answering.Lock()
			_, err = out.Write(append(answer, '\n'))
			answering.Unlock()
		}
		if err != nil {
			x.t.Fatalf("kubesim: a worker cannot answer: %v", err)
		}
	}
	os.Exit(0)
}

// hear reads the messages of the parent and sends the jobs among them to the channel jobs. The channel is nil if only
// progress checks are expected. hear blocks in the runtime's poller, so it does not affect the scheduling of goroutines
// until a message arrives.
func hear(in io.Reader, jobs chan<- job) {
	if jobs != nil {
		defer close(jobs)
	}
	dog := &watchdog{report: reportAndExit}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return // the parent has closed the pipe
		}
		var j job
		if err := json.Unmarshal(line, &j); err != nil {
			reportAndExit(fmt.Sprintf("a worker cannot read its job: %v", err))
		}
		if j.Look {
			dog.check()
			acknowledgeCheck()
			continue
		}
		jobs <- j
	}
}
