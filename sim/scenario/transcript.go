package scenario

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
)

// transcript records what happens in a World, as frames and as lines in the Result of the current operation. Its only
// inputs from the World are the cluster's time and newest revision.
type transcript struct {
	quiet   bool // nothing is recorded
	cluster *sim.Cluster
	clock   *clock.Manual // clock of the cluster
	begin   time.Time

	op       int       // the number of the current operation
	current  *Result   // the result of the current operation, or nil between operations
	lastTime time.Time // the time of the last line
	frames   []Frame
	print    *fingerprint
	ticked   time.Time // the time of the last frame
}

// start begins a new transcript for a cluster.
func (t *transcript) start(c *sim.Cluster) {
	t.goOn(c)
	t.begin = t.clock.Now()
	t.lastTime, t.ticked = t.begin, t.begin
	t.frames, t.print = nil, newFingerprint()
}

// goOn continues the transcript with another cluster.
func (t *transcript) goOn(c *sim.Cluster) { t.cluster, t.clock = c, c.Clock().(*clock.Manual) }

// Result is the result of an operation.
type Result struct {
	N       int      // the number of the operation, counted from 1
	Lines   []string // lines of the transcript
	OK      bool
	Failure string // description of the expectation that does not hold, or ""
	HTTP    *Exchange
	Watch   string // the name of the watch that the operation started
	Waiting bool   // the response has not arrived yet

	requests int // the number of requests sent
}

// say adds a line to the transcript of the current operation. If time has passed since the last line, it first adds a
// line with the new time.
func (t *transcript) say(format string, args ...any) {
	if t.current == nil || t.quiet {
		return
	}
	t.sayTime()
	t.current.Lines = append(t.current.Lines, "   "+fmt.Sprintf(format, args...))
}

// sayTime adds a line with the current time if time has passed since the last line.
func (t *transcript) sayTime() {
	if now := t.clock.Now(); !now.Equal(t.lastTime) {
		t.current.Lines = append(t.current.Lines, fmt.Sprintf("-- %s (+%s)", t.stamp(now), now.Sub(t.lastTime)))
		t.lastTime = now
	}
}

// stamp formats a time as the time elapsed since the World began.
func (t *transcript) stamp(at time.Time) string {
	d := at.Sub(t.begin)
	text := fmt.Sprintf("%02d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	if ms := d.Milliseconds() % 1000; ms != 0 {
		text += fmt.Sprintf(".%03d", ms)
	}
	return text
}

// fail records that an expectation does not hold.
func (t *transcript) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	t.add(Frame{Kind: CheckFail, Lane: "store", Text: text})
	if t.current == nil {
		return
	}
	t.say("FAILED: %s", text)
	if t.current.Failure == "" {
		t.current.Failure = text
	}
}

// add numbers and records a frame. If time has passed since the last frame, it first adds a clock.tick frame.
func (t *transcript) add(f Frame) uint64 {
	if t.quiet {
		return 0
	}
	t.tickFrame()
	return t.append(f)
}

func (t *transcript) tickFrame() {
	if now := t.clock.Now(); !now.Equal(t.ticked) {
		moved := now.Sub(t.ticked)
		t.ticked = now
		t.append(Frame{Kind: ClockTick, Lane: "store", Text: "+" + moved.String()})
	}
}

func (t *transcript) append(f Frame) uint64 {
	f.N = uint64(len(t.frames)) + 1
	f.VT = t.clock.Now().UnixMilli()
	f.Op = t.op
	if f.RV == 0 {
		f.RV = t.cluster.Revision()
	}
	if x := f.Exchange; x != nil && f.Kind == HTTPRequest {
		x.N = f.N
		f.Ref = fmt.Sprint(f.N)
	}
	t.frames = append(t.frames, f)
	t.print.add(&f)
	return f.N
}
