package campaign

import (
	"fmt"
	"strings"
	"time"
)

// Report is the result of a search.
type Report struct {
	Plan     Plan
	Found    Plan      // as it was drawn; without a seed: it came from a file, or nothing was drawn
	Outcomes []Outcome // of runs of the plan
	Calm     Outcome   // of a run without any trouble
	Seeds    int       // plans that were drawn and run; 0 if the run without trouble failed
	Runs     int       // so far, those included that made the plan small
	Took     time.Duration
	Saved    string // the file with the plan, if any
	Replay   string // the command that runs it again
	Story    string // the file with the scenario of the writes, if any
	Link     string // opens the scenario in the page; empty if the address of the page is unknown
}

// Scenario returns the writes of a failed run as a scenario. ok is false if they cannot be expressed as one.
func (r *Report) Scenario() (text string, ok bool) {
	for _, o := range r.failed() {
		return Story(r.Cause(), o.Sent)
	}
	return "", false
}

// String prints the report.
func (r *Report) String() string {
	var b strings.Builder
	failed := r.failed()
	fmt.Fprintf(&b, "%s, %d of %d times (%s)\n", r.title(), len(failed), len(r.Outcomes), r.agreement())
	if len(r.Plan.Items) > 0 {
		b.WriteString("its faults and steps:\n" + indent(r.Plan.Lines()))
	}
	if len(failed) > 0 {
		r.first(&b, failed[0])
	}
	fmt.Fprintf(&b, "after %d runs in %v\n", r.Runs, r.Took.Round(time.Millisecond))
	if r.Saved != "" {
		fmt.Fprintf(&b, "the plan is saved in %s, and runs first from now on\n", r.Saved)
	}
	r.printCommands(&b)
	b.WriteString("to replay: " + r.Replay + "\n")
	return b.String()
}

// command is how the command kubesim is started in any module that requires this one.
const command = "go run github.com/kubesim/kubesim/fake/cmd/kubesim"

// printCommands prints what can be done with the scenario.
func (r *Report) printCommands(b *strings.Builder) {
	if r.Story == "" {
		return
	}
	fmt.Fprintf(b, "the writes are saved as a scenario, which runs without the test: %s run %s\n", command, r.Story)
	if r.Link != "" {
		fmt.Fprintf(b, "it also opens in the page: %s\n", r.Link)
		return
	}
	fmt.Fprintf(b, "it also opens in the page: %s open %s (%s=URL is the URL of the page)\n", command, r.Story, SiteVariable)
}

// title returns the first line of the report, which names the failure.
func (r *Report) title() string {
	switch {
	case len(r.Plan.Items) == 0 && len(r.Found.Items) > 0:
		return fmt.Sprintf("seed %d fails, and needs no fault: the order of goroutines is sufficient", r.Plan.Seed)
	case len(r.Plan.Items) == 0:
		return "it fails without any faults"
	case len(r.Found.Items) > 0:
		return fmt.Sprintf("seed %d fails; %d of %d faults and steps are sufficient", r.Plan.Seed, len(r.Plan.Items), len(r.Found.Items))
	}
	return fmt.Sprintf("a known plan fails (seed %d)", r.Plan.Seed)
}

// Cause returns the failure of the first run that failed, in one line.
func (r *Report) Cause() string {
	failed := r.failed()
	if len(failed) == 0 {
		return ""
	}
	f := failed[0].Failures[0]
	line, _, _ := strings.Cut(strings.TrimSpace(f.Text), "\n")
	if line == "" {
		line = lastLine(failed[0].Output)
	}
	return f.Site + ": " + line
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

// failed returns the outcomes of runs that failed.
func (r *Report) failed() (list []*Outcome) {
	for i := range r.Outcomes {
		if len(r.Outcomes[i].Failures) > 0 {
			list = append(list, &r.Outcomes[i])
		}
	}
	return list
}

// agreement returns a text about how many of the runs have the most frequent trace.
func (r *Report) agreement() string {
	count, most := map[string]int{}, 0
	for _, o := range r.Outcomes {
		if o.Hash != "" {
			count[o.Hash]++
			most = max(most, count[o.Hash])
		}
	}
	return fmt.Sprintf("%d of %d runs are byte-identical", most, len(r.Outcomes))
}

// first shows a run that failed.
func (r *Report) first(b *strings.Builder, o *Outcome) {
	for _, f := range o.Failures {
		if f.Text != "" || o.Output == "" { // else the output has it
			fmt.Fprintf(b, "%s: %s\n", f.Site, strings.TrimSpace(f.Text))
		}
	}
	if o.Output != "" {
		b.WriteString("the test's output:\n" + indent(o.Output))
	}
	if text := Suspects(&r.Calm, o); text != "" {
		b.WriteString("its writes that differ from a run without faults:\n" + indent(text))
	}
	if o.Timeline != "" {
		b.WriteString("the last events (n, time, client, event):\n    " + strings.ReplaceAll(strings.TrimRight(o.Timeline, "\n"), "\n", "\n    ") + "\n")
	}
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.Trim(text, "\n"), "\n", "\n    ") + "\n"
}
