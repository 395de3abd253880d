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

// workerVariable is set in the environment of a worker. Its value is the number of the call of Explore in the test, counted from 1.
const workerVariable = "KUBESIM_EXPLORE_WORKER"

func isWorker() bool { return os.Getenv(workerVariable) != "" }

func workerCall() int {
	n, _ := strconv.Atoi(os.Getenv(workerVariable)) // 0 is no call
	return n
}

// job is a request to a worker, a line of JSON. The answer is a campaign.Outcome, also on one line. Look has no outcome: the worker
// confirms it with heardLine, or prints a report and ends.
type job struct {
	Plan string `json:",omitempty"`
	Full bool   `json:",omitempty"`
	Look bool   `json:",omitempty"`
}

// team runs plans: in processes of the test binary, several at a time, or in this one where no others can be started.
//
//	search ─ plans ─▶ team ─┬─ job, fd 3 ─▶ worker: a bubble for each ─ Outcome, fd 4 ─▶
//	                        └─ …
type team struct {
	local   *testUnderPlan
	call    int
	free    chan *worker // nil workers are started when they are needed
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
	return t.each([]campaign.Plan{p}, full)[0]
}

// all runs plans, and returns what came of each, in their order.
func (t *team) all(plans []campaign.Plan) []campaign.Outcome { return t.each(plans, false) }

// allFull is all with hashes and with what happened.
func (t *team) allFull(plans []campaign.Plan) []campaign.Outcome { return t.each(plans, true) }

func (t *team) each(plans []campaign.Plan, full bool) []campaign.Outcome {
	out := make([]campaign.Outcome, len(plans))
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
			if w == nil {
				w = t.start()
			}
			out[i] = w.do(p, full)
			if w.failed {
				w.close()
				w = nil
			}
			t.free <- w
		})
	}
	all.Wait()
	return out
}

// canExec reports whether processes can be started here.
const canExec = hasPipes

// worker is a process that runs plans.
type worker struct {
	cmd    *exec.Cmd
	ask    io.WriteCloser
	answer *bufio.Reader
	pipe   io.Closer
	output *tailOf
	failed bool // it has ended, or cannot be used any more
	err    error
	vain   atomic.Int64 // how often it was looked whether it moves on since it last heard that
}

// start starts a worker.
func (t *team) start() *worker {
	return startProcess(t.local.t.Name(), workerVariable+"="+strconv.Itoa(t.call))
}

// startProcess starts the test binary for one test, with one more variable. If it does not start, the first job reports the error.
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
	w.cmd.ExtraFiles = []*os.File{in, out}
	w.cmd.Stdout, w.cmd.Stderr = w.output, w.output
	w.ask, w.answer, w.pipe = ask, bufio.NewReader(answer), answer
	err = chance.Start(w.cmd, 1)
	in.Close()
	out.Close()
	w.failed, w.err = err != nil, err
	return w
}

// workerArgs are the arguments of the binary that lead to a test and nothing else; those of the project's own stay.
func workerArgs(test string) []string {
	args := []string{"-test.run=" + pattern(test), "-test.timeout=0", "-test.count=1"}
	for _, a := range os.Args[1:] {
		if !strings.HasPrefix(a, "-test.") && !strings.HasPrefix(a, "--test.") {
			args = append(args, a)
		}
	}
	return args
}

// do runs a plan. A worker that ends over it has failed at it.
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
		return out
	}
	w.failed = true
	if w.cmd != nil && w.cmd.Process != nil {
		w.ask.Close()
		if ended := w.cmd.Wait(); ended != nil {
			err = ended
		}
		w.cmd = nil
	}
	return campaign.Outcome{Failures: []campaign.Failure{w.ended(err)}}
}

// heardLine is a worker's line that confirms a look.
const heardLine = "heard\n"

// read returns the next line that is an answer.
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

// watch asks the worker again and again whether it moves on, until stop is called. One that does not even hear that for long
// is ended, and prints its stacks.
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
			if w.vain.Add(1) > 2*busyChecks {
				quit(w.cmd.Process)
			} else if w.send(job{Look: true}) != nil {
				return // it has ended
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// ended returns the reason why a worker has ended.
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
		_ = w.cmd.Wait() // it has nothing more to say
	}
}

// tailOf is a writer that keeps the end of its input.
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

// serve runs plans for another process, until that wants no more, and ends this one.
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
		if calm.Seed != 0 && len(p.Items) > 0 { // each process begins with a run without trouble, which an Outcome compares with
			repeatably(calm.Seed, func() { x.run(calm, false) })
		}
		calm.Seed = 0
		var o campaign.Outcome
		for n := 0; n == 0 || j.Full && o.Disturbed && n < attemptsAtPeace; n++ {
			repeatably(p.Seed, func() { o = x.run(p, j.Full) })
		}
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

// hear reads the messages of the parent. Jobs go to the channel jobs, which is nil if only looks are expected. hear waits in the runtime's
// poller, so it does not affect the scheduling of goroutines until a message arrives.
func hear(in io.Reader, jobs chan<- job) {
	if jobs != nil {
		defer close(jobs)
	}
	dog := &watchdog{report: reportAndExit}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return // the parent is done
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
