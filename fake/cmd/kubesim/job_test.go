package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/kubelet"
)

// getJSON decodes the JSON at a path of a server.
func getJSON(t *testing.T, srv *fake.Server, path string, into any) {
	t.Helper()
	is := is.New(t)
	r, err := http.NewRequest(http.MethodGet, srv.URL()+path, nil)
	is.NoErr(err)
	res, err := srv.Transport().RoundTrip(r)
	is.NoErr(err)
	defer res.Body.Close()
	is.Equal(res.StatusCode, http.StatusOK)
	is.NoErr(json.NewDecoder(res.Body).Decode(into))
}

// pods has the fields of a list of pods that the test needs.
type pods struct {
	Items []struct {
		Metadata struct{ Annotations map[string]string }
		Spec     struct {
			Containers []struct {
				Command []string
				Env     []struct{ Name, Value string }
			}
		}
	}
}

// Kubernetes accepts the printed Job and runs it to completion. Each of its pods has its own index, with which the command sweeps
// its part of the seeds. Together the pods sweep all seeds.
func TestSweepJob(t *testing.T) {
	is := is.New(t)
	path := scenarioFile(t, doubleCreate)
	code, manifest, stderr := ended("sweep", path, "--seeds", "1:181", "--max", "0", "--job", "3", "--image", "example.com/kubesim:1", "--name", "hunt")
	is.Equal([]any{code, stderr}, []any{0, ""})
	file := filepath.Join(t.TempDir(), "job.yaml")
	is.NoErr(os.WriteFile(file, []byte(manifest), 0o644))

	srv := fake.RunT(t, fake.Options{Controllers: controller.All, Nodes: 2,
		Images: map[string]kubelet.Image{"example.com/kubesim": {Exit: &kubelet.Exit{After: time.Second}}}})
	is.NoErr(srv.Load(file))
	is.NoErr(srv.Settle(t.Context()))
	var job struct{ Status struct{ Succeeded int } }
	getJSON(t, srv, "/apis/batch/v1/namespaces/default/jobs/hunt", &job)
	is.Equal(job.Status.Succeeded, 3)
	var config struct{ Data map[string]string }
	getJSON(t, srv, "/api/v1/namespaces/default/configmaps/hunt", &config)
	is.Equal(config.Data, map[string]string{"a.txtar": doubleCreate})
	var list pods
	getJSON(t, srv, "/api/v1/namespaces/default/pods", &list)
	is.Equal(len(list.Items), 3)

	var results []string
	for _, pod := range list.Items {
		container := pod.Spec.Containers[0]
		for _, e := range container.Env {
			t.Setenv(e.Name, e.Value)
		}
		t.Setenv("JOB_COMPLETION_INDEX", pod.Metadata.Annotations["batch.kubernetes.io/job-completion-index"]) // env refers to it
		is.Equal(container.Command[:3], []string{"kubesim", "sweep", "/scenario/a.txtar"})
		args := append([]string{"sweep", path}, container.Command[3:]...)
		code, stdout, _ := ended(args...)
		is.True(code <= 1) // in some of them a seed fails
		name := filepath.Join(t.TempDir(), "log")
		is.NoErr(os.WriteFile(name, []byte("a line of something else\n"+stdout), 0o644))
		results = append(results, name)
	}
	code, report, stderr := ended(append([]string{"sweep", "--merge"}, results...)...)
	is.Equal(code, 1)
	is.True(strings.HasPrefix(report, "3 parts, 180 runs, "))
	is.True(strings.Contains(stderr, "0 incomplete parts"))

	t.Setenv("KUBESIM_SHARDS", "") // the result without shards is the same
	code, all, _ := ended("sweep", path, "--seeds", "1:181", "--max", "0", "--json")
	is.Equal(code, 1)
	whole := filepath.Join(t.TempDir(), "whole")
	is.NoErr(os.WriteFile(whole, []byte(all), 0o644))
	_, once, _ := ended("sweep", "--merge", whole)
	_, parted, _ := strings.Cut(report, "\n")
	_, together, _ := strings.Cut(once, "\n")
	is.Equal(parted, together)
}

// The test checks the manifest of a Job for a test binary, and the errors for invalid arguments.
func TestSweepJobArguments(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	code, manifest, stderr := ended("sweep", "--job", "2", "--image", "i", "--test", "/operator.test", "--seeds", "5:25", "--", "-test.run", "TestOperator")
	is.Equal([]any{code, stderr}, []any{0, ""})
	for _, want := range []string{"- /operator.test\n", "- TestOperator\n", `value: "20"`, "name: KUBESIM_RESULTS", "completionMode: Indexed"} {
		if !strings.Contains(manifest, want) {
			t.Errorf("no %q in\n%s", want, manifest)
		}
	}
	path := scenarioFile(t, doubleCreate)
	for _, c := range []struct{ args, says string }{
		{path + " --seeds 1:3 --job 2", "--job N and --image IMAGE are both required"},
		{path + " --job 2 --image i", "the seeds are missing: --seeds 1:1000"},
		{"--merge", "--merge needs the names of files"},
		{"--merge /nowhere", "no such file"},
		{path + " --seeds 1:3 --shard 4/3", "it must be I/N with I from 1 to N"},
	} {
		code, _, stderr := ended(append([]string{"sweep"}, strings.Fields(c.args)...)...)
		is.True(code > 0)
		if !strings.Contains(stderr, c.says) {
			t.Error(strconv.Quote(stderr), "does not say", c.says)
		}
	}
}
