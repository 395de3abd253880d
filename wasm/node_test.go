//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/lesson"
	"github.com/kubesim/kubesim/sim/scenario"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/wasm/engine"
)

// memoryMax is the maximum size of linear memory, in bytes, that the engine may use in any lesson. A phone also has to hold the
// page.
const memoryMax = 48e6

// nodeOf returns the path of node. It skips the test if node is not installed, because only the page needs it. CI has node.
func nodeOf(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node: https://nodejs.org, or apt-get install nodejs")
	}
	return node
}

// The page's engines do not link code that parses certificates or connects to other servers. Certificates alone would add a tenth
// to the core engine.
func TestDependencies(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", "-tags", "page,nocel", ".")
	list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	deps := strings.Fields(mustRun(t, list))
	for _, heavy := range []string{"crypto/x509", "crypto/tls", "net/http"} {
		if slices.Contains(deps, heavy) {
			t.Errorf("the engine of the page imports %s: put what needs it behind the build tag page", heavy)
		}
	}
}

// TestNode builds the page's engine and takes every lesson with it under node. Its frames must be byte for byte those of the native
// build, and its memory must stay small.
func TestNode(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the engine for js/wasm")
	}
	node := nodeOf(t)
	built := filepath.Join(t.TempDir(), "engine.wasm")
	mustRun(t, exec.Command(node, "build.mjs", "--raw="+built, "core")) // as make wasm does
	root := strings.TrimSpace(mustRun(t, exec.Command("go", "env", "GOROOT")))
	packed, err := schema.Pack("1.35")
	if err != nil {
		t.Fatal(err)
	}
	older := filepath.Join(t.TempDir(), "1.35.bin")
	if err := os.WriteFile(older, packed, 0o600); err != nil {
		t.Fatal(err)
	}
	glue := filepath.Join(root, "lib/wasm/wasm_exec.js")
	out := mustRun(t, exec.Command(node, "testdata/engine.mjs", built, glue, older, "../sim/soak/testdata/lost.txtar"))
	taken, soaked := map[string]bool{}, ""
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var got struct {
			Lesson, Hash, Needs, Soak string
			Memory                    float64
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got.Soak != "" {
			soaked = got.Soak
			continue
		}
		if got.Lesson == "" {
			if want := skewedHash(t); got.Needs != "schema/1.35" || got.Hash != want {
				t.Errorf("a world with an older API server needs %q and has the hash %s under js/wasm, %s natively",
					got.Needs, got.Hash, want)
			}
			continue
		}
		taken[got.Lesson] = true
		if want := hash(t, got.Lesson); got.Hash != want {
			t.Errorf("lesson %s: the frames have the hash %s under js/wasm, %s natively", got.Lesson, got.Hash, want)
		}
		t.Logf("%-12s %s %5.1f MB", got.Lesson, got.Hash, got.Memory/1e6)
		if got.Memory > memoryMax {
			t.Errorf("lesson %s takes %.1f MB of linear memory, at most %.0f are wanted",
				got.Lesson, got.Memory/1e6, memoryMax/1e6)
		}
	}
	if want := soakHash(t, "../sim/soak/testdata/lost.txtar"); soaked != want {
		t.Errorf("a soak has the hash %s under js/wasm, %s natively", soaked, want)
	}
	all, err := lesson.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if taken[l.ID] != (l.Engine == "core") {
			t.Errorf("lesson %s, whose engine is %s: was it taken? %v", l.ID, l.Engine, taken[l.ID])
		}
	}
}

// hash takes a lesson natively and returns the hash of its frames.
func hash(t *testing.T, id string) string {
	t.Helper()
	l, err := lesson.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	s, err := lesson.Start(l)
	if err != nil {
		t.Fatal(err)
	}
	for !s.Done() {
		if why := s.Solve(nil); why != "" {
			t.Fatal(why)
		}
	}
	return s.World().Hash()
}

// skewedHash returns the hash of the world with two versions that testdata/engine.mjs creates.
func skewedHash(t *testing.T) string {
	t.Helper()
	two := []sim.ReplicaOptions{{Version: "1.36"}, {Version: "1.35"}}
	w, err := scenario.New(scenario.Options{Cluster: sim.Options{Seed: 1, Replicas: two}})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"create configmap a", "get configmap a --via=2", "kubectl get configmap a"} {
		op, err := scenario.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Do(op); err != nil {
			t.Fatal(err)
		}
	}
	return w.Hash()
}

// soakHash returns the hash of the world in which a soak is opened.
func soakHash(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New()
	var answer struct{ Kind, Hash string }
	for _, q := range []map[string]any{{"v": 1, "kind": "boot", "scenario": string(text)}, {"v": 1, "kind": "hash"}} {
		message, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(e.Handle(message)[0], &answer); err != nil || answer.Kind != "ok" {
			t.Fatalf("%s: %s, %v", q["kind"], answer.Kind, err)
		}
	}
	return answer.Hash
}

// TestPack checks that packed data unpacks to the same bytes, and that damaged data is rejected (pack.test.mjs).
func TestPack(t *testing.T) {
	t.Parallel()
	mustRun(t, exec.Command(nodeOf(t), "--test", "pack.test.mjs"))
}

func mustRun(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	var failed bytes.Buffer
	c.Stderr = &failed
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(c.Args, " "), err, out, failed.String())
	}
	return string(out)
}
