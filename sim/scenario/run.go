package scenario

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/fault"
)

// RunOptions are options of Run. With the zero value, the scenario runs as written.
type RunOptions struct {
	// Seed replaces the scenario's seed unless it is 0.
	Seed uint64
	// Faults are faults in the language of sim/fault. They are added after the scenario's own setup commands.
	Faults string
	// Lenient ignores failures of requests and of expect, and the marks ! and ?. Only never and eventually count. An
	// operation that becomes impossible because of an ignored failure is skipped.
	Lenient bool
	// Decisions are the fault decisions of an earlier run, which this run repeats. If nil, decisions are drawn from the
	// seed.
	Decisions []fault.Decision
}

// Outcome is the result of a scenario.
type Outcome struct {
	Transcript string
	Hash       string // the hash of all frames
	Semantic   string // a fingerprint of the resulting objects
	Failure    *Failure
	World      *World
}

// Failure describes the first failure of a scenario.
type Failure struct {
	Line  int    // the line in the file
	Text  string // the error message
	Phase string // the transcript of the phase that failed
}

// Error implements error. The message contains the line and the phase.
func (f *Failure) Error() string {
	return fmt.Sprintf("line %d: %s\n\n%s", f.Line, f.Text, f.Phase)
}

// Run runs a scenario to its end or to its first failure. It returns an error if the scenario cannot run at all.
func Run(f *File, o RunOptions) (*Outcome, error) {
	made := Options{Cluster: config.Cluster{Seed: o.Seed, Replay: o.Decisions}, Files: f.Files, Strict: !o.Lenient, Lenient: o.Lenient}
	w, err := New(f.prepared(made))
	if err != nil {
		w, err = New(made) // the error is ignored here, because the line with the invalid setting will fail later
	}
	if err != nil {
		return nil, err
	}
	r := &runner{file: f, options: o, world: w}
	if err := r.all(); err != nil {
		return nil, err
	}
	out := &Outcome{Hash: w.Hash(), Semantic: w.Semantic(), Failure: r.failure, World: w}
	r.text.WriteString("\nhash: " + out.Hash + "\n")
	out.Transcript = strings.TrimLeft(r.text.String(), "\n")
	return out, nil
}

// prepared returns o with the settings in the file's first lines applied, so that the cluster is created only once.
func (f *File) prepared(o Options) Options {
	options := o
	for _, line := range f.Lines {
		op := line.Op
		switch plan := FindCommand(op.Name).plan; {
		case op.Name == "seed" && o.Seed != 0:
			continue
		case plan == nil:
			return options
		case plan(&options, &op) != nil:
			return o
		}
	}
	return options
}

// runner runs one scenario.
type runner struct {
	file    *File
	options RunOptions
	world   *World
	text    strings.Builder
	phase   string
	begin   int // offset in text at which the current phase begins
	faults  bool
	failure *Failure
}

func (r *runner) all() error {
	for i, line := range r.file.Lines {
		if line.Phase != r.phase || i == 0 {
			r.phase = line.Phase
			r.begin = r.text.Len()
			r.text.WriteString("\n" + comment(line.Phase))
		}
		if r.options.Seed != 0 && line.Op.Name == "seed" {
			continue
		}
		r.text.WriteString("> " + line.Text + "\n")
		if err := r.addFaults(line.Op.Name); err != nil {
			return err
		}
		result, err := r.world.Do(line.Op)
		if err != nil && r.options.Lenient {
			r.text.WriteString("   left out: " + err.Error() + "\n")
			continue
		}
		if err != nil {
			r.fail(line.Number, err.Error())
			return nil
		}
		for _, said := range result.Lines {
			r.text.WriteString(said + "\n")
		}
		if result.Failure != "" {
			r.fail(line.Number, result.Failure)
			return nil
		}
	}
	return nil
}

// addFaults adds the faults of the options before the first operation that is not a setup command. name is the name of
// the next operation.
func (r *runner) addFaults(name string) error {
	if r.faults || r.options.Faults == "" || name == "seed" || name == "replica" || name == "replicas" {
		return nil
	}
	r.faults = true
	for _, text := range strings.Split(strings.TrimSpace(r.options.Faults), "\n") {
		op, err := Parse("fault " + text)
		if err != nil {
			return err
		}
		if _, err := r.world.Do(op); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) fail(line int, text string) {
	r.failure = &Failure{Line: line, Text: text, Phase: strings.TrimLeft(r.text.String()[r.begin:], "\n")}
}

// comment returns the text as comment lines, each with a # sign.
func comment(text string) string {
	if text == "" {
		return ""
	}
	return "# " + strings.ReplaceAll(text, "\n", "\n# ") + "\n"
}

// Difference describes the first difference between two transcripts. It returns "" if they are equal.
func Difference(want, got string) string {
	if want == got {
		return ""
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	var out strings.Builder
	for _, line := range a[max(i-3, 0):i] {
		out.WriteString("  " + line + "\n")
	}
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"- ", a}, {"+ ", b}} {
		for _, line := range side.lines[min(i, len(side.lines)):min(i+4, len(side.lines))] {
			out.WriteString(side.sign + line + "\n")
		}
	}
	return fmt.Sprintf("the transcript differs from line %d on (- recorded, + now):\n%s", i+1, out.String())
}

// firstDifference describes the first pair of frames that differ between two runs. It returns "" if all are equal.
func firstDifference(a, b []Frame) string {
	for i := range a {
		if i >= len(b) {
			return "the second one ends before " + string(a[i].AppendJSON(nil))
		}
		x, y := newFingerprint(), newFingerprint()
		x.add(&a[i])
		y.add(&b[i])
		if x.text() != y.text() {
			return string(a[i].AppendJSON(nil)) + "\nand " + string(b[i].AppendJSON(nil))
		}
	}
	return "the second one goes on"
}
