package inside

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/dropin"
	"github.com/kubesim/kubesim/fake/kubectl"
)

// run calls the replacement of the program with args and returns its exit code and what it wrote to stdout and stderr. The program
// is stopped at once.
func run(t *testing.T, program string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	is := is.New(t)
	var files [2]*os.File
	for i := range files {
		f, err := os.Create(filepath.Join(t.TempDir(), "output"))
		is.NoErr(err)
		defer f.Close()
		files[i] = f
	}
	stop := make(chan struct{})
	close(stop)
	code = Program(program)(args, files[0], files[1], stop)
	var texts [2]string
	for i, f := range files {
		_, err := f.Seek(0, io.SeekStart)
		is.NoErr(err)
		b, err := io.ReadAll(f)
		is.NoErr(err)
		texts[i] = string(b)
	}
	return code, texts[0], texts[1]
}

func TestProgram(t *testing.T) {
	is := is.New(t)
	is.True(Program("/usr/bin/git") == nil) // only two programs are replaced

	code, stdout, stderr := run(t, "/assets/kube-apiserver", "--version")
	is.Equal(code, 0)
	is.True(strings.HasPrefix(stdout, "Kubernetes v1."))
	is.Equal(stderr, "")

	code, _, stderr = run(t, "kube-apiserver", "--no-such-flag")
	is.Equal(code, 1)
	is.True(strings.HasPrefix(stderr, "kube-apiserver: ")) // the message names the program
	is.True(strings.Contains(stderr, "no-such-flag"))

	code, _, _ = run(t, "etcd", "--data-dir", t.TempDir(), "--listen-client-urls", "http://127.0.0.1:0")
	is.Equal(code, 0) // stopped
}

func TestNoOutput(t *testing.T) {
	is := is.New(t)
	is.Equal(Program("kube-apiserver")([]string{"--version"}, nil, nil, nil), 0) // a command without Stdout discards its output
}

// TestStartCluster checks that KUBECONFIG leads to a server with the given objects, and that EndTest returns what it has found.
func TestStartCluster(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	objects := filepath.Join(dir, "objects.yaml")
	is.NoErr(os.WriteFile(objects, []byte("{apiVersion: v1, kind: Namespace, metadata: {name: loaded}}"), 0o600))
	t.Setenv("TMPDIR", dir)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBESIM_FAIL_ON_WARNING", "true")
	t.Setenv(dropin.ClusterVariable, objects)
	StartCluster()

	target, err := kubectl.Load(nil, os.Getenv)
	is.NoErr(err)
	get := func(path string) int {
		request, err := http.NewRequest(http.MethodGet, target.Config.Server+path, nil)
		is.NoErr(err)
		request.Header.Set("Authorization", "Bearer "+target.Token)
		answer, err := target.Transport().RoundTrip(request)
		is.NoErr(err)
		is.NoErr(answer.Body.Close())
		return answer.StatusCode
	}
	is.Equal(get("/api/v1/namespaces/loaded"), http.StatusOK)
	is.Equal(len(EndTest(false)), 0)

	is.Equal(get("/api/v1/componentstatuses"), http.StatusOK)
	failures := EndTest(false)
	is.Equal(len(failures), 1)
	is.True(strings.Contains(failures[0], "v1 ComponentStatus is deprecated in v1.19+"))
	is.Equal(len(EndTest(false)), 0) // returned once
}
