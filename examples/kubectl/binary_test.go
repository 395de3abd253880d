package kubectl

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubesim/kubesim/fake"
)

// serve builds kubesim and runs "kubesim serve" until the test ends. It returns the first line of its standard output, and that of
// its standard error, after which the server is ready.
func serve(t *testing.T, args ...string) (serving, try string) {
	t.Helper()
	is := is.New(t)
	binary := filepath.Join(t.TempDir(), "kubesim")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/kubesim/kubesim/fake/cmd/kubesim").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	command := exec.Command(binary, append([]string{"serve"}, args...)...)
	stdout, err := command.StdoutPipe()
	is.NoErr(err)
	stderr, err := command.StderrPipe()
	is.NoErr(err)
	is.NoErr(command.Start())
	t.Cleanup(func() {
		is.NoErr(command.Process.Signal(os.Interrupt))
		is.NoErr(command.Wait()) // an interrupt is an orderly end
	})
	serving, err = bufio.NewReader(stdout).ReadString('\n')
	is.NoErr(err)
	try, err = bufio.NewReader(stderr).ReadString('\n')
	is.NoErr(err)
	return serving, try
}

// withConfig returns a kubectl that reads a kubeconfig file.
func withConfig(t *testing.T, file string) kubectl {
	cache := t.TempDir()
	return kubectl{t: t, flags: func() *genericclioptions.ConfigFlags {
		flags := genericclioptions.NewConfigFlags(true)
		flags.KubeConfig, flags.CacheDir = &file, &cache
		return flags
	}}
}

// The command serves HTTPS, its kubeconfig contains its address, and requests advance its clock.
func TestKubesimServe(t *testing.T) {
	is := is.New(t)
	config := filepath.Join(t.TempDir(), "kubeconfig")
	serving, try := serve(t, "--tls", "--kubeconfig", config, "--clock", "manual")
	is.True(strings.HasPrefix(serving, "serving https://127.0.0.1:"))
	is.Equal(try, "try: kubectl --kubeconfig "+config+" get namespaces\n")
	k := withConfig(t, config)

	k.do("create -f " + k.file(pods))
	is.Equal(k.do("get pods -o name"), "pod/back\npod/front\n")
	is.True(strings.Contains(k.do("api-resources"), "deploy"))
	is.Equal(k.do("apply -f "+k.file(web)), "deployment.apps/web created\n")
	is.Equal(k.do("apply -f "+k.file(web)), "deployment.apps/web unchanged\n")
	is.True(strings.Contains(k.do("explain pods.spec"), "containers\t<[]Container> -required-"))
	is.Equal(k.do("delete pod front"), "pod \"front\" deleted from default namespace\n") // it waits for the end
	is.Equal(k.do("wait --for=delete pod/front --timeout 1m"), "")
}

// A listener serves other processes while the test has access to the server.
func TestListener(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t)
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	config := filepath.Join(t.TempDir(), "kubeconfig")
	is.NoErr(os.WriteFile(config, l.KubeConfig(""), 0o600))
	k := withConfig(t, config)
	k.do("create configmap settings")

	answer, err := http.Post(fmt.Sprint(l.URL(), "/sim/v1/clock/advance?d=5m"), "", nil)
	is.NoErr(err)
	is.NoErr(answer.Body.Close())
	is.Equal(k.do("get configmap settings"), "NAME       DATA   AGE\nsettings   0      5m\n")
}
