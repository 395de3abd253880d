package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/scenario"
)

const runUsage = `kubesim run SCENARIO [flags] runs a scenario (.txtar) and prints its transcript. Flags:

  --seed N        replaces the scenario's seed
  --faults FILE   adds the faults in FILE, one per line; "random" adds the random faults of kubesim sweep for the seed
  --update        writes the new transcript to the scenario file; nothing else in it changes
  --trace FILE    writes a trace, with all data that kubesim replay needs to repeat the run
  --quiet         prints only failures

The exit code is 1 if the scenario fails, or if its transcript differs from the one in the file. With --seed or
--faults the transcripts are not compared.
`

const replayUsage = `kubesim replay TRACE runs the scenario of a trace (kubesim run --trace) again, with the same faults,
and compares the frames. If they differ, it prints the first difference and the exit code is 1.
`

// parseAll parses flags before, between and after the other arguments, which it returns.
func parseAll(set *flag.FlagSet, usage string, args []string) (arguments []string, err error) {
	for {
		if err := parse(set, usage, args); err != nil {
			return nil, err
		}
		if set.NArg() == 0 {
			return arguments, nil
		}
		arguments, args = append(arguments, set.Arg(0)), set.Args()[1:]
	}
}

// parseAround parses flags before and after the single argument, which it returns.
func parseAround(set *flag.FlagSet, usage, noun string, args []string) (string, error) {
	name := strings.TrimPrefix(set.Name(), "kubesim ")
	arguments, err := parseAll(set, usage, args)
	switch {
	case err != nil:
		return "", err
	case len(arguments) == 0:
		return "", usagef("%s: the name of a %s is missing; see kubesim %s --help", name, noun, name)
	case len(arguments) > 1:
		return "", usagef("%s: %q: only one file is allowed", name, arguments[1])
	}
	return arguments[0], nil
}

// readScenario reads and parses a scenario file.
func readScenario(path string) (*scenario.File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := scenario.ParseFile(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// runFlags are the flags of kubesim run.
type runFlags struct {
	seed          uint64
	faults, trace string
	update, quiet bool
}

// runScenario implements kubesim run.
func (p program) runScenario(args []string) error {
	var f runFlags
	set := newFlags("run")
	set.Uint64Var(&f.seed, "seed", 0, "")
	set.StringVar(&f.faults, "faults", "", "")
	set.StringVar(&f.trace, "trace", "", "")
	set.BoolVar(&f.update, "update", false, "")
	set.BoolVar(&f.quiet, "quiet", false, "")
	path, err := parseAround(set, runUsage, "scenario", args)
	if err != nil {
		return err
	}
	if f.update && (f.seed != 0 || f.faults != "") {
		return usagef("run: --update records the scenario without changes: leave out --seed and --faults")
	}
	file, err := readScenario(path)
	if err != nil {
		return err
	}
	o, err := f.options(file)
	if err != nil {
		return err
	}
	out, err := scenario.Run(file, o)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return p.ran(path, file, f, o, out)
}

// options returns the options that the flags set.
func (f runFlags) options(file *scenario.File) (scenario.RunOptions, error) {
	o := scenario.RunOptions{Seed: f.seed}
	switch f.faults {
	case "":
	case "random":
		return scenario.NewSweep(file).Options(max(f.seed, 1)), nil
	default:
		data, err := os.ReadFile(f.faults)
		if err != nil {
			return o, err
		}
		plan, err := fault.Parse(string(data))
		if err != nil {
			return o, fmt.Errorf("%s: %w", f.faults, err)
		}
		o.Faults = plan.String()
	}
	return o, nil
}

// ran prints the result of a run.
func (p program) ran(path string, file *scenario.File, f runFlags, o scenario.RunOptions, out *scenario.Outcome) error {
	if f.trace != "" {
		if err := os.WriteFile(f.trace, out.Trace(file, o).JSONL(), 0o644); err != nil {
			return err
		}
	}
	if out.Failure != nil {
		return fmt.Errorf("%s, %w", path, out.Failure)
	}
	if !f.quiet {
		fmt.Fprint(p.stdout, out.Transcript)
	}
	switch {
	case f.update && file.Transcript != out.Transcript:
		file.Transcript = out.Transcript
		return os.WriteFile(path, file.Format(), 0o644)
	case f.seed != 0 || f.faults != "" || file.Transcript == "":
		return nil
	}
	if d := scenario.Difference(file.Transcript, out.Transcript); d != "" {
		return fmt.Errorf("%s: %s\nto accept the new transcript: kubesim run %s --update", path, d, path)
	}
	return nil
}

// replay implements kubesim replay.
func (p program) replay(args []string) error {
	path, err := parseAround(newFlags("replay"), replayUsage, "trace", args)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	t, err := scenario.ParseTrace(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	out, difference, err := t.Replay()
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case difference != "" && out.Semantic == t.Header.Semantic:
		return fmt.Errorf("%s: the run differs, although its final objects are the same: %s", path, difference)
	case difference != "":
		return fmt.Errorf("%s: the run differs: %s", path, difference)
	}
	fmt.Fprintf(p.stdout, "identical: %d frames, hash %s\n", len(t.Frames), out.Hash)
	if out.Failure != nil {
		fmt.Fprintf(p.stdout, "it fails again: line %d: %s\n", out.Failure.Line, out.Failure.Text)
	}
	return nil
}
