package explore

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"

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
