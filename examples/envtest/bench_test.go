package envtest_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/fake/listen/listentest"
)

// BenchmarkUp measures the time from the start of etcd until kube-apiserver is healthy, which it polls every millisecond. envtest
// polls every 100 ms.
func BenchmarkUp(b *testing.B) {
	for b.Loop() {
		pair(b)
	}
}

// pair starts etcd and kube-apiserver and waits until both are healthy. config is the administrator's.
func pair(t testing.TB) (apiserver *exec.Cmd, config *rest.Config) {
	t.Helper()
	assets, etcd, address := os.Getenv("KUBEBUILDER_ASSETS"), "http://"+listentest.Address(t), listentest.Address(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("secret,ann,1,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	begin(t, filepath.Join(assets, "etcd"), "--data-dir="+t.TempDir(), "--listen-client-urls="+etcd)
	well(t, etcd+"/health")
	host, port, _ := net.SplitHostPort(address)
	apiserver = begin(t, filepath.Join(assets, "kube-apiserver"), "--etcd-servers="+etcd, "--bind-address="+host, "--secure-port="+port,
		"--authorization-mode=RBAC", "--token-auth-file="+tokens, "--cert-dir="+t.TempDir(), "--service-cluster-ip-range=10.0.0.0/24")
	config = &rest.Config{Host: "https://" + address, BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	well(t, config.Host+"/healthz")
	return apiserver, config
}

// begin starts a program that ends with the test.
func begin(t testing.TB, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
	})
	return c
}

var anyone = http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// well waits until a URL returns 200.
func well(t testing.TB, url string) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-tick.C {
		if res, err := anyone.Get(url); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
	}
	t.Fatalf("%s does not answer", url)
}
