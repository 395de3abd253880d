package gotest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/dropin"
	"github.com/kubesim/kubesim/sim/fault"
)

// repetition is the result of running a test binary with many seeds.
type repetition struct {
	f      *forwarder
	out    bytes.Buffer // the printed text
	args   []string
	start  time.Time
	all    record              // of all runs
	names  []string            // of the tests and specs that have failed
	seeds  map[string][]uint64 // their seeds, by name
	shrunk map[uint64]bool     // the seeds whose plan was made small
}

// repeat runs a test binary with many seeds. It prints which tests and specs failed, with their seeds and, if random faults are
// drawn, the smallest plan.
func repeat(f *forwarder, args []string, start time.Time) (code int, err error) {
	times, err := strconv.Atoi(os.Getenv(repeatVariable))
	if err != nil {
		return 0, err
	}
	first, err := strconv.ParseUint(os.Getenv("KUBESIM_GOTEST_SEED"), 10, 64)
	if err != nil {
		return 0, err
	}
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-test.timeout=") })
	args = slices.Insert(args, 1, "-test.timeout="+os.Getenv(timeoutVariable))
	r := &repetition{f: f, args: args, start: start, seeds: map[string][]uint64{}, shrunk: map[uint64]bool{}}
	for seed := first; seed < first+uint64(times); seed++ {
		plan, err := swarm(seed - first)
		if err != nil {
			return 0, err
		}
		failed, out, err := r.run(seed, plan)
		if err != nil {
			return 0, err
		}
		if r.all.interrupted {
			times = int(seed - first)
			r.printf("interrupted after %d seeds in %s\n", times, r.all.Dir)
			break
		}
		if len(r.names) == 0 && r.all.Code != 0 {
			r.printf("%s", out) // the first failure
		}
		for _, name := range failed {
			if r.seeds[name] == nil {
				r.names = append(r.names, name)
			}
			r.seeds[name] = append(r.seeds[name], seed)
		}
	}
	for _, name := range r.names {
		seed := r.seeds[name][0]
		r.printf("%d of %d seeds: %s\n    replay: %s--seed %d --date %s (failed with the seeds %s)\n", len(r.seeds[name]), times, name,
			r.smallest(name, seed, seed-first), seed, start.Format(time.RFC3339), strings.Trim(fmt.Sprint(r.seeds[name]), "[]"))
	}
	if len(r.names) == 0 && times > 0 {
		r.printf("no test fails with the seeds %d to %d\n", first, first+uint64(times)-1)
	}
	r.all.Seeds = times
	if r.all.interrupted {
		r.all.Report = r.out.String()
	}
	return r.all.Code, r.all.write(os.Getenv(recordsVariable))
}

// printf prints to stdout, and keeps the text for the record.
func (r *repetition) printf(format string, args ...any) {
	fmt.Fprintf(io.MultiWriter(&r.out, os.Stdout), format, args...)
}

// run runs the test binary with a seed and faults. It returns the failed tests and the output.
func (r *repetition) run(seed uint64, plan fault.Plan) (failed []string, output []byte, err error) {
	var out bytes.Buffer
	rec, err := r.f.runBinary(r.args, r.start, strconv.FormatUint(seed, 10), faultsEnvironment(plan), &out, &out)
	rec.Virtual, rec.Real, rec.CPU = rec.Virtual+r.all.Virtual, rec.Real+r.all.Real, rec.CPU+r.all.CPU
	failed = failures(out.String())
	if rec.Code != 0 && len(failed) == 0 {
		failed = []string{"the test binary"}
	}
	if rec.Code < 0 { // ended by a signal
		rec.Code = 1
	}
	rec.Code, rec.interrupted = max(rec.Code, r.all.Code), rec.interrupted || r.all.interrupted
	r.all = rec
	return failed, out.Bytes(), err
}

// shrinkRuns is the maximum number of runs to make a plan small.
const shrinkRuns = 60

// smallest returns the part of the replay line with the smallest plan of faults with which a test fails. It searches only once
// for each seed.
func (r *repetition) smallest(name string, seed, offset uint64) string {
	plan, err := swarm(offset)
	if err != nil || len(plan) == 0 {
		return ""
	}
	runs := 0
	fails := func(p fault.Plan) bool {
		if runs++; runs > shrinkRuns || r.all.interrupted {
			return false
		}
		failed, _, err := r.run(seed, p)
		return err == nil && !r.all.interrupted && slices.Contains(failed, name)
	}
	if r.shrunk[seed] || r.all.interrupted {
		number, client, _ := strings.Cut(os.Getenv(dropin.SwarmVariable), ":")
		first, _ := strconv.ParseUint(number, 10, 64) // swarm has parsed it
		return dropin.SwarmVariable + "=" + strings.TrimSuffix(fmt.Sprintf("%d:%s", first+offset, client), ":") + " "
	}
	r.shrunk[seed] = true
	if fails(nil) {
		return "(without faults) "
	}
	plan = fault.Shrink(plan, fails)
	return faultsVariable + "='" + strings.ReplaceAll(strings.TrimSpace(plan.String()), "'", `'\''`) + "' "
}

// swarm returns the random plan of the variable KUBESIM_SWARM, or nil if it is not set.
func swarm(offset uint64) (fault.Plan, error) {
	value := os.Getenv(dropin.SwarmVariable)
	if value == "" {
		return nil, nil
	}
	plan, err := dropin.Swarm(value, offset)
	if err != nil {
		return nil, fmt.Errorf("%s=%s: %w", dropin.SwarmVariable, value, err)
	}
	return plan, nil
}

// faultsEnvironment returns the variables for a run with the faults of a plan instead of KUBESIM_SWARM.
func faultsEnvironment(plan fault.Plan) []string {
	if os.Getenv(dropin.SwarmVariable) == "" {
		return nil
	}
	return []string{dropin.SwarmVariable + "=", faultsVariable + "=" + plan.String()}
}

// faultsVariable is the variable with the faults of each server.
const faultsVariable = "KUBESIM_FAULTS"

// failed matches the lines of a test binary's output that name failed tests and specs.
var failed = regexp.MustCompile(`(?m)^(?:\s*--- FAIL: (\S+)|\s*(?:\x1b\[[0-9;]*m)*\[(?:FAIL|PANICKED!|TIMEDOUT)\] (.*)|panic: (test timed out after .*))`)

// failures returns the distinct names of failed tests and specs in the output of a test binary. It ignores Ginkgo's colours.
func failures(output string) (names []string) {
	for _, m := range failed.FindAllStringSubmatch(colours.ReplaceAllString(output, ""), -1) {
		name := strings.TrimSpace(m[1] + m[2] + m[3])
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)
