package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/onsi/ginkgo/v2/types"
)

// tests are the names of the tests to run, and testsOwn those to run with kubesim's own controllers and nodes.
var (
	//go:embed tests.txt
	tests string
	//go:embed tests-own.txt
	testsOwn string
)

// cannot are tests that cannot pass with kubesim's own controllers and nodes, and are not run there: names, below a comment that
// says why.
//
//go:embed cannot-own.txt
var cannot string

// test runs the tests and returns how each ended, by name: passed, failed, timedout, …
func (c *cluster) test(ctx context.Context) (map[string]string, error) {
	log, err := os.Create(c.file("e2e.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := append([]string{fmt.Sprintf("--procs=%d", c.procs), "--timeout=3h", "--silence-skips", "--no-color",
		"--json-report=report.json", "--output-dir=" + c.out}, selection(c.flags)...)
	args = append(args, filepath.Join(c.bin, "e2e.test"), "--", "--kubeconfig="+c.kubeconfig("admin"), "--kubectl-path="+filepath.Join(c.bin, "kubectl"),
		"--provider=skeleton", "--allowed-not-ready-nodes=-1", "--minStartupPods=0", "--dump-logs-on-failure=false")
	p := exec.CommandContext(ctx, filepath.Join(c.bin, "ginkgo"), args...)
	p.Stdout, p.Stderr = log, log
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) } // with the processes that it has started
	failed := p.Run()                                                                // it fails when a test does: the report says more
	text, err := os.ReadFile(c.file("report.json"))
	if err != nil {
		return nil, fmt.Errorf("%v; see %s: %w", failed, log.Name(), err)
	}
	var reports []types.Report
	if err := json.Unmarshal(text, &reports); err != nil {
		return nil, err
	}
	results := map[string]string{}
	for _, r := range reports {
		for _, s := range r.SpecReports {
			if s.LeafNodeType == types.NodeTypeIt && s.State != types.SpecStateSkipped && s.State != types.SpecStatePending {
				results[s.FullText()] = s.State.String()
			}
		}
	}
	return results, nil
}

// selection returns the flags of ginkgo that select the tests of the list, or the tests whose names match focus.
func selection(f flags) (all []string) {
	if f.focus != "" {
		return []string{"--focus=" + f.focus}
	}
	tests := tests
	if f.target == "own" {
		tests = testsOwn
		for line := range strings.Lines(cannot) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				all = append(all, "--skip="+regexp.QuoteMeta(line))
			}
		}
	}
	for line := range strings.Lines(tests) {
		line = strings.TrimSpace(line)
		if pattern, out := strings.CutPrefix(line, "- "); out {
			all = append(all, "--skip="+pattern)
		} else if line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, "--focus="+line)
		}
	}
	return all
}

var sig = regexp.MustCompile(`^\[(sig-[a-z-]+)\]`)

// summary returns a line for each group with the number of passed tests.
func summary(results map[string]string) string {
	passed, all := map[string]int{}, map[string]int{}
	for name, state := range results {
		group := "other"
		if m := sig.FindStringSubmatch(name); m != nil {
			group = m[1]
		}
		all[group]++
		if state == "passed" {
			passed[group]++
		}
	}
	var b strings.Builder
	for _, group := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%-24s %3d of %3d passed\n", group, passed[group], all[group])
	}
	return b.String()
}
