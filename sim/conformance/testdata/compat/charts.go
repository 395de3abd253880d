package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// chart is a Helm chart in a Go module.
type chart struct {
	name            string
	module, version string
	path            string // of the chart, in the module
	namespace       string
	set             []string // values of every command
	upgrade         string   // the value that the upgrade changes
	without         []string // dependencies that the module lacks; they are removed, because the chart's values do not need them
	after           []string // charts that must be installed before
	objects         []string // objects that a program would create, in the chart's namespace, as arguments of kubectl create
	tests           string   // why its tests fail: they need a program that runs
	known           string   // why it cannot be installed
}

// lifecycle is the result of a chart: what was installed, and what was left after it was uninstalled.
type lifecycle struct {
	objects int
	took    time.Duration
	tests   string // pass, none, or the reason why they fail
	left    map[string]int
}

// runCharts runs the charts, and writes their table into the document.
func (f flags) runCharts(ctx context.Context) error {
	failed := 0
	for _, c := range charts {
		if !(row{name: c.name}).chosen(f.charts) {
			continue
		}
		fields, err := f.chart(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
			failed++
		}
		fmt.Println(strings.Join(fields, "  "))
		if err := f.writeCharts(c.name, fields); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d charts fail", failed)
	}
	return nil
}

// chart runs the life of a chart on its own kubesim, and returns a row of the table.
func (f flags) chart(ctx context.Context, c chart) ([]string, error) {
	result := func(objects int, took time.Duration, left, tests, verdict string) []string {
		return []string{c.name, strings.TrimPrefix(c.version, "v"), fmt.Sprint(objects), fmt.Sprintf("%.0f", took.Seconds()), left, tests, verdict}
	}
	dir, err := f.download(ctx, c)
	if err != nil {
		return result(0, 0, "", "", "not here: "+err.Error()), nil
	}
	x, err := f.live(ctx, c, dir)
	switch {
	case err != nil && c.known != "":
		return result(x.objects, x.took, "", "", c.known), nil
	case err != nil:
		return result(x.objects, x.took, "", "", "fails"), err
	case c.known != "":
		err = errors.New("it passes: remove its known reason")
	}
	return result(x.objects, x.took, counted(x.left), x.tests, "pass"), err
}

// download returns the folder of the chart's module in the module cache.
func (f flags) download(ctx context.Context, c chart) (string, error) {
	out, err := command(ctx, f.work, []string{"GOFLAGS=-mod=mod"}, "go", "mod", "download", "-json", c.module+"@"+c.version)
	if err == nil {
		var m struct{ Dir string }
		err = json.Unmarshal(out[strings.IndexByte(string(out)+"{", '{'):], &m)
		return m.Dir, err
	}
	// A module that needs a newer Go is downloaded, too, but the Go command does not say where it is. No path has capital letters.
	cache, failed := command(ctx, f.work, nil, "go", "env", "GOMODCACHE")
	dir := filepath.Join(strings.TrimSpace(string(cache)), filepath.FromSlash(c.module)+"@"+c.version)
	if _, missing := os.Stat(dir); failed != nil || missing != nil {
		return "", errors.New(lastLine(out))
	}
	return dir, nil
}

// copied copies a chart from its module, and returns the folder of the copy, whose Chart.yaml lacks some dependencies.
func (f flags) copied(c chart, module string) (string, error) {
	dir := filepath.Join(f.work, "charts", c.name, "chart")
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(filepath.Join(module, c.path)))); err != nil {
		return "", err
	}
	os.Remove(filepath.Join(dir, "Chart.lock")) // it lists the dependencies, too
	name := filepath.Join(dir, "Chart.yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	var kept strings.Builder
	drop := false
	for line := range strings.Lines(string(text)) {
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- name: "); ok {
			drop = slices.Contains(c.without, item)
		} else if line[0] != ' ' {
			drop = false
		}
		if !drop {
			kept.WriteString(line)
		}
	}
	return dir, os.WriteFile(name, []byte(kept.String()), 0o644)
}

