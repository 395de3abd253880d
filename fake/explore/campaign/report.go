package campaign

import (
	"fmt"
	"strings"
	"time"
)

// Report is the result of a search.
type Report struct {
	Plan     Plan
	Found    Plan      // the plan before shrinking; empty if the plan came from a file or nothing was drawn
	Outcomes []Outcome // the results of repeated runs of the plan
	Once     Outcome   // the run in which the plan failed first
	Calm     Outcome   // the result of a run without faults
	Drawn    bool      // the test draws its input from the seed, so the writes of Calm are not comparable
	Seeds    int       // the number of drawn plans that were run; 0 if the run without faults failed
	Runs     int       // the number of runs so far, including those for shrinking
	Took     time.Duration
	Saved    string // the file with the plan, or ""
	Replay   string // the command that repeats the run
	Story    string // the file with the scenario of the writes, or ""
	Link     string // a link to the scenario in the page; empty if the address of the page is unknown
}

// Scenario returns the writes of a failed run as a scenario. ok is false if they cannot be expressed as one.
func (r *Report) Scenario() (text string, ok bool) {
	o := r.shown()
	if o == nil {
		return "", false
	}
	return Story(r.Cause(), o.Sent)
}

// String returns the report: whether the plan fails again, its items, the first failed run, and the commands to replay
// it.
func (r *Report) String() string {
	var b strings.Builder
	if n := r.failures(); n > 0 {
		fmt.Fprintf(&b, "%s, %d of %d times (%s)\n", r.title(), n, len(r.Outcomes), r.agreement())
	} else {
		fmt.Fprintf(&b, "seed %d failed once, but its plan does not replay: each of %d runs in a process of its own passes (%s)\n"+
			"state that outlives a run in its process, such as a global variable of the code under test, may cause the difference\n",
			r.Plan.Seed, len(r.Outcomes), r.agreement())
	}
	if len(r.Plan.Items) > 0 {
		b.WriteString("its faults and steps:\n" + indent(r.Plan.Lines()))
	}
	if o := r.shown(); o != nil {
		r.first(&b, o)
	}
	fmt.Fprintf(&b, "after %d runs in %v\n", r.Runs, r.Took.Round(time.Millisecond))
	if r.Saved != "" {
		fmt.Fprintf(&b, "the plan is saved in %s, and runs first from now on\n", r.Saved)
	}
	r.printCommands(&b)
	b.WriteString("to replay: " + r.Replay + "\n")
	return b.String()
}

// command runs kubesim in any module that requires the module of this package.
const command = "go run github.com/kubesim/kubesim/fake/cmd/kubesim"

// printCommands prints the commands to use the scenario.
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

// title returns the first line of the report, which describes the failure.
func (r *Report) title() string {
	switch {
	case len(r.Plan.Items) == 0 && len(r.Found.Items) > 0:
		return fmt.Sprintf("seed %d fails, and needs no fault: the order of goroutines is sufficient", r.Plan.Seed)
	case len(r.Plan.Items) == 0 && r.Seeds > 0:
		return fmt.Sprintf("seed %d fails without any faults", r.Plan.Seed)
	case len(r.Plan.Items) == 0:
		return "it fails without any faults"
	case len(r.Found.Items) > 0:
		return fmt.Sprintf("seed %d fails; %d of %d faults and steps are sufficient", r.Plan.Seed, len(r.Plan.Items), len(r.Found.Items))
	}
	return fmt.Sprintf("a known plan fails (seed %d)", r.Plan.Seed)
}

// Cause returns the first failure of the run that the report describes, in one line.
func (r *Report) Cause() string {
	o := r.shown()
	if o == nil {
		return ""
	}
	f := o.Failures[0]
	line, _, _ := strings.Cut(strings.TrimSpace(f.Text), "\n")
	if line == "" {
		line = lastLine(o.Output)
	}
	return f.Site + ": " + line
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

// failures returns the number of repeated runs that failed.
func (r *Report) failures() (n int) {
	for i := range r.Outcomes {
		if len(r.Outcomes[i].Failures) > 0 {
			n++
		}
	}
	return n
}

// shown returns the failed run that the report describes: the first failed one of the repeated runs, or else the run in
// which the plan failed first. It returns nil if no run failed.
func (r *Report) shown() *Outcome {
	for i := range r.Outcomes {
		if len(r.Outcomes[i].Failures) > 0 {
			return &r.Outcomes[i]
		}
	}
	if len(r.Once.Failures) > 0 {
		return &r.Once
	}
	return nil
}

// agreement returns a sentence with the number of byte-identical runs.
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

// first prints a failed run: its failures, its output, and the writes that may explain the failure.
func (r *Report) first(b *strings.Builder, o *Outcome) {
	for _, f := range o.Failures {
		if f.Text != "" || o.Output == "" { // otherwise the output contains the failure
			fmt.Fprintf(b, "%s: %s\n", f.Site, strings.TrimSpace(f.Text))
		}
	}
	if o.Output != "" {
		b.WriteString("the test's output:\n" + indent(o.Output))
	}
	if text := Suspects(&r.Calm, o); text != "" && !r.Drawn {
		b.WriteString("its writes that differ from a run without faults:\n" + indent(text))
	}
	if text := Abandoned(o); text != "" {
		b.WriteString("its failed writes that it never tried again:\n" + indent(text))
	}
	if o.Timeline != "" {
		b.WriteString("the last events (n, time, client, event):\n    " + strings.ReplaceAll(strings.TrimRight(o.Timeline, "\n"), "\n", "\n    ") + "\n")
	}
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.Trim(text, "\n"), "\n", "\n    ") + "\n"
}
