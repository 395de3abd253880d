package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Format is the version of the JSONL format. Parse accepts only this version.
const Format = 1

// Header describes a recorded run.
//
//	{"trace":1,"seed":7,"versions":["v1.36.3"],"go":"go1.26","module":"v0.3.0","level":"legal","hash":"…","semantic":"…"}
//	{"decision":{"fault":"on update pods do fail Conflict","site":"request.decided update pods default/a","nth":1,"fired":true}}
//	{"n":1,"t":"2026-01-01T00:00:00Z","site":"request.arrived",…}
type Header struct {
	Seed     uint64    `json:"seed,omitempty"`     // the seed of the cluster; 0 if unknown
	Versions []string  `json:"versions,omitempty"` // the versions of the API servers, in order
	Go       string    `json:"go,omitempty"`       // the Go version with which the simulator was compiled
	Module   string    `json:"module,omitempty"`   // the version of the simulator
	Level    string    `json:"level,omitempty"`    // the highest level of the faults: legal, degraded or illegal; empty if there were no faults
	Dropped  uint64    `json:"dropped,omitempty"`  // the number of records that were dropped before the first one
	Start    time.Time `json:"start,omitzero"`     // the time of the very first record, if records were dropped
	Hash     string    `json:"hash,omitempty"`     // the hash of all records, including dropped ones; "" if not computed
	Semantic string    `json:"semantic,omitempty"` // the fingerprint of the outcome; "" if not computed
}

// headerLine is the JSON form of a Header.
type headerLine struct {
	Trace int `json:"trace"`
	Header
}

// AppendJSON appends the header as one line of JSON without a line break.
func (h *Header) AppendJSON(b []byte) []byte {
	line, err := json.Marshal(headerLine{Format, *h})
	if err != nil {
		panic("trace: a header cannot be printed: " + err.Error())
	}
	return append(b, line...)
}

// JSONL returns the header, the decisions and the records as lines of JSON. Parse accepts them.
func (l *Log) JSONL() []byte {
	b := append(l.Header.AppendJSON(nil), '\n')
	for _, d := range l.Decisions {
		b = append(b, `{"decision":`...)
		b = append(append(b, d...), "}\n"...)
	}
	return l.AppendRecords(b)
}

// AppendRecords appends only the records, as lines of JSON.
func (l *Log) AppendRecords(b []byte) []byte {
	for i := range l.Records {
		b = append(l.Records[i].AppendJSON(b), '\n')
	}
	return b
}

// Parse parses the output of JSONL. If a line has none of the three forms, it returns an error that contains the line
// number. The file may be truncated after any line.
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

// ParseRecord parses a line that Record.AppendJSON has written. It returns an error for any other line.
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
