package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// doubleCreate is a controller that creates a pod if its cache has none, and must never create two.
const doubleCreate = `# A controller looks into its cache.

replicas 2
never count pods > 1
controller op -f rules.yaml
create configmaps worker
tick 5s
patch configmaps worker -p '{"data":{"size":"large"}}'
tick 5s
patch configmaps worker -p '{"data":{"size":"small"}}'
eventually within 10m count pods > 0

-- rules.yaml --
watch: [pods]
rules:
- for: configmaps
  when: count pods == 0
  do: create -f pod.yaml
-- pod.yaml --
apiVersion: v1
kind: Pod
metadata: {generateName: p-}
spec: {containers: [{name: c, image: i}]}
`

// scenarioFile writes a scenario and returns its path.
func scenarioFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.txtar")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The test runs a scenario, records and compares its transcript, and traces and replays it.
func TestRunScenario(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	path := scenarioFile(t, "# A ConfigMap.\n\ncreate cm a\n")
	code, stdout, stderr := ended("run", path, "--update")
	is.Equal([]any{code, stderr}, []any{0, ""})
	is.True(strings.HasPrefix(stdout, "> create cm a\n   you POST ")) // the transcript
	data, err := os.ReadFile(path)
	is.NoErr(err)
	is.True(strings.HasSuffix(string(data), "\n-- transcript --\n"+stdout)) // is in the file now
	trace := path + ".jsonl"
	code, _, stderr = ended("run", "--trace", trace, "--quiet", path)
	is.Equal([]any{code, stderr}, []any{0, ""})
	code, stdout, _ = ended("replay", trace)
	is.Equal(code, 0)
	is.True(strings.HasPrefix(stdout, "identical: 4 frames, hash "))

	is.NoErr(os.WriteFile(path, []byte(strings.Replace(string(data), "→ 201 Created", "→ 202 Accepted", 1)), 0o644))
	code, _, stderr = ended("run", path)
	is.Equal(code, 1)
	is.True(strings.Contains(stderr, "the transcript differs from line 2 on"))
	code, _, _ = ended("run", path, "--seed", "5")
	is.Equal(code, 0) // another seed gives another transcript
}

// A failed soak is an ordinary scenario. Its last line names the violated property.
func TestRunSoak(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	code, _, stderr := ended("run", "../../../sim/soak/testdata/lost.txtar")
	is.Equal(code, 1)
	is.True(strings.Contains(stderr, "expected promises kept: Reliable: "))
}

// A sweep finds the seeds with which the scenario fails, and prints a command that repeats each run.
func TestSweep(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	path := scenarioFile(t, doubleCreate)
	code, stdout, stderr := ended("sweep", path, "--seeds", "1:120", "--max", "1", "--shrink")
	is.Equal(code, 1)
	is.True(strings.Contains(stderr, " seeds/s\n"))
	line, plan, _ := strings.Cut(stdout, "\n")
	is.True(strings.HasPrefix(line, "kubesim run "+path+" --faults random --seed "))
	is.True(strings.HasPrefix(plan, "#   on watch pods ")) // of all faults, the late event of the pod is enough
	again := strings.Fields(strings.TrimPrefix(line[:strings.Index(line, "#")], "kubesim "))
	code, _, stderr = ended(again...)
	is.Equal(code, 1)
	is.True(strings.Contains(stderr, "this must never hold: count pods > 1")) // the same result with the same seed

	careful := scenarioFile(t, strings.Replace(doubleCreate, "generateName: p-", "name: p", 1))
	code, stdout, _ = ended("sweep", careful, "--seeds", "1:120", "--shard", "2/4")
	is.Equal([]any{code, stdout}, []any{0, ""}) // a fixed name survives all of them
}

func TestScenarioArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{ // order does not matter
		"run":                         "kubesim: run: the name of a scenario is missing; see kubesim run --help\n",
		"run a b":                     "kubesim: run: \"b\": only one file is allowed\n",
		"run a --fast":                "kubesim: run: flag provided but not defined: --fast; kubesim run --help lists the flags\n",
		"sweep a":                     "kubesim: sweep: the seeds are missing: --seeds 1:1000\n",
		"sweep a --seeds 5":           "kubesim: sweep: invalid value \"5\" for flag --seeds: it must be A:B with 0 < A < B, for example 1:1000; kubesim sweep --help lists the flags\n",
		"sweep a --shard 3/2":         "kubesim: sweep: invalid value \"3/2\" for flag --shard: it must be I/N with I from 1 to N, for example 1/4; kubesim sweep --help lists the flags\n",
		"run a --update --seed 3":     "kubesim: run: --update records the scenario without changes: leave out --seed and --faults\n",
		"replay /nowhere/trace.jsonl": "kubesim: open /nowhere/trace.jsonl: no such file or directory\n",
	} {
		is := is.New(t)
		_, _, stderr := ended(strings.Fields(args)...)
		is.Equal(stderr, want)
	}
}
