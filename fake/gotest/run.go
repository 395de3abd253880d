package gotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/dropin"
)

// run is a run of kubesim gotest.
type run struct {
	o              *Options
	stdout, stderr io.Writer
	origin         origin
	env            environment
	modFlags       []string   // of go commands, so that the tests may import kubesim
	work           []string   // environment variables for go commands, in a workspace
	inside         bool       // the tests import kubesim, which runs etcd and kube-apiserver in their process
	dir            string     // directory for temporary files
	assets         string     // directory with kubesim's etcd and kube-apiserver
	tests          testOutput // of the last go test
}

// ErrFailed is returned if tests have failed. go test has already printed the details.
var ErrFailed = errors.New("tests failed")

// Run runs go test with the options, in virtual time if possible. release is the version if this kubesim is a release.
// If tests fail, the error is ErrFailed. Any other error means that they could not be run.
func Run(ctx context.Context, o *Options, release string, stdout, stderr io.Writer) (err error) {
	if err := dropin.CheckVariables(!o.Real); err != nil {
		return err
	}
	if os.Getenv(dropin.SwarmVariable) != "" && os.Getenv(faultsVariable) != "" {
		return fmt.Errorf("%s and %s cannot both be set", dropin.SwarmVariable, faultsVariable)
	}
	r := &run{o: o, stdout: stdout, stderr: stderr}
	if r.assets, err = dropin.Folder(""); err != nil {
		return err
	}
	if o.Real && !hasOracles() {
		return r.inRealTime(ctx, nil)
	}
	if r.origin, err = findOrigin(o.Source, release); err != nil && !o.Real {
		return err
	}
	if r.dir = o.Keep; r.dir == "" {
		if r.dir, err = os.MkdirTemp("", "kubesim-gotest-"); err != nil {
			return err
		}
		defer os.RemoveAll(r.dir)
	}
	if r.dir, err = filepath.Abs(r.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(r.dir, recordsDir), 0o700); err != nil {
		return err
	}
	if err := r.environment(ctx); err != nil {
		return err
	}
	if o.Real {
		return r.inRealTime(ctx, nil)
	}
	if r.env.GOOS != "linux" && o.Cluster != nil {
		return errors.New("--cluster needs virtual time, which needs Linux")
	}
	if r.env.GOOS != "linux" {
		fmt.Fprintf(r.stderr, "kubesim gotest: virtual time needs Linux, so the tests run in real time\n")
		return r.inRealTime(ctx, nil)
	}
	return r.inVirtualTime(ctx)
}

// inVirtualTime builds the overlay and runs go test with it. It returns an error if the tests need cgo.
func (r *run) inVirtualTime(ctx context.Context) error {
	if err := r.require(ctx); err != nil {
		return err
	}
	list, err := r.packages(ctx)
	if err != nil {
		return err
	}
	need, err := r.needCgo(ctx, list)
	if err != nil {
		return err
	}
	var over overlay
	if err := over.patchGoroot(r.env.GOROOT, r.dir); err != nil {
		return err
	}
	if r.inside {
		if err := over.register(list, r.dir); err != nil {
			return err
		}
	}
	path := filepath.Join(r.dir, "overlay.json")
	if err := over.write(path); err != nil {
		return err
	}
	var real []string
	for _, p := range list {
		dependency, ok := need[p.ImportPath]
		if ok && r.o.Cluster != nil {
			return fmt.Errorf("%s needs cgo, so it cannot run in virtual time, which --cluster needs", dependency)
		}
		if ok {
			fmt.Fprintf(r.stderr, "kubesim gotest: %s runs in real time, because %s needs cgo\n", p.ImportPath, dependency)
			real = append(real, p.ImportPath)
		}
	}
	args := r.o.Args
	if len(real) > 0 {
		args = r.instead(list, real)
	}
	failed := error(nil)
	if len(real) < len(list) || len(list) == 0 {
		failed = r.goTest(ctx, slices.Concat(r.modFlags, []string{"-overlay=" + path, "-tags=" + r.tags(), "-exec=" + r.executor()}, args),
			r.virtualEnvironment())
	}
	return r.finish(ctx, failed, list, real)
}

// instead returns the arguments with the packages of list, except those in without, in place of the user's packages.
func (r *run) instead(list []aPackage, without []string) (args []string) {
	for _, p := range list {
		if !slices.Contains(without, p.ImportPath) {
			args = append(args, p.ImportPath)
		}
	}
	return r.withPackages(args)
}

// withPackages returns the arguments with the user's packages replaced by the given ones.
func (r *run) withPackages(packages []string) (args []string) {
	rest := slices.Clone(r.o.Packages)
	done := false
	for _, a := range r.o.Args {
		i := slices.Index(rest, a)
		if i < 0 {
			args = append(args, a)
			continue
		}
		rest = slices.Delete(rest, i, i+1)
		if !done {
			args, done = append(args, packages...), true
		}
	}
	if !done {
		args = append(packages, args...)
	}
	return args
}

