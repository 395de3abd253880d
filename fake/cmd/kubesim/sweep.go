package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/scenario"
)

const sweepUsage = `kubesim sweep SCENARIO --seeds A:B [flags] runs a scenario under random faults, once for each seed
from A up to, but not including, B. A run fails only by a condition of never or eventually. Flags:

  --seeds A:B     the seeds
  --shard I/N     runs every N-th seed, starting with the I-th, I from 1 (default: KUBESIM_SHARD, else in a pod of a
                  Job JOB_COMPLETION_INDEX and KUBESIM_SHARDS, else 1/1)
  --shrink        prints the smallest sufficient plan of faults below each failing seed
  --max N         stops after N failures (default 10; 0 means no limit)
  --json          prints the results as lines of JSON, for --merge

Each failing seed is printed on stdout, with the command that repeats it; progress is printed on stderr.

kubesim sweep SCENARIO --seeds A:B --job N --image IMAGE prints an Indexed Job of N pods that run the sweep, and a ConfigMap with the
scenario. The image must have kubesim in its PATH, like the image that make release builds. With --test BINARY instead of a
scenario, the pods run a test binary in the image; its tests must call fake.Explore:

  --name NAME     the name of the Job (default kubesim-sweep)
  --test BINARY   the path of the binary in the image; its flags, such as -run PATTERN, follow after --

kubesim sweep --merge FILE... combines the results of all parts into one report. The files are logs of the pods, or files named by
KUBESIM_RESULTS.
`

// sweepFlags are the flags of kubesim sweep.
type sweepFlags struct {
	from, to     uint64
	shard        campaign.Shard
	shrink, json bool
	merge        bool
	maxFailures  int
	job          jobFlags
}

// seeds parses A:B, the seeds from A up to, but not including, B.
func (f *sweepFlags) seeds(text string) error {
	first, second, _ := strings.Cut(text, ":")
	a, err1 := strconv.ParseUint(first, 10, 64)
	b, err2 := strconv.ParseUint(second, 10, 64)
	if err1 != nil || err2 != nil || a == 0 || a >= b {
		return errors.New("it must be A:B with 0 < A < B, for example 1:1000")
	}
	f.from, f.to = a, b
	return nil
}

// part parses I/N, the part of the seeds that this process runs.
func (f *sweepFlags) part(text string) (err error) {
	f.shard, err = campaign.ParseShard(text)
	return err
}

// progressEvery is the interval, in real time, at which a sweep prints its progress.
const progressEvery = 2 * time.Second

// sweep implements kubesim sweep.
func (p program) sweep(ctx context.Context, args []string) error {
	shard, err := campaign.ShardOf(os.Getenv)
	if err != nil {
		return err
	}
	f := sweepFlags{shard: shard}
	set := newFlags("sweep")
	set.Func("seeds", "", f.seeds)
	set.Func("shard", "", f.part)
	set.BoolVar(&f.shrink, "shrink", false, "")
	set.BoolVar(&f.json, "json", false, "")
	set.BoolVar(&f.merge, "merge", false, "")
	set.IntVar(&f.maxFailures, "max", 10, "")
	set.IntVar(&f.job.pods, "job", 0, "")
	set.StringVar(&f.job.image, "image", "", "")
	set.StringVar(&f.job.name, "name", "kubesim-sweep", "")
	set.StringVar(&f.job.test, "test", "", "")
	if slices.Contains(args, "--merge") || slices.Contains(args, "-merge") {
		return p.merge(set, args)
	}
	if i := slices.Index(args, "--"); i >= 0 {
		f.job.args, args = args[i+1:], args[:i]
	}
	if slices.Contains(args, "--test") { // replaces the scenario
		if err := parse(set, sweepUsage, args); err != nil {
			return err
		}
		return p.printJob("", f)
	}
	path, err := parseAround(set, sweepUsage, "scenario", args)
	if err == nil && f.to == 0 {
		err = usagef("sweep: the seeds are missing: --seeds 1:1000")
	}
	if err != nil {
		return err
	}
	if f.job.pods > 0 {
		return p.printJob(path, f)
	}
	file, err := readScenario(path)
	if err != nil {
		return err
	}
	return p.sweepSeeds(ctx, path, file, f)
}

// sweepSeeds runs the seeds one by one until ctx ends.
func (p program) sweepSeeds(ctx context.Context, path string, file *scenario.File, f sweepFlags) error {
	s := scenario.NewSweep(file)
	began := time.Now()
	said := began
	runs, failed := 0, 0
	for seed := f.from + f.shard.I - 1; seed < f.to && ctx.Err() == nil; seed += f.shard.N {
		out, err := s.Run(seed)
		if err != nil {
			return fmt.Errorf("%s, seed %d: %w", path, seed, err)
		}
		runs++
		if out.Failure != nil {
			failed++
			if err := p.sweepFailed(path, s, seed, out.Failure, f); err != nil {
				return err
			}
			if failed == f.maxFailures {
				break
			}
		}
		if now := time.Now(); now.Sub(said) >= progressEvery {
			said = now
			p.progress("seed "+strconv.FormatUint(seed, 10), runs, failed, now.Sub(began))
		}
	}
	p.progress("done", runs, failed, time.Since(began))
	if f.json {
		l := campaign.Line{Test: path, Shard: f.shard.String(), Done: true, Runs: runs, Seconds: time.Since(began).Seconds()}
		if _, err := l.WriteTo(p.stdout); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s: %d of %d seeds fail", path, failed, runs)
	}
	return nil
}

// sweepFailed prints a failing seed.
func (p program) sweepFailed(path string, s *scenario.Sweep, seed uint64, why *scenario.Failure, f sweepFlags) error {
	again := fmt.Sprintf("kubesim run %s --faults random --seed %d", path, seed)
	failure := fmt.Sprintf("line %d: %s", why.Line, firstLine(why.Text))
	if f.json {
		l := campaign.Line{Test: path, Shard: f.shard.String(), Seed: seed, Failure: failure, Plan: s.Shrink(seed, why).String(), Replay: again}
		_, err := l.WriteTo(p.stdout)
		return err
	}
	fmt.Fprintf(p.stdout, "%s   # %s\n", again, failure)
	if f.shrink {
		fmt.Fprint(p.stdout, indent(s.Shrink(seed, why).String()))
	}
	return nil
}

// progress prints a line on stderr.
func (p program) progress(where string, runs, failed int, took time.Duration) {
	fmt.Fprintf(p.stderr, "%s: %d seeds, %d failed, %.0f seeds/s\n", where, runs, failed, float64(runs)/max(took.Seconds(), 1e-9))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// indent turns lines into indented comments.
func indent(text string) string {
	return "#   " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n#   ") + "\n"
}

// merge implements kubesim sweep --merge.
func (p program) merge(set *flag.FlagSet, args []string) error {
	if err := parse(set, sweepUsage, args); err != nil {
		return err
	}
	var parts []io.Reader
	for _, name := range set.Args() {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		parts = append(parts, file)
	}
	if len(parts) == 0 {
		return usagef("sweep: --merge needs the names of files")
	}
	m, err := campaign.Merge(parts...)
	if err != nil {
		return err
	}
	fmt.Fprint(p.stdout, m)
	if len(m.Failures) > 0 || len(m.Open) > 0 {
		return fmt.Errorf("%d failures, %d incomplete parts", len(m.Failures), len(m.Open))
	}
	return nil
}
