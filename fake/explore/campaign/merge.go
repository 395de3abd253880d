package campaign

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Line is a result that a process reports about its shard, as a line of JSON: one for each seed that failed, and one at the end.
type Line struct {
	Test  string `json:"test"` // or the file of a scenario
	Shard string `json:"shard"`

	Seed    uint64 `json:"seed,omitempty"`
	Failure string `json:"failure,omitempty"`
	Plan    string `json:"plan,omitempty"` // made small, without the seed
	Replay  string `json:"replay,omitempty"`

	Done      bool     `json:"done,omitempty"`
	Runs      int      `json:"runs,omitempty"`
	Seconds   float64  `json:"seconds,omitempty"`
	Sequences []uint64 `json:"sequences,omitempty"` // of requests and answers
}

// WriteTo prints the line.
func (l Line) WriteTo(w io.Writer) (int64, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return 0, err
	}
	n, err := w.Write(append(data, '\n'))
	return int64(n), err
}

// Merged is the combined result of all shards.
type Merged struct {
	Shards    []string // that came to their end
	Open      []string // that did not
	Runs      int
	Took      time.Duration // of the longest part: they run at the same time
	Work      time.Duration // of all parts
	Sequences int
	Failures  []MergedFailure // the most frequent first
}

// MergedFailure are the seeds that failed by the same plan.
type MergedFailure struct {
	Test, Plan string
	Seeds      []uint64
	Failure    string // of the first
	Replay     string
}

// Merge reads the results of all shards. It ignores lines that are not JSON results, because a log contains other lines, too.
func Merge(parts ...io.Reader) (*Merged, error) {
	var lines []Line
	for _, part := range parts {
		scanner := bufio.NewScanner(part)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			var l Line
			if text := bytes.TrimSpace(scanner.Bytes()); bytes.HasPrefix(text, []byte("{")) && json.Unmarshal(text, &l) == nil && l.Shard != "" {
				lines = append(lines, l)
			}
		}
		if err := scanner.Err(); err != nil {
			return nil, err
		}
	}
	m := &Merged{}
	for i := range lines {
		m.add(&lines[i])
	}
	m.finish(lines)
	return m, nil
}

func (m *Merged) add(l *Line) {
	if l.Done {
		took := time.Duration(l.Seconds * float64(time.Second))
		m.Runs += l.Runs
		m.Took = max(m.Took, took)
		m.Work += took
		m.Shards = append(m.Shards, l.Test+" "+l.Shard)
		return
	}
	at := slices.IndexFunc(m.Failures, func(f MergedFailure) bool { return f.Test == l.Test && f.Plan == l.Plan })
	if at < 0 {
		at = len(m.Failures)
		m.Failures = append(m.Failures, MergedFailure{Test: l.Test, Plan: l.Plan, Failure: l.Failure, Replay: l.Replay})
	}
	m.Failures[at].Seeds = append(m.Failures[at].Seeds, l.Seed)
}

// finish counts what all parts have in common, and sorts.
func (m *Merged) finish(lines []Line) {
	sequences, parts := map[uint64]bool{}, map[string]bool{}
	for _, l := range lines {
		for _, s := range l.Sequences {
			sequences[s] = true
		}
		parts[l.Test+" "+l.Shard] = true
	}
	m.Sequences = len(sequences)
	for _, name := range m.Shards {
		delete(parts, name)
	}
	for name := range parts {
		m.Open = append(m.Open, name)
	}
	slices.Sort(m.Open)
	slices.Sort(m.Shards)
	for i := range m.Failures {
		slices.Sort(m.Failures[i].Seeds)
	}
	slices.SortFunc(m.Failures, func(a, b MergedFailure) int {
		return cmp.Or(cmp.Compare(len(b.Seeds), len(a.Seeds)), cmp.Compare(a.Test, b.Test), cmp.Compare(a.Plan, b.Plan))
	})
}

// seedsShown is how many seeds of a failure are named.
const seedsShown = 10

// String prints the report.
func (m *Merged) String() string {
	var b strings.Builder
	failed := 0
	for _, f := range m.Failures {
		failed += len(f.Seeds)
	}
	fmt.Fprintf(&b, "%d parts, %d runs, %d failed in %d ways", len(m.Shards), m.Runs, failed, len(m.Failures))
	if m.Took > 0 {
		fmt.Fprintf(&b, "; %.0f seeds an hour, %.0f for each process", float64(m.Runs)/m.Took.Hours(), float64(m.Runs)/m.Work.Hours())
	}
	if m.Sequences > 0 {
		fmt.Fprintf(&b, "; %d sequences of requests and answers", m.Sequences)
	}
	b.WriteString("\n")
	for _, name := range m.Open {
		fmt.Fprintf(&b, "%s is incomplete\n", name)
	}
	for _, f := range m.Failures {
		fmt.Fprintf(&b, "\n%s: %d seeds (%s)\n", f.Test, len(f.Seeds), some(f.Seeds))
		if f.Plan != "" {
			b.WriteString(indent(f.Plan))
		}
		b.WriteString(indent(f.Failure))
		if f.Replay != "" {
			b.WriteString(indent(f.Replay))
		}
	}
	return b.String()
}

// some names the first seeds.
func some(seeds []uint64) string {
	var list []string
	for i, seed := range seeds {
		if i == seedsShown {
			list = append(list, "…")
			break
		}
		list = append(list, fmt.Sprint(seed))
	}
	return strings.Join(list, ", ")
}
