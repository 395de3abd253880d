package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// realCluster is a dump of a real server (TestRecordImport of fake/kubectl).
const realCluster = "../../testdata/import/real/cluster.json.gz"

// TestServeImport checks that a served cluster can be imported from a file, and from there from the running server.
func TestServeImport(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	config := filepath.Join(t.TempDir(), "kubeconfig")
	const pods = "/api/v1/namespaces/shop/pods"
	first := serving(t, "--import", realCluster, "--nodes-from-import", "--kubeconfig", config)
	want := first.object("GET", pods, "").Objects("items")
	is.Equal(len(want), 5)
	is.Equal(want[0].Objects("status", "containerStatuses")[0].Int64("restartCount"), int64(7))
	var at struct{ Now string }
	is.NoErr(json.Unmarshal([]byte(first.must("GET", "/sim/v1/clock", "")), &at))
	is.True(strings.HasPrefix(at.Now, "2026-11-29T00:33")) // the time continues from that of the dump

	second := serving(t, "--import-from", config, "--resources", "ns,po,secrets", "--controllers", "none")
	got := second.object("GET", pods, "").Objects("items")
	is.Equal(got, want)
	second.must("GET", "/api/v1/namespaces/data/secrets/login", "") // it was named
	code, _ := second.do("GET", "/apis/apps/v1/namespaces/shop/deployments/web", "")
	is.Equal(code, 404) // it was not

	third := serving(t, "--import-from", config, "--clock", "manual", "--controllers", "none")
	third.must("GET", "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/shop/foos/example", "")
	code, _ = third.do("GET", "/api/v1/namespaces/data/secrets/login", "")
	is.Equal(code, 404) // no Secrets without --with-secrets
	_, stderr := third.stop()
	is.True(strings.HasPrefix(stderr, "imported "))
}

// TestImportDiff checks that kubectl diff finds no difference between a dump and the server that has imported it.
func TestImportDiff(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	config, file := filepath.Join(t.TempDir(), "kubeconfig"), filepath.Join(t.TempDir(), "dump.json")
	packed, err := os.Open(realCluster)
	is.NoErr(err)
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	is.NoErr(err)
	data, err := io.ReadAll(z)
	is.NoErr(err)
	is.NoErr(os.WriteFile(file, data, 0o600))
	serving(t, "--import", file, "--controllers", "none", "--kubeconfig", config)
	code, out, _ := ended("kubectl", "--kubeconfig", config, "diff", "-f", file)
	is.Equal(out, "")
	is.Equal(code, 0)
	is.NoErr(os.WriteFile(file, bytes.Replace(data, []byte(`"replicas":4`), []byte(`"replicas":5`), 1), 0o600))
	code, out, _ = ended("kubectl", "--kubeconfig", config, "diff", "-f", file)
	is.True(strings.Contains(out, "\n-  replicas: 4\n+  replicas: 5\n"))
	is.Equal(code, 1)
}

// TestImportErrors checks the errors of flags and files.
func TestImportErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken, archive := filepath.Join(dir, "broken.yaml"), filepath.Join(dir, "archive")
	for file, text := range map[string]string{broken: "kind: A\n---\na: b: c\n", archive: ""} { // order does not matter
		is.New(t).NoErr(os.WriteFile(file, []byte(text), 0o600))
	}
	for args, want := range map[string]string{
		"--import " + broken:  "kubesim: serve: --import: " + broken + ":3: mapping values are not allowed in this context\n",
		"--import x":          "kubesim: serve: --import: stat x: no such file or directory\n",
		"--import-from x":     "kubesim: serve: --import-from: open x: no such file or directory\n",
		"--with-secrets":      "kubesim: serve: --resources and --with-secrets need --import-from KUBECONFIG\n",
		"--nodes-from-import": "kubesim: serve: --nodes-from-import needs --import or --import-from\n",
		"--nodes-from-import --nodes 1 --import " + broken: "kubesim: serve: use --nodes or --nodes-from-import, not both\n",
		"--import " + broken + " --archive " + archive:     "kubesim: serve: --import: the cluster in --archive " + archive + " exists already: remove --import, or use another file\n",
	} {
		if _, _, got := ended(append([]string{"serve"}, strings.Fields(args)...)...); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
