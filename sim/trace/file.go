package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Format is the version of the lines that JSONL prints. Parse reads no other.
const Format = 1

// Header describes a recorded run.
//
//	{"trace":1,"seed":7,"versions":["v1.36.3"],"go":"go1.26","module":"v0.3.0","level":"legal","hash":"…","semantic":"…"}
//	{"decision":{"fault":"on update pods do fail Conflict","site":"request.decided update pods default/a","nth":1,"fired":true}}
//	{"n":1,"t":"2026-01-01T00:00:00Z","site":"request.arrived",…}
type Header struct {
	Seed     uint64    `json:"seed,omitempty"`     // of the cluster; 0 if unknown
	Versions []string  `json:"versions,omitempty"` // of the API servers, in their order
	Go       string    `json:"go,omitempty"`       // version that the simulator was compiled with
	Module   string    `json:"module,omitempty"`   // version of the simulator
	Level    string    `json:"level,omitempty"`    // of the faults: legal, degraded or illegal; empty if there were none
	Dropped  uint64    `json:"dropped,omitempty"`  // number of records that were dropped before the first one
	Start    time.Time `json:"start,omitzero"`     // of the first record, if records were dropped
	Hash     string    `json:"hash,omitempty"`     // of all records, dropped ones included; "" when none was kept
	Semantic string    `json:"semantic,omitempty"` // fingerprint of the outcome; "" if none was kept
}

// headerLine is a Header as a line of JSON.
type headerLine struct {
	Trace int `json:"trace"`
	Header
}

// AppendJSON appends the header as one line of JSON without its end.
func (h *Header) AppendJSON(b []byte) []byte {
	line, err := json.Marshal(headerLine{Format, *h})
	if err != nil {
		panic("trace: a header cannot be printed: " + err.Error())
	}
	return append(b, line...)
}

// JSONL prints the header, the decisions and the records as lines of JSON. Parse reads them.
func (l *Log) JSONL() []byte {
	b := append(l.Header.AppendJSON(nil), '\n')
	for _, d := range l.Decisions {
		b = append(b, `{"decision":`...)
		b = append(append(b, d...), "}\n"...)
	}
	return l.AppendRecords(b)
}

// AppendRecords appends the records alone as lines of JSON.
func (l *Log) AppendRecords(b []byte) []byte {
	for i := range l.Records {
		b = append(l.Records[i].AppendJSON(b), '\n')
	}
	return b
}

// Parse parses the output of JSONL. For a line that is not of one of its three kinds it returns an error that names the line. The file
// may be truncated after any line.
func Parse(data []byte) (*Log, error) {
	l := &Log{}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var err error
		if n == 1 {
			err = l.parseHeader(line)
		} else {
			err = l.parseLine(line)
		}
		if err != nil {
			return nil, fmt.Errorf("trace: line %d: %w", n, err)
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("trace: the file is empty: its first line is a header with \"trace\":%d", Format)
	}
	return l, nil
}

func (l *Log) parseHeader(line []byte) error {
	var h headerLine
	if err := json.Unmarshal(line, &h); err != nil {
		return fmt.Errorf("no header: %w", err)
	}
	if h.Trace != Format {
		return fmt.Errorf("want a header with \"trace\":%d, not %d: record the run again with this version",
			Format, h.Trace)
	}
	l.Header = h.Header
	return nil
}

func (l *Log) parseLine(line []byte) error {
	var x struct {
		Decision json.RawMessage `json:"decision"`
	}
	if err := json.Unmarshal(line, &x); err != nil {
		return err
	}
	if x.Decision != nil {
		l.Decisions = append(l.Decisions, slices.Clone(x.Decision))
		return nil
	}
	r, err := ParseRecord(line)
	if err == nil {
		l.Records = append(l.Records, r)
	}
	return err
}

// ParseRecord reads one line that Record.AppendJSON printed.
func ParseRecord(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return Record{}, err
	}
	if r.N == 0 || r.Site == "" {
		return Record{}, fmt.Errorf("neither a record, which has n and site, nor a decision")
	}
	return r, nil
}