// chartSession is a cluster in which a chart is installed.
type chartSession struct {
	flags
	ctx       context.Context
	dir, bin  string
	env       []string
	namespace string
}

// run runs a program, and returns its output. An error contains the output.
func (s *chartSession) run(program string, args ...string) (string, error) {
	out, err := command(s.ctx, s.dir, s.env, program, append(args, "--namespace", s.namespace)...)
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return string(out), err
}

func (s *chartSession) helm(args ...string) (string, error) {
	return s.run(filepath.Join(s.bin, "helm"), args...)
}

// kubectl runs kubesim's own kubectl.
func (s *chartSession) kubectl(args ...string) error {
	_, err := s.run(s.kubesim, append([]string{"kubectl"}, args...)...)
	return err
}

// live installs, tests, upgrades, rolls back and uninstalls a chart.
func (f flags) live(ctx context.Context, c chart, module string) (x lifecycle, err error) {
	s := &chartSession{flags: f, ctx: ctx, dir: filepath.Join(f.work, "charts", c.name), namespace: c.namespace}
	if s.bin, err = installHelm(ctx, f, helmOfCharts); err != nil {
		return x, err
	}
	srv, err := f.start(ctx, s.dir, "--nodes", "3", "--speed", "10", "--replica", "version="+minorOfCharts)
	if err != nil {
		return x, err
	}
	defer srv.stop()
	s.env = []string{"KUBECONFIG=" + srv.kubeconfig, "HOME=" + s.dir, "LC_ALL=C"}
	if err := s.prepare(c); err != nil {
		return x, err
	}
	before, err := s.stored()
	if err != nil {
		return x, err
	}
	dir, err := f.copied(c, module)
	if err != nil {
		return x, err
	}
	begin := time.Now()
	defer func() { x.took = time.Since(begin) }()
	wait := c.waits()
	if _, err = s.helm(append([]string{"install", c.name, dir, "--create-namespace"}, wait...)...); err != nil {
		return x, err
	}
	if x.objects, x.tests, err = s.inspect(c); err != nil {
		return x, err
	}
	if _, err = s.helm(append([]string{"upgrade", c.name, dir, "--set", c.upgrade}, wait...)...); err != nil {
		return x, err
	}
	if _, err = s.helm("rollback", c.name, "1", "--wait", "--timeout", patience); err != nil {
		return x, err
	}
	if _, err = s.helm("uninstall", c.name, "--wait", "--timeout", patience); err != nil {
		return x, err
	}
	x.left, err = s.left(before)
	return x, err
}

// patience is how long Helm waits for a chart's objects.
const patience = "3m"

// waits returns the flags of an installation and of an upgrade.
func (c chart) waits() []string {
	flags := []string{"--wait", "--timeout", patience}
	for _, value := range c.set {
		flags = append(flags, "--set", value)
	}
	return flags
}

// prepare installs the charts and creates the objects that a chart needs.
func (s *chartSession) prepare(c chart) error {
	for _, name := range c.after {
		other := charts[slices.IndexFunc(charts, func(x chart) bool { return x.name == name })]
		module, err := s.download(s.ctx, other)
		if err != nil {
			return err
		}
		first := *s
		first.namespace = other.namespace
		if _, err := first.helm(append([]string{"install", name, filepath.Join(module, other.path), "--create-namespace"}, other.waits()...)...); err != nil {
			return err
		}
	}
	if len(c.objects) > 0 {
		if err := s.kubectl("create", "namespace", c.namespace); err != nil && !strings.Contains(err.Error(), "already exists") {
			return err
		}
	}
	for _, object := range c.objects {
		if err := s.kubectl(append([]string{"create"}, strings.Fields(object)...)...); err != nil {
			return err
		}
	}
	return nil
}

