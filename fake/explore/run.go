package explore

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/chance"
	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// traceRecords is the number of trace records kept per run. Ten busy minutes produce fewer.
const traceRecords = 200_000

// tailSteps is the number of trace lines shown for a failed run.
const tailSteps = 20

// testUnderPlan is a test that runs under plans.
type testUnderPlan struct {
	t       *testing.T
	options fake.ExploreOptions
	body    func(fake.T, *fake.Server)
	capture *capture
	begin   *sim.State // what Prepare has stored; nil before it was called
}

// run runs the test under a plan, in its own bubble. If full is true, the outcome contains the hash and the last
// events.
func (x *testUnderPlan) run(p campaign.Plan, full bool) (out campaign.Outcome) {
	began := time.Now()
	text := x.capture.captureOutput(func() { x.bubble(p, full, &out) })
	out.Took = time.Since(began)
	if len(out.Failures) > 0 {
		out.Output = text + out.Output
	}
	return out
}

// bubble runs the test in a bubble and fills in the outcome. Goroutines that are still running at the end are a
// failure, unless the test has processes (fake.Server.Process): the goroutines of a real process end with it.
func (x *testUnderPlan) bubble(p campaign.Plan, full bool, out *campaign.Outcome) {
	defer watched.Store(nil)
	processes := 0
	defer func() {
		if broken := recover(); broken != nil && processes == 0 && len(out.Failures) == 0 {
			out.Failures = append(out.Failures, campaign.Failure{Site: campaign.SiteLeak,
				Text: fmt.Sprintf("%v: goroutines that the test has started do not end with it", broken)})
		}
	}()
	if out.Failures = x.prepare(); len(out.Failures) > 0 {
		return
	}
	synctest.Test(x.t, func(t *testing.T) {
		r := newRecorder(t)
		if x.begin != nil {
			time.Sleep(time.Until(x.begin.History.Now))
		}
		tr := newTrial(p, full)
		o := x.server()
		o.Clock, o.Seed = tr.clock, p.Seed
		o.Trace, o.NoHashes = traceRecords, !full
		if err := fake.RunTrial(r, o, tr, x.begin); err != nil {
			r.Errorf("kubesim: the server does not start: %v", err)
			out.Failures = r.failures
			return
		}
		s := tr.server
		watched.Store(s)
		itself := func() { atomic.StoreUintptr(&tr.body, chance.Goroutine()) }
		r.runIsolated(itself, func() { x.body(r, s) })
		if full && (tr.isCalm() || len(p.Items) == 0) {
			s.AtRest(newRecorder(t), 0) // let the clients finish, so that their writes can be compared; a failure does not matter
		}
		s.Heal()
		tr.collect(x, r, out)
		close(tr.ended)
		r.clean(itself)
		processes = len(s.Processes())
		tr.recordOutcome(r, full, out)
		out.Disturbed = tr.draws.disturbed.Load()
		s.Close()
		if processes > 0 {
			time.Sleep(polled)
		}
	})
}

// polled is the virtual time for which a run waits at its end for the goroutines of ended processes. Some of them look only once in a while
// whether they shall end, such as those of work queues. Otherwise each would keep its bubble in memory, with all timers of the run.
const polled = 10 * time.Second

// server returns the options of the servers.
func (x *testUnderPlan) server() fake.Options {
	o := x.options.Server
	if len(o.Replicas) == 0 {
		o.Replicas = make([]fake.ReplicaOptions, replicasDefault)
	}
	o.Replicas = append(slices.Clone(o.Replicas), o.Replicas[0]) // an additional server: see trial.own
	return o
}

// bubblesBegin is the time at which a testing/synctest bubble begins.
var bubblesBegin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// prepare calls the test's Prepare unless the process has already called it. It returns the failures.
func (x *testUnderPlan) prepare() []campaign.Failure {
	if x.options.Prepare == nil || x.begin != nil {
		return nil
	}
	r := newRecorder(x.t)
	o := x.server()
	o.Clock, o.Seed = clock.NewManual(bubblesBegin), 1
	r.runIsolated(func() {}, func() {
		begin, err := fake.Prepare(r, o, func(s *fake.Server) { x.options.Prepare(r, s) })
		if err != nil {
			r.Errorf("kubesim: Prepare: %v", err)
		}
		if !r.Failed() {
			x.begin = begin
		}
	})
	r.clean(func() {})
	return r.failures
}