// finish prints the virtual and real times. It then runs the packages in real time that could not run in virtual time. failed is
// the result of go test in virtual time.
func (r *run) finish(ctx context.Context, failed error, list []aPackage, real []string) error {
	records, err := r.records(list)
	if err != nil {
		return err
	}
	explained := 0 // failures of packages that run again
	unexplained := false
	for _, rec := range records {
		if rec.Report != "" && !slices.Contains(r.tests.reported, rec.Dir) {
			fmt.Fprint(r.stdout, rec.Report)
		}
		fmt.Fprintf(r.stderr, "kubesim gotest: %s\n", rec)
		if plan, err := swarm(0); err == nil && len(plan) > 0 && rec.Code != 0 && r.o.Repeat == 0 {
			fmt.Fprintf(r.stderr, "kubesim gotest: %s failed with these faults:\n%s", rec.Package, plan)
		}
		switch {
		case rec.Code == 0 || ctx.Err() != nil:
		case len(rec.Notes) > 0 && r.o.Repeat == 0 && r.o.Cluster == nil:
			fmt.Fprintf(r.stderr, "kubesim gotest: %s failed and %s, so it runs again in real time\n", rec.Package, strings.Join(rec.Notes, ", "))
			real = append(real, rec.Package)
			explained++
		default:
			unexplained = true
		}
	}
	if ctx.Err() != nil {
		return ErrFailed
	}
	unbuilt, err := r.withoutCgo(ctx, list)
	if err != nil {
		return err
	}
	real = append(real, unbuilt...)
	if explained += len(unbuilt); explained > 0 && !unexplained && len(unbuilt) == len(r.tests.unbuilt) {
		failed = nil
	}
	if len(real) == 0 {
		return failed
	}
	return errors.Join(failed, r.inRealTime(ctx, real))
}

// withoutCgo returns the packages in list that could not be built and use cgo. It prints why they run in real time.
func (r *run) withoutCgo(ctx context.Context, list []aPackage) (unbuilt []string, err error) {
	for _, p := range list {
		if !slices.Contains(r.tests.unbuilt, p.ImportPath) || r.o.Cluster != nil {
			continue
		}
		dependency, err := r.usesCgo(ctx, p)
		if err != nil {
			return nil, err
		}
		if dependency != "" {
			fmt.Fprintf(r.stderr, "kubesim gotest: %s does not build without cgo, which %s uses, so it runs in real time\n", p.ImportPath, dependency)
			unbuilt = append(unbuilt, p.ImportPath)
		}
	}
	return unbuilt, nil
}

// inRealTime runs packages with kubesim's etcd and kube-apiserver in real time. If packages is nil, it runs the user's.
func (r *run) inRealTime(ctx context.Context, packages []string) error {
	args := r.o.Args
	if packages != nil {
		args = r.withPackages(packages)
	}
	if r.o.tags != "" {
		args = append([]string{"-tags=" + r.o.tags}, args...)
	}
	env := []string{"KUBEBUILDER_ASSETS=" + r.assets}
	if hasOracles() {
		path, err := r.observed(ctx)
		if err != nil {
			return err
		}
		args, env = append([]string{"-overlay=" + path}, args...), append(env, failuresVariable+"="+r.dir)
	}
	return r.goTest(ctx, args, env)
}

// observed writes an overlay with which tests and specs fail in real time if an oracle does. It returns the path of the overlay.
func (r *run) observed(ctx context.Context) (string, error) {
	list, err := r.packages(ctx)
	if err != nil {
		return "", err
	}
	var over overlay
	if err := errors.Join(over.patchTesting(r.env.GOROOT, r.dir), over.registerReal(list, r.dir)); err != nil {
		return "", err
	}
	path := filepath.Join(r.dir, "overlay-real.json")
	return path, over.write(path)
}

// goTest runs go test with additional environment variables.
func (r *run) goTest(ctx context.Context, args, env []string) error {
	if !slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-"), "test."), "count")
	}) {
		args = append([]string{"-count=1"}, args...)
	}
	flags, variables := r.o.timeouts()
	args, env = append(flags, args...), slices.Concat(env, variables)
	cmd := exec.CommandContext(ctx, "go", append(r.in("test"), args...)...)
	cmd.Env = slices.Concat(os.Environ(), r.work, env)
	r.tests = testOutput{}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(r.stdout, &r.tests), r.stderr
	err := runGoTest(ctx, cmd)
	r.tests.explain(r.stderr)
	if errors.As(err, new(*exec.ExitError)) {
		return ErrFailed
	}
	return err
}

// in returns the arguments for a go command, with the user's -C.
func (r *run) in(command string) []string {
	if r.o.chdir != "" {
		return []string{"-C", r.o.chdir, command}
	}
	return []string{command}
}

func (r *run) tags() string {
	if r.o.tags == "" {
		return "faketime"
	}
	return r.o.tags + ",faketime"
}

// virtualEnvironment returns environment variables for go test, which passes them on to test binaries.
func (r *run) virtualEnvironment() []string {
	env := []string{"CGO_ENABLED=0", "KUBEBUILDER_ASSETS=" + r.assets, recordsVariable + "=" + filepath.Join(r.dir, recordsDir),
		"KUBESIM_GOTEST_HANG=" + strconv.Itoa(int(r.o.Hang.Seconds()))}
	if !r.o.Date.IsZero() {
		env = append(env, dateVariable+"="+r.o.Date.Format(time.RFC3339))
	}
	if r.o.Cluster != nil {
		env = append(env, dropin.ClusterVariable+"="+strings.Join(r.o.Cluster, string(filepath.ListSeparator)))
	}
	if r.o.Seed != 0 {
		env = append(env, "KUBESIM_GOTEST_SEED="+strconv.FormatUint(r.o.Seed, 10))
	}
	if r.o.Repeat != 0 {
		env = append(env, repeatVariable+"="+strconv.Itoa(r.o.Repeat))
	}
	return env
}

// output runs a go command that does not modify the user's module. It returns the output.
func (r *run) output(ctx context.Context, args ...string) ([]byte, error) {
	return r.outputWith(ctx, "0", args...)
}

// outputWith is like output, with a value of CGO_ENABLED.
func (r *run) outputWith(ctx context.Context, cgo string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", append(r.in(args[0]), args[1:]...)...)
	cmd.Env = append(append(os.Environ(), r.work...), "CGO_ENABLED="+cgo, "GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-mod=vendor", ""))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}
