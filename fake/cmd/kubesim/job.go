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

// jobFlags are those of a Job that sweeps.
type jobFlags struct {
	pods        int
	image, name string
	test        string   // the path of a test binary; empty to sweep a scenario
	args        []string // of the binary
}

// scenarioDir is where the pods find the scenario.
const scenarioDir = "/scenario"

type fields = map[string]any

// printJob prints the manifests of an Indexed Job, each pod of which takes its part of the seeds once: a pod that finds something
// fails, and running it again would find the same.
func (p program) printJob(path string, f sweepFlags) error {
	switch {
	case f.job.pods <= 0 || f.job.image == "":
		return usagef("sweep: a Job needs --job N and --image IMAGE")
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
			"--seeds", fmt.Sprintf("%d:%d", f.from, f.to), "--max", strconv.Itoa(f.most), "--json"}
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

// binary lets the container run a test binary.
func (j *jobFlags) binary(container fields, f sweepFlags) {
	container["command"] = append([]string{j.test, "-test.timeout=0"}, j.args...)
	container["env"] = append(container["env"].([]fields),
		fields{"name": "KUBESIM_SEED", "value": strconv.FormatUint(f.from, 10)},
		fields{"name": "KUBESIM_SEEDS", "value": strconv.FormatUint(f.to-f.from, 10)},
		fields{"name": campaign.ResultsVariable, "value": "/dev/stdout"})
}
