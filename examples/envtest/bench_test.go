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
)

// BenchmarkUp is the time from the start of etcd until kube-apiserver says that it is well, asked every millisecond: envtest
// asks every 100 ms.
func BenchmarkUp(b *testing.B) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	for b.Loop() {
		etcd, apiserver := "http://"+free(b), free(b)
		host, port, _ := net.SplitHostPort(apiserver)
		begin(b, filepath.Join(assets, "etcd"), "--data-dir="+b.TempDir(), "--listen-client-urls="+etcd)
		well(b, etcd+"/health")
		begin(b, filepath.Join(assets, "kube-apiserver"), "--etcd-servers="+etcd, "--bind-address="+host, "--secure-port="+port,
			"--authorization-mode=RBAC", "--cert-dir="+b.TempDir(), "--service-cluster-ip-range=10.0.0.0/24")
		well(b, "https://"+apiserver+"/healthz")
	}
}

// free returns an address of this machine where nobody listens.
func free(b *testing.B) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// begin starts a program that ends with the benchmark.
func begin(b *testing.B, name string, args ...string) {
	c := exec.Command(name, args...)
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
	})
}

var anyone = http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// well waits until a URL answers with 200.
func well(b *testing.B, url string) {
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
	b.Fatalf("%s does not answer", url)
}
