package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// job is one run of a test binary over the programs in a folder.
type job struct {
	project
	binary
	assets string // the folder with etcd and kube-apiserver
	out    string // for logs and reports
	focus  string // a regular expression: other specs and tests are not run
}

// limit is how long the tests of a package may take.
const limit = 20 * time.Minute

// run runs the tests and returns how each of them ended.
func (j job) run(ctx context.Context) (results, error) {
	temp := filepath.Join(j.out, "tmp")
	if err := errors.Join(os.RemoveAll(j.out), os.MkdirAll(temp, 0o755)); err != nil {
		return results{}, err
	}
	defer os.RemoveAll(temp)
	env := append(j.environment(), "TMPDIR="+temp, "KUBEBUILDER_ASSETS="+j.assets)
	if len(j.crds) > 0 {
		c, err := startCluster(ctx, j)
		if err != nil {
			return results{}, err
		}
		defer c.stop()
		env = append(env, "KUBECONFIG="+c.kubeconfig)
	}
	defer endLeft(temp)
	start := time.Now()
	if err := j.test(ctx, env); err != nil {
		return results{}, err
	}
	seconds := time.Since(start).Seconds()
	r, err := j.read()
	r.seconds = seconds
	return r, err
}

// environment is that of this process without what would lead a suite to another server.
func (j job) environment() (env []string) {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if name != "KUBECONFIG" && name != "USE_EXISTING_CLUSTER" && !strings.HasPrefix(name, "TEST_ASSET_") && !strings.HasPrefix(name, "KUBEBUILDER_") {
			env = append(env, e)
		}
	}
	return append(env, append([]string{"PWD=" + j.dir}, j.env...)...)
}

// test runs the binary as go test does, and leaves what it prints in events.json and Ginkgo's report in ginkgo.json.
// A test that fails is no error.
func (j job) test(ctx context.Context, env []string) error {
	events, err := os.Create(j.log("events.json"))
	if err != nil {
		return err
	}
	defer events.Close()
	args := []string{"tool", "test2json", "-t", "-p", j.path, j.file, "-test.v=test2json", "-test.paniconexit0", "-test.timeout=" + limit.String()}
	if j.ginkgo {
		// The same seed everywhere: specs run in the same order.
		args = append(args, "-ginkgo.v", "-ginkgo.no-color", "-ginkgo.seed=1", "-ginkgo.json-report="+j.log("ginkgo.json"))
	}
	switch {
	case j.focus != "" && j.ginkgo:
		args = append(args, "-ginkgo.focus="+j.focus)
	case j.focus != "":
		args = append(args, "-test.run="+j.focus)
	}
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = j.dir, env, events, events
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 10 * time.Second // servers that a suite leaves behind may hold the pipe
	if err := c.Run(); err != nil && c.ProcessState == nil {
		return err
	}
	return ctx.Err()
}

func (j job) log(name string) string { return filepath.Join(j.out, name) }

// endLeft ends the servers that a suite has left behind: the processes that were given its folder for temporary files.  It
// does nothing where there is no /proc.
func endLeft(temp string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(env), "\x00TMPDIR="+temp+"\x00") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
