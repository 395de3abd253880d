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

// Line is a result that a process reports for its shard, as a line of JSON. There is one line for each failed seed, and
// one at the end.
type Line struct {
	Test  string `json:"test"` // the test, or the file of a scenario
	Shard string `json:"shard"`

	Seed    uint64 `json:"seed,omitempty"`
	Failure string `json:"failure,omitempty"`
	Plan    string `json:"plan,omitempty"` // the shrunk plan, without the seed
	Replay  string `json:"replay,omitempty"`

	Done      bool     `json:"done,omitempty"`
	Runs      int      `json:"runs,omitempty"`
	Seconds   float64  `json:"seconds,omitempty"`
	Sequences []uint64 `json:"sequences,omitempty"` // of requests and responses
}

// WriteTo writes the line as JSON.
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
	Shards    []string // completed shards
	Open      []string // incomplete shards
	Runs      int
	Took      time.Duration // the time of the slowest shard: shards run concurrently
	Work      time.Duration // the total time of all shards
	Sequences int
	Failures  []MergedFailure // sorted by frequency, most frequent first
}

// MergedFailure describes the seeds that failed with the same plan.
type MergedFailure struct {
	Test, Plan string
	Seeds      []uint64
	Failure    string // of the first seed
	Replay     string
}

// Merge reads the results of all shards. It ignores lines that are not JSON results, because a log contains other lines, too. It
// returns an error only if a part cannot be read.
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

// finish computes the totals of all shards and sorts the results.
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

// seedsShown is the maximum number of printed seeds per failure.
const seedsShown = 10

// String returns the totals, and each kind of failure with its first seeds and how to replay it.
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

// some returns the first seeds, separated by commas. If there are more, the text ends with "…".
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
