package operator

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/kubesim/kubesim/examples/operator/api/v1"
	v2 "github.com/kubesim/kubesim/examples/operator/api/v2"
	"github.com/kubesim/kubesim/fake/listen/listentest"
)

// built builds commands and returns their directory.
func built(t *testing.T, packages ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", dir + "/"}, packages...)...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir
}

// start starts a process that ends with the test, and returns its standard output. Its standard error is logged if the test fails.
func start(t *testing.T, env []string, name string, args ...string) io.Reader {
	t.Helper()
	p := exec.Command(name, args...)
	p.Env = append(os.Environ(), env...)
	var complaints bytes.Buffer
	p.Stderr = &complaints
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = p.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", filepath.Base(name), &complaints)
		}
	})
	return out
}

// applyAll applies a file like "kubectl apply --server-side", and returns the kinds that the server does not have.
func applyAll(t *testing.T, c client.Client, file string) (unknown []string) {
	t.Helper()
	is := is.New(t)
	data, err := os.ReadFile(file)
	is.NoErr(err)
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		obj := &unstructured.Unstructured{}
		if err := documents.Decode(obj); errors.Is(err, io.EOF) {
			return unknown
		} else if err != nil {
			t.Fatal(err)
		}
		err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner("kubectl"), client.ForceOwnership)
		if meta.IsNoMatchError(err) {
			unknown = append(unknown, obj.GetKind())
			continue
		}
		is.NoErr(err)
	}
}

// poll calls f until it returns true, for at most a minute of real time, because it waits for other processes.
func poll(t *testing.T, what string, f func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for range 3000 {
		if f() {
			return
		}
		<-ticker.C
	}
	t.Fatal("waited in vain: ", what)
}

// TestProcess runs the operator like a developer: as a local process, with "kubesim serve" and the project's manifests, which leave
// certificates to cert-manager. The only settings are the address of its webhooks and the directory of the certificate.
func TestProcess(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds and runs two programs")
	}
	is := is.New(t)
	bin := built(t, "./cmd", "github.com/kubesim/kubesim/fake/cmd/kubesim")
	dir, port, probes := t.TempDir(), listentest.Port(t), listentest.Port(t)
	config, certs := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "certs")

	out := start(t, nil, filepath.Join(bin, "kubesim"), "serve", "--kubeconfig", config, "--service-certs", certs,
		"--service-address", fmt.Sprintf("site-system/site-webhook-service=127.0.0.1:%d", port))
	line, err := bufio.NewReader(out).ReadString('\n')
	is.NoErr(err)
	is.True(strings.HasPrefix(line, "serving http://"))
	cfg, err := clientcmd.BuildConfigFromFlags("", config)
	is.NoErr(err)
	cfg.QPS = -1
	c, err := client.New(cfg, client.Options{Scheme: Scheme()})
	is.NoErr(err)
	is.Equal(applyAll(t, c, "config/default.yaml"), []string{"Certificate", "Issuer"}) // kubesim takes the place of cert-manager

	start(t, []string{"KUBECONFIG=" + config}, filepath.Join(bin, "cmd"), "--webhook-cert-path", certs,
		"--webhook-port", fmt.Sprint(port), "--health-probe-bind-address", fmt.Sprintf("127.0.0.1:%d", probes))
	poll(t, "the operator is ready", func() bool {
		res, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", probes))
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})

	blog := &v1.Site{ObjectMeta: named("blog"), Spec: v1.SiteSpec{Image: "blog:1"}} // in the old version
	is.NoErr(c.Create(t.Context(), blog))
	is.Equal(blog.Spec.Host, "blog.default.example.com") // defaulted in the new one, and converted back
	site := &v2.Site{ObjectMeta: named("blog")}
	poll(t, "the controller has written the status", func() bool {
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(site), site))
		return site.Status.ObservedGeneration == 1
	})
	is.Equal(site.Spec.Hosts, []string{"blog.default.example.com"})
	is.Equal(site.Spec.Scale.Replicas, int32(1))
	is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(site), &appsv1.Deployment{ObjectMeta: named("blog")}))

	err = c.Create(t.Context(), &v2.Site{ObjectMeta: named("copy"), Spec: v2.SiteSpec{Image: "copy:1", Hosts: site.Spec.Hosts}})
	is.True(apierrors.IsInvalid(err)) // by the validating webhook
	is.True(strings.HasSuffix(err.Error(), `spec.hosts[0]: Invalid value: "blog.default.example.com": belongs to default/blog`))

	site.Spec.Scale.Replicas = 3
	is.NoErr(c.Update(t.Context(), site))
	is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(blog), blog))
	is.Equal(*blog.Spec.Replicas, int32(3)) // read in the old version
	list := &v1.SiteList{}
	is.NoErr(c.List(t.Context(), list))
	is.Equal(len(list.Items), 1)
}
