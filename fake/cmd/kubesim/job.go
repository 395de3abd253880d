package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/codec"
)

// jobFlags are the flags for a Job that runs a sweep.
type jobFlags struct {
	pods        int
	image, name string
	test        string   // path of a test binary, or "" for a scenario
	args        []string // arguments of the test binary
}

// scenarioDir is the folder in which the pods mount the scenario.
const scenarioDir = "/scenario"

type fields = map[string]any

// printJob prints the manifests of an Indexed Job. Each of its pods runs its part of the seeds once. A pod that finds a failure
// fails; it is not retried, because it would find the same failure again.
func (p program) printJob(path string, f sweepFlags) error {
	switch {
	case f.job.pods <= 0 || f.job.image == "":
		return usagef("sweep: --job N and --image IMAGE are both required")
	case f.to == 0:
		return usagef("sweep: the seeds are missing: --seeds 1:1000")
	}
	container := fields{"name": "sweep", "image": f.job.image, "env": []fields{
		{"name": campaign.ShardsVariable, "value": strconv.Itoa(f.job.pods)}}}
	spec := fields{"restartPolicy": "Never", "containers": []fields{container}}
	var manifests []fields
	if f.job.test != "" {
		f.job.binary(container, f)
	} else {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		manifests = append(manifests, fields{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": fields{"name": f.job.name}, "data": fields{name: string(text)}})
		container["command"] = []string{"kubesim", "sweep", scenarioDir + "/" + name,
			"--seeds", fmt.Sprintf("%d:%d", f.from, f.to), "--max", strconv.Itoa(f.maxFailures), "--json"}
		container["volumeMounts"] = []fields{{"name": "scenario", "mountPath": scenarioDir}}
		spec["volumes"] = []fields{{"name": "scenario", "configMap": fields{"name": f.job.name}}}
	}
	manifests = append(manifests, fields{"apiVersion": "batch/v1", "kind": "Job", "metadata": fields{"name": f.job.name},
		"spec": fields{"completionMode": "Indexed", "completions": f.job.pods, "parallelism": f.job.pods, "backoffLimitPerIndex": 0,
			"template": fields{"spec": spec}}})
	for _, m := range manifests {
		text, err := json.Marshal(m)
		if err == nil {
			text, err = codec.JSONToYAML(text)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "---\n%s", text)
	}
	return nil
}

// binary sets the command and environment of the container to run a test binary.
func (j *jobFlags) binary(container fields, f sweepFlags) {
	container["command"] = append([]string{j.test, "-test.timeout=0"}, j.args...)
	container["env"] = append(container["env"].([]fields),
		fields{"name": "KUBESIM_SEED", "value": strconv.FormatUint(f.from, 10)},
		fields{"name": "KUBESIM_SEEDS", "value": strconv.FormatUint(f.to-f.from, 10)},
		fields{"name": campaign.ResultsVariable, "value": "/dev/stdout"})
}