// capture is a file that receives the standard output and standard error of tests. If nil, they are not redirected.
type capture struct{ file *os.File }

func newCapture() *capture {
	file, err := os.Create(filepath.Join(os.TempDir(), "kubesim-output")) // no other process has this directory
	if err != nil {
		return nil
	}
	os.Remove(file.Name()) // the file exists until it is closed
	return &capture{file}
}

// captureOutput runs f and returns its output.
func (c *capture) captureOutput(f func()) (text string) {
	if c == nil {
		f()
		return ""
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = c.file, c.file
	defer func() {
		os.Stdout, os.Stderr = stdout, stderr
		n, err := c.file.Seek(0, io.SeekCurrent)
		if err != nil || n == 0 {
			return
		}
		data := make([]byte, n)
		n2, _ := c.file.ReadAt(data, 0) // output that cannot be read is not shown
		text = string(data[:n2])
		_, _ = c.file.Seek(0, io.SeekStart)
	}()
	f()
	return text
}

// recordOutcome records the failures in out, and details about them if full is true.
func (t *trial) recordOutcome(r *recorder, full bool, out *campaign.Outcome) {
	r.mu.Lock()
	out.Failures, out.Output = r.failures, r.output.String()
	r.mu.Unlock()
	if !full {
		return
	}
	log := t.server.Trace()
	out.Hash = log.Hash
	if len(out.Failures) > 0 {
		t.mu.Lock()
		out.Sent = t.sent
		t.mu.Unlock()
		marks := t.server.Marks()
		records, stopped := t.untilStop(eventful(log.Records), marks)
		log.Records = records
		out.Timeline = log.Report(trace.ReportOptions{Lines: tailSteps, Marked: marks}) + stopped
	}
}

// untilStop removes the records after the last request of a client under test and its consequences, unless a later record
// is marked. It returns the rest, and a line with the time for which the clients sent no further requests.
func (t *trial) untilStop(records []trace.Record, marks []uint64) (rest []trace.Record, stopped string) {
	last, own := -1, map[uint64]bool{} // own are the records of the clients' requests and of their consequences
	for i := range records {
		r := &records[i]
		switch {
		case r.Site == trace.RequestArrived && !r.Spared && !strings.HasPrefix(r.What, "leases.") && !strings.HasPrefix(r.What, "/"):
			own[r.N] = true
		case own[r.Cause]:
			own[r.N] = true
		}
		if own[r.N] || slices.Contains(marks, r.N) {
			last = i
		}
	}
	if last < 0 || last == len(records)-1 {
		return records, ""
	}
	return records[:last+1], fmt.Sprintf("%7s the clients sent no further writes until the end, %v later\n", "…",
		records[len(records)-1].At.Sub(records[last].At).Round(time.Second))
}

// eventful removes successful reads and bookmarks, because polling of controllers is not worth reporting.
func eventful(records []trace.Record) []trace.Record {
	reads, answers := map[uint64]bool{}, map[uint64]int{}
	for i := range records {
		switch r := &records[i]; r.Site {
		case trace.RequestArrived:
			reads[r.N] = r.Verb == "get" || r.Verb == "list" || r.Verb == "watch"
		case trace.RequestAnswered:
			answers[r.Cause] = r.Code
		}
	}
	return slices.DeleteFunc(records, func(r trace.Record) bool {
		request := r.Cause
		switch r.Site {
		case trace.WatchSent:
			return r.Verb == watchcache.Bookmark
		case trace.RequestArrived:
			request = r.N
		case trace.RequestDecided, trace.RequestAnswered:
		default:
			return false
		}
		return reads[request] && answers[request] < http.StatusBadRequest
	})
}
