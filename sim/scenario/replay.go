package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/fault"
)

// traceFormat is the format of trace files. ParseTrace rejects all other formats.
const traceFormat = "kubesim scenario trace 1"

// TraceHeader is the first line of a trace file: the data needed to run the scenario again, and the result.
//
//	{"format":"kubesim scenario trace 1","version":"v1.36.3","seed":"7","scenario":"…",…}   the header
//	{"fault":"on update …","site":"…","nth":1,…}    one line for each decision
//	{"n":1,"vt":…,"kind":"http.req",…}              one line for each frame
type TraceHeader struct {
	Format    string `json:"format"`
	Version   string `json:"version"` // the version of the simulated server
	Seed      uint64 `json:"seed,string"`
	Faults    string `json:"faults,omitempty"`
	Lenient   bool   `json:"lenient,omitempty"`
	Scenario  string `json:"scenario"`
	Failure   string `json:"failure,omitempty"`
	Hash      string `json:"hash"`
	Semantic  string `json:"semantic"`
	Decisions int    `json:"decisions"`
	Frames    int    `json:"frames"`
}

// Trace is a trace file.
type Trace struct {
	Header    TraceHeader
	Decisions [][]byte
	Frames    [][]byte
}

// Trace returns the trace of a run of f with the options o.
func (out *Outcome) Trace(f *File, o RunOptions) *Trace {
	t := &Trace{Header: TraceHeader{Format: traceFormat, Version: sim.Version, Seed: o.Seed, Faults: o.Faults,
		Lenient: o.Lenient, Scenario: string(f.Format()), Hash: out.Hash, Semantic: out.Semantic}}
	if out.Failure != nil {
		t.Header.Failure = fmt.Sprintf("line %d: %s", out.Failure.Line, out.Failure.Text)
	}
	list, _ := out.World.Cluster().FaultDecisions()
	for _, d := range list {
		if line, err := d.MarshalJSON(); err == nil {
			t.Decisions = append(t.Decisions, line)
		}
	}
	for _, frame := range out.World.Frames(0) {
		t.Frames = append(t.Frames, frame.AppendJSON(nil))
	}
	t.Header.Decisions, t.Header.Frames = len(t.Decisions), len(t.Frames)
	return t
}

// JSONL returns the trace file.
func (t *Trace) JSONL() []byte {
	head, err := json.Marshal(t.Header)
	if err != nil {
		panic("scenario: a header that is not JSON: " + err.Error()) // cannot fail: the fields are strings, numbers and booleans
	}
	out := append(head, '\n')
	for _, line := range append(append([][]byte(nil), t.Decisions...), t.Frames...) {
		out = append(append(out, line...), '\n')
	}
	return out
}

// ParseTrace parses a trace file. It returns an error if the header is invalid or of another format, or if lines are missing.
func ParseTrace(data []byte) (*Trace, error) {
	lines := bytes.Split(bytes.TrimRight(data, "\n"), []byte("\n"))
	t := &Trace{}
	if err := json.Unmarshal(lines[0], &t.Header); err != nil {
		return nil, fmt.Errorf("line 1 is not the header of a trace: %w; kubesim run SCENARIO --trace FILE writes one", err)
	}
	if h := t.Header; h.Format != traceFormat {
		return nil, fmt.Errorf("line 1: the format is %q, not %q: another version of kubesim wrote it", h.Format, traceFormat)
	}
	lines = lines[1:]
	d, n := t.Header.Decisions, t.Header.Frames
	if d < 0 || n < 0 || d > len(lines) || n != len(lines)-d {
		return nil, fmt.Errorf("the header speaks of %d decisions and %d frames, and %d lines follow: the file is not whole",
			d, n, len(lines))
	}
	t.Decisions, t.Frames = lines[:d:d], lines[d:]
	return t, nil
}

// Replay runs the scenario of a trace again with the recorded fault decisions, and compares the frames. difference
// describes the first frame that differs, and is "" if all frames are equal.
func (t *Trace) Replay() (out *Outcome, difference string, err error) {
	f, err := ParseFile([]byte(t.Header.Scenario))
	if err != nil {
		return nil, "", fmt.Errorf("the scenario in the trace: %w", err)
	}
	decisions, err := fault.ParseDecisions(t.Decisions)
	if err != nil {
		return nil, "", fmt.Errorf("the decisions in the trace: %w", err)
	}
	h := t.Header
	if out, err = Run(f, RunOptions{Seed: h.Seed, Faults: h.Faults, Lenient: h.Lenient, Decisions: decisions}); err != nil {
		return nil, "", err
	}
	now := out.Trace(f, RunOptions{}).Frames
	for i := range min(len(now), len(t.Frames)) {
		if !bytes.Equal(now[i], t.Frames[i]) {
			return out, fmt.Sprintf("frame %d\nwas %s\nis  %s", i+1, t.Frames[i], now[i]), nil
		}
	}
	switch {
	case len(now) != len(t.Frames):
		return out, fmt.Sprintf("there were %d frames, now there are %d; the first ones are the same", len(t.Frames), len(now)), nil
	case out.Hash != h.Hash:
		return out, "the frames are the same, and what requests, answers and events carry is not: the hash was " + h.Hash +
			" and is " + out.Hash, nil
	}
	return out, "", nil
}
