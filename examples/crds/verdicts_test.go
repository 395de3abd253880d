package crds

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/check"
)

// manifests lists public manifests of projects, with the project's own CRDs: the name, the module, and patterns of files.
var manifests = []struct {
	name, module string
	files        []string
}{
	{"argo-workflows", "github.com/argoproj/argo-workflows/v3@v3.7.0", []string{"manifests/base/crds/full/argoproj.io_workflows.yaml", "manifests/base/crds/minimal/*.yaml", "examples/[a-e]*.yaml", "test/e2e/lintfail/*.yaml"}},
	{"cert-manager", "github.com/cert-manager/cert-manager@v1.21.2", []string{"deploy/crds/*.yaml", "test/fixtures/cert-manager-resources.yaml"}},
	{"cloudnative-pg", "github.com/cloudnative-pg/cloudnative-pg@v1.27.1", []string{"config/crd/bases/*.yaml", "config/rbac/*role*.yaml", "docs/src/samples/*.yaml", "docs/src/samples/*/*.yaml"}},
	{"cluster-operator", "github.com/rabbitmq/cluster-operator@v1.14.0", []string{"config/crd/bases/*.yaml", "docs/examples/*/*.yaml"}},
	{"gateway-api", gatewayAPI, []string{"config/crd/standard/gateway*.yaml", "examples/standard/*.yaml", "examples/standard/*/*.yaml", "hack/invalid-examples/standard/*/*.yaml"}},
	{"jobset", "sigs.k8s.io/jobset@v0.10.1", []string{"config/components/crd/bases/*.yaml", "config/components/rbac/*.yaml", "config/samples/*.yaml"}},
	{"kuberay", "github.com/ray-project/kuberay/ray-operator@v1.5.1", []string{"config/crd/bases/*.yaml", "config/rbac/*.yaml", "config/samples/ray-*.yaml"}},
	{"lws", "sigs.k8s.io/lws@v0.9.0", []string{"config/crd/bases/*.yaml", "config/rbac/*.yaml", "docs/examples/*/*.yaml", "docs/examples/*/*/*.yaml"}},
	{"prometheus-operator", "github.com/prometheus-operator/prometheus-operator@v0.85.0", []string{"example/prometheus-operator-crd-full/*.yaml", "example/rbac/*/*.yaml", "example/user-guides/*/*.yaml"}},
	{"zookeeper-operator", "github.com/pravega/zookeeper-operator@v0.2.15", []string{"config/crd/bases/*.yaml", "config/rbac/*.yaml", "config/samples/*/*.yaml"}},
}

// sources reads the files of a module. The names of the files are relative to the module.
func sources(t *testing.T, module string, patterns []string) *check.Sources {
	t.Helper()
	dir := moduleDir(t, module)
	s, err := check.Read(slices.DeleteFunc(files(t, dir, patterns), func(name string) bool { return filepath.Base(name) == "kustomization.yaml" }), nil)
	is.New(t).NoErr(err)
	for _, o := range s.Objects {
		o.File = strings.TrimPrefix(o.File, dir+"/")
	}
	for i := range s.Problems {
		s.Problems[i].File = strings.TrimPrefix(s.Problems[i].File, dir+"/")
	}
	return s
}

// transcript returns the errors and warnings of a report, and the code and the warnings of each response. A real server that has
// served other projects has their namespaces, so transcript leaves out the notes about created namespaces.
func transcript(t *testing.T, r *check.Report) string {
	var b strings.Builder
	r.Findings = slices.DeleteFunc(r.Findings, func(f check.Finding) bool { return f.Level == check.Note })
	is.New(t).NoErr(r.Write(&b, "text"))
	for _, a := range r.Answers {
		for _, v := range a.Verdicts { // there is one
			fmt.Fprintf(&b, "%d %s %s%s\n", v.Code, a.File, a.Object, strings.Join(append([]string{""}, v.Warnings...), "\n    "))
		}
	}
	return b.String()
}

// answers is the file with the responses of a real server to the manifests of a project.
func answers(project, minor string) string {
	return filepath.Join("testdata", "verdicts", project+"."+minor+".txt")
}

// recordFrom is the address of a new real API server (make real). If it is given, TestVerdicts records the verdicts that are missing:
//
//	KUBESIM_TOKEN=admintoken go test -timeout 1h -run TestVerdicts ./crds -record http://127.0.0.1:6480
var recordFrom = flag.String("record", "", "record the verdicts of the real API server at this address")

// TestVerdicts checks that kubesim check gives the recorded verdicts of real servers, to the letter, for public manifests of ten
// projects.
func TestVerdicts(t *testing.T) {
	if *recordFrom != "" {
		recordVerdicts(t, *recordFrom)
	}
	t.Parallel()
	for _, p := range manifests {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, minor := range []string{"1.36", "1.37"} {
				is := is.New(t)
				r, err := check.Run(sources(t, p.module, p.files), check.Options{Minors: []string{minor}})
				is.NoErr(err)
				want, err := os.ReadFile(answers(p.name, minor))
				is.NoErr(err)
				is.Equal(transcript(t, r), string(want)) // the responses of the real server
				t.Log(r.Summary())
			}
		})
	}
}

// recordVerdicts creates the manifests on the real server at url, and records the responses that are missing.
func recordVerdicts(t *testing.T, url string) {
	is := is.New(t)
	target := check.Target{URL: url, Transport: http.DefaultTransport, Token: os.Getenv("KUBESIM_TOKEN"), Pause: 20 * time.Second}
	minor, err := target.Minor()
	is.NoErr(err)
	for _, p := range manifests {
		file := answers(p.name, minor)
		if _, err := os.Stat(file); err == nil {
			continue
		}
		r, err := check.RunOn(target, sources(t, p.module, p.files), check.Options{})
		is.NoErr(err)
		is.NoErr(os.WriteFile(file, []byte(transcript(t, r)), 0o644))
		t.Logf("%s: %s", p.name, r.Summary())
	}
}
