package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const testUsage = `kubesim test PACKAGES [flags of go test] builds tests as js/wasm and runs them under node. All random values come from the
seed KUBESIM_SEED (default 1). There is only one thread and goroutines are not preempted, so two runs are byte-identical, even
where two runs with fake.Repeatable may differ. Tests run about ten times as slowly. The command needs go and node, and the
tests must not use the network or other processes. They see only environment variables whose names begin with KUBESIM_.
`

// draws is a script that replaces Node's crypto before a Go program is loaded. It implements SplitMix64 with a seed.
const draws = `let state = BigInt(process.env.KUBESIM_SEED || "1");
const mask = (1n << 64n) - 1n;
function next() {
	state = (state + 0x9e3779b97f4a7c15n) & mask;
	let z = state;
	z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
	z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
	return z ^ (z >> 31n);
}
Object.defineProperty(globalThis, "crypto", { value: {
	getRandomValues(into) {
		for (let i = 0; i < into.length; i++) into[i] = Number(next() & 0xffn);
		return into;
	},
} });
`

// test implements kubesim test.
func (p program) test(ctx context.Context, args []string) error {
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h" || args[0] == "-help") {
		return helpText(testUsage)
	}
	if len(args) == 0 {
		return usagef("test: the packages are missing, such as ./...; see kubesim test --help")
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("test: go env: %w", err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		return errors.New("test: running js/wasm needs node: " + err.Error())
	}
	dir, err := os.MkdirTemp("", "kubesim-test-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "draws.js")
	if err := os.WriteFile(script, []byte(draws), 0o644); err != nil {
		return err
	}
	runner := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec")
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1", "-exec", inNode(script, runner, os.Environ())}, args...)...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("test: %w", err)
	}
	return nil
}

// inNode returns the command that runs a js/wasm program in Node. It passes few environment variables, because Go limits arguments
// and environment to 12 KiB.
func inNode(script, runner string, env []string) string {
	words := []string{"env", "-i", "GODEBUG=randautoseed=0", "NODE_OPTIONS=--require=" + script}
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if name == "PATH" || name == "HOME" || name == "TMPDIR" || strings.HasPrefix(name, "KUBESIM_") {
			words = append(words, v)
		}
	}
	words = append(words, runner)
	for i, w := range words {
		if strings.ContainsAny(w, " \t'\"") {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, " ")
}
