// Command suites runs the test suites of well-known projects, which start their API servers with controller-runtime's
// envtest, over kubesim's drop-in and over the real etcd and kube-apiserver, and compares them spec by spec:
//
//	module proxy ─▶ src/PROJECT ─▶ bin/PROJECT/*.test ─▶ KUBEBUILDER_ASSETS=kubesim's ─▶ verdicts ─┐
//	                (unchanged)    (go test -c)      └─▶ KUBEBUILDER_ASSETS=the real   ─▶ verdicts ─┴─▶ differences, a table
//
// The suites are unchanged. The result of each spec in several runs on the real server is recorded in verdicts, so that a run can
// be compared without the real server. A spec whose results differed is recorded as varying and is not compared. "make suites" builds
// the programs and runs it. It is a separate module below testdata, because no other module may have its dependencies. The command
// itself needs only the Go command and the standard library.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// flags are the command line.
type flags struct {
	kubesim, real, virtual, work, only, packages, focus, write string
	record, fresh                                              bool
}

func main() {
	var f flags
	flag.StringVar(&f.kubesim, "kubesim", "", "the folder that kubesim envtest prints")
	flag.StringVar(&f.real, "real", "", "the folder with the real etcd, kube-apiserver and kubectl")
	flag.StringVar(&f.virtual, "virtual", "", "the program kubesim, to run the suites in virtual time, too")
	flag.StringVar(&f.work, "work", "", "the folder for sources, test binaries and logs")
	flag.StringVar(&f.only, "only", "", "run these projects only, with commas between them")
	flag.StringVar(&f.packages, "packages", "", "run the packages whose path contains this only")
	flag.StringVar(&f.focus, "focus", "", "run the specs and tests whose names match this regular expression only")
	flag.StringVar(&f.write, "write", "", "write the results into the table of this file, unless -packages or -focus is given")
	flag.BoolVar(&f.record, "record", false, "write what the real server gives to verdicts; what differs from a run before varies")
	flag.BoolVar(&f.fresh, "fresh", false, "with -record: forget the runs before")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) error {
	chosen, err := choose(f.only)
	if err != nil {
		return err
	}
	if f.work, err = filepath.Abs(f.work); err != nil {
		return err
	}
	if f.kubesim == "" && f.real == "" && f.virtual == "" {
		return errors.New("name a folder with -kubesim or -real, or the program with -virtual")
	}
	var rows []row
	different := 0
	for _, p := range chosen {
		r, err := f.compare(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		rows = append(rows, r)
		different += len(r.differences)
	}
	fmt.Print("\n" + table(rows))
	if f.write != "" && f.packages == "" && f.focus == "" {
		if err := updateReadme(f.write, rows); err != nil {
			return err
		}
	}
	if different > 0 {
		return fmt.Errorf("%d differences from the real server; logs are in %s", different, filepath.Join(f.work, "log"))
	}
	return nil
}

// choose returns the projects with these names, all without any.
func choose(names string) ([]project, error) {
	if names == "" {
		return projects, nil
	}
	var chosen []project
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(projects, func(p project) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no project is called %s", name)
		}
		chosen = append(chosen, projects[i])
	}
	return chosen, nil
}

// compare runs the suite of a project over the servers that there are.
func (f flags) compare(ctx context.Context, p project) (row, error) {
	r := row{project: p}
	packages, err := p.build(ctx, f.work, f.kubesim != "" || f.real != "")
	if err != nil {
		return r, err
	}
	packages = slices.DeleteFunc(packages, func(b binary) bool { return !strings.Contains(b.path, f.packages) })
	known, err := readVerdicts(p)
	if err != nil {
		return r, err
	}
	if f.real != "" {
		if r.real, err = f.over(ctx, "real", f.real, p, packages); err != nil {
			return r, err
		}
	}
	if f.record {
		if f.fresh {
			known = nil
		}
		if known, err = record(p, known, r.real, f.focus != ""); err != nil {
			return r, err
		}
	}
	r.known = known
	if f.kubesim != "" {
		if r.kubesim, err = f.over(ctx, "kubesim", f.kubesim, p, packages); err != nil {
			return r, err
		}
		r.differences = differences(known, r.kubesim, f.focus != "")
	}
	if f.virtual != "" {
		if r.virtual, err = f.inVirtualTime(ctx, p, packages); err != nil {
			return r, err
		}
		for _, d := range differences(known, r.virtual, f.focus != "") {
			r.differences = append(r.differences, "in virtual time: "+d)
		}
	}
	for _, d := range r.differences {
		fmt.Println("  " + d)
	}
	return r, nil
}

// over runs the packages of a project, one after the other, over the programs in a folder.
func (f flags) over(ctx context.Context, target, assets string, p project, packages []binary) (*outcome, error) {
	assets, err := filepath.Abs(assets)
	if err != nil {
		return nil, err
	}
	o := &outcome{packages: map[string]gotest.Results{}}
	for _, b := range packages {
		job := job{project: p, binary: b, assets: assets, focus: f.focus, out: filepath.Join(f.work, "log", target, p.name, strings.ReplaceAll(b.path, "/", "_"))}
		results, err := job.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.path, err)
		}
		o.packages[b.path] = results
		fmt.Printf("%-22s %-8s %6.1fs  %s  %s\n", p.name, target, results.Seconds, results.Count(), b.path)
	}
	return o, nil
}
