// Command integration runs Kubernetes' own integration tests over kubesim's drop-in and over the real etcd and
// kube-apiserver, and compares them test by test:
//
//	module cache ─▶ src ────────────▶ bin/*.test ─▶ kubesim's programs  ─▶ results ─┐
//	                (copied; imports (go test -c)└─▶ the real programs ─▶ verdicts ─┴─▶ lost tests, a table
//	                 rewritten)
//
// Upstream's tests start an API server in their own process, with two packages of helpers. The copies import the packages
// below server instead, which start programs. Nothing else in a test is changed, and no upstream source is kept here. The result
// of each test on the real programs is recorded in verdicts, so that a run can be compared without them. reasons.txt lists the
// tests that are lost for a known reason. "make integration" builds the programs and runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// flags are the command line.
type flags struct {
	kubesim, real, work, packages, focus string
	record, fresh, list                  bool
}

func main() {
	var f flags
	flag.StringVar(&f.kubesim, "kubesim", "", "the folder that kubesim envtest prints")
	flag.StringVar(&f.real, "real", "", "the folder with the real etcd and kube-apiserver")
	flag.StringVar(&f.work, "work", "", "the folder for sources, test binaries, results and logs")
	flag.StringVar(&f.packages, "packages", "", "run the packages whose path matches this regular expression only")
	flag.StringVar(&f.focus, "focus", "", "run the tests that go test -run would run only, and keep no results")
	flag.BoolVar(&f.record, "record", false, "write what the real programs give to verdicts; what differs from a run before varies")
	flag.BoolVar(&f.fresh, "fresh", false, "run packages again for which there are results; with -record, forget the verdicts before")
	flag.BoolVar(&f.list, "list", false, "print the packages, and run none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := f.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		stop()
		os.Exit(1)
	}
}

func (f flags) run(ctx context.Context) (err error) {
	if f.work, err = filepath.Abs(f.work); err != nil {
		return err
	}
	if f.record && (f.real == "" || f.focus != "") {
		return errors.New("-record needs -real, and no -focus")
	}
	if f.kubesim == "" && f.real == "" && !f.list {
		return errors.New("name a folder with -kubesim or -real")
	}
	s, err := prepare(ctx, f.work)
	if err != nil {
		return err
	}
	packages, err := s.packages(ctx, f.packages)
	if err != nil {
		return err
	}
	if f.list {
		for _, p := range packages {
			fmt.Println(p.path)
		}
		return nil
	}
	known, err := readReasons("reasons.txt")
	if err != nil {
		return err
	}
	return f.compare(ctx, s, packages, known)
}

// compare runs packages one after the other and prints the tests that each loses.
func (f flags) compare(ctx context.Context, s *source, packages []pkg, known reasons) error {
	var rows []row
	for _, p := range packages {
		if err := s.build(ctx, p); err != nil {
			return err
		}
		r, err := f.row(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		r.judge(known)
		r.print()
		rows = append(rows, r)
	}
	unexplained := printTable(rows)
	printReasons(rows, known)
	stale := known.stale(rows)
	for _, line := range stale {
		fmt.Println("  " + line)
	}
	if unexplained > 0 || len(stale) > 0 {
		return fmt.Errorf("%d tests are lost without a reason, %d lines of reasons.txt are out of date; logs are in %s", unexplained, len(stale), filepath.Join(f.work, "log"))
	}
	return nil
}

// row runs a package over the available programs, unless it has results.
func (f flags) row(ctx context.Context, p pkg) (row, error) {
	r := row{pkg: p}
	all, err := gotest.ReadVerdicts(p.file(), p.module)
	if err != nil {
		return r, err
	}
	there, recorded := all[p.path]
	if f.real != "" {
		now, err := f.results(ctx, p, "real", f.real, limit)
		if err != nil {
			return r, err
		}
		if f.record {
			if now, err = f.keep(p, now); err != nil {
				return r, err
			}
		}
		there, recorded = now, true
	}
	if recorded {
		r.real = &there
	}
	if f.kubesim != "" {
		here, err := f.results(ctx, p, "kubesim", f.kubesim, r.limit())
		if err != nil {
			return r, err
		}
		r.kubesim = &here
	}
	return r, nil
}

// keep merges the results of the real programs for a package into verdicts, and returns the merged results. It reads the file again,
// because another process may have recorded another package since.
func (f flags) keep(p pkg, now gotest.Results) (gotest.Results, error) {
	all, err := gotest.ReadVerdicts(p.file(), p.module)
	if err != nil {
		return now, err
	}
	if before, recorded := all[p.path]; recorded && !f.fresh {
		now.Verdicts = gotest.MergeRuns(before.Verdicts, now.Verdicts, false)
	}
	if all == nil {
		all = gotest.Verdicts{}
	}
	all[p.path] = now
	return now, all.Write(p.file(), p.module)
}

// limit returns the time limit of the package over kubesim: longer than over the real programs, because failing tests often wait.
func (r *row) limit() time.Duration {
	if r.real == nil {
		return limit
	}
	return min(limit, 2*time.Minute+time.Duration(1.5*r.real.Seconds)*time.Second)
}

// results returns how the tests of a package end over the programs in a folder. Results that are there are returned, unless
// -fresh asks for others: they are kept by the name of that folder, which is another one for each kubesim.
func (f flags) results(ctx context.Context, p pkg, target, assets string, limit time.Duration) (gotest.Results, error) {
	assets, err := filepath.Abs(assets)
	if err != nil {
		return gotest.Results{}, err
	}
	kept := filepath.Join(f.work, "results", target, filepath.Base(assets), p.name()+".txt")
	if f.focus == "" && !f.fresh {
		if all, err := gotest.ReadVerdicts(kept, p.module); err != nil || all != nil {
			return all[p.path], err
		}
	}
	j := job{pkg: p, assets: assets, focus: f.focus, limit: limit, out: filepath.Join(f.work, "log", target, p.name()), temp: filepath.Join(f.work, fmt.Sprint("tmp", os.Getpid()))}
	r, err := j.run(ctx)
	if err != nil {
		return r, err
	}
	fmt.Printf("%-8s %7.1fs  %s  %s\n", target, r.Seconds, r.Count(), p.path)
	if f.focus != "" {
		return r, nil
	}
	return r, gotest.Verdicts{p.path: r}.Write(kept, p.module)
}

// name is the package's path as the name of a file.
func (p pkg) name() string { return strings.ReplaceAll(p.path, "/", "_") }

// file returns the file with the verdicts of the package's module.
func (p pkg) file() string {
	name, _, _ := strings.Cut(p.path, "/")
	return filepath.Join("verdicts", name+".txt")
}