// inspect returns the number of a release's objects, and the result of its tests.
func (s *chartSession) inspect(c chart) (objects int, tests string, err error) {
	all, err := s.helm("get", "all", c.name)
	if err != nil {
		return 0, "", err
	}
	_, manifests, _ := strings.Cut(all, "\nHOOKS:")
	objects = strings.Count(manifests, "\nkind: ")
	if !strings.Contains(manifests, "helm.sh/hook: test") && !strings.Contains(manifests, `"helm.sh/hook": test`) {
		return objects, "none", nil
	}
	_, err = s.helm("test", c.name, "--timeout", "30s")
	switch {
	case err != nil && c.tests != "":
		return objects, c.tests, nil
	case err == nil && c.tests != "":
		return objects, "pass", errors.New("its tests pass: remove their known reason")
	}
	return objects, "pass", err
}

// stored returns the names of all objects except events, and whether each is a hook, the pod of a hook, or an object that the chart
// asks to keep.
func (s *chartSession) stored() (map[string]bool, error) {
	kinds, err := command(s.ctx, s.dir, s.env, s.kubesim, "kubectl", "api-resources", "--verbs=list", "-o", "name")
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, kinds)
	}
	skip := []string{"events", "events.events.k8s.io", "nodes.metrics.k8s.io", "pods.metrics.k8s.io", "componentstatuses"}
	names := slices.DeleteFunc(strings.Fields(string(kinds)), func(kind string) bool { return slices.Contains(skip, kind) })
	const annotation = `{.metadata.annotations.helm\.sh/`
	out, err := command(s.ctx, s.dir, s.env, s.kubesim, "kubectl", "get", strings.Join(names, ","), "--all-namespaces",
		"-o", `jsonpath={range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name} {.metadata.ownerReferences[0].kind}=`+
			annotation+`hook}`+annotation+`resource-policy}{"\n"}{end}`)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		name, why, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = why == "Job=" || !strings.HasSuffix(why, "=")
	}
	return all, nil
}

// kept lists the kinds of objects that stay: Helm does not delete definitions in the folder crds (with their APIServices), and
// nothing deletes the claims of a StatefulSet.
var kept = []string{"CustomResourceDefinition", "APIService", "PersistentVolumeClaim", "PersistentVolume"}

// left waits until the objects that depend on the release's objects are deleted, and returns the number of remaining objects by kind.
func (s *chartSession) left(before map[string]bool) (map[string]int, error) {
	var left map[string]int
	var names []string
	var failed error
	quiet := within(s.ctx, "only objects that Helm keeps are left", func() bool {
		after, err := s.stored()
		failed, left, names = err, map[string]int{}, nil
		for name, stays := range after { // the order does not matter: names is sorted
			kind, rest, _ := strings.Cut(name, "/")
			if _, old := before[name]; old || rest == s.namespace+"/default" || rest == s.namespace+"/kube-root-ca.crt" || name == "Namespace//"+s.namespace {
				continue
			}
			left[kind]++
			if !stays && !slices.Contains(kept, kind) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return err == nil && len(names) == 0
	})
	if quiet != nil {
		quiet = fmt.Errorf("%w: %s", quiet, strings.Join(names, " "))
	}
	return left, errors.Join(failed, quiet)
}

// counted returns the text of the column with the remaining objects.
func counted(left map[string]int) string {
	var all []string
	for kind, n := range left {
		all = append(all, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

const chartsFile = "charts.txt" // a line per chart: the columns of the table, with tabs between them

// writeCharts replaces the row of a chart, and writes the table into the document.
func (f flags) writeCharts(name string, fields []string) error {
	known := map[string]string{name: strings.Join(fields, "\t")}
	text, err := os.ReadFile(chartsFile)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if first, _, _ := strings.Cut(line, "\t"); first != name {
			known[first] = line
		}
	}
	var rows, table strings.Builder
	table.WriteString("| chart | version | objects | seconds | left | tests | result |\n|---|---|---|---|---|---|---|\n")
	for _, c := range charts {
		if line, ok := known[c.name]; ok {
			rows.WriteString(line + "\n")
			table.WriteString("| " + strings.ReplaceAll(line, "\t", " | ") + " |\n")
		}
	}
	return errors.Join(os.WriteFile(chartsFile, []byte(rows.String()), 0o644), f.replace("charts", table.String()))
}
