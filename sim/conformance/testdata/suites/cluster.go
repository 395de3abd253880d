package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// cluster is an etcd and a kube-apiserver, started for a suite that expects to be given a KUBECONFIG.
type cluster struct {
	dir, url, kubeconfig string
	processes            []*exec.Cmd
	client               *http.Client
}

const token = "suites-token"

// startCluster starts the programs of a job's folder, waits until they are ready and creates the job's
// CustomResourceDefinitions.
func startCluster(ctx context.Context, j job) (*cluster, error) {
	c := &cluster{dir: filepath.Join(j.out, "cluster"), client: &http.Client{
		Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}}
	err := c.start(ctx, j.assets)
	for _, folder := range j.crds {
		if err == nil {
			err = c.createAll(ctx, filepath.Join(j.dir, relativeRoot(j.path), folder))
		}
	}
	if err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// relativeRoot leads from a package back to its module's folder.
func relativeRoot(path string) string {
	root, err := filepath.Rel(path, ".")
	if err != nil {
		panic(err) // both are relative
	}
	return root
}

func (c *cluster) start(ctx context.Context, assets string) error {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	etcd := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	c.url = fmt.Sprintf("https://127.0.0.1:%d", ports[2])
	c.kubeconfig = filepath.Join(c.dir, "kubeconfig")
	err = errors.Join(writeKey(filepath.Join(c.dir, "key.pem")),
		os.WriteFile(filepath.Join(c.dir, "tokens.csv"), []byte(token+`,admin,admin,"system:masters"`+"\n"), 0o600),
		os.WriteFile(c.kubeconfig, fmt.Appendf(nil, kubeconfig, c.url, token), 0o600),
		c.run(ctx, filepath.Join(assets, "etcd"), "--data-dir="+filepath.Join(c.dir, "etcd"), "--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
			fmt.Sprintf("--listen-peer-urls=http://127.0.0.1:%d", ports[1]), "--unsafe-no-fsync=true"),
		c.run(ctx, filepath.Join(assets, "kube-apiserver"), "--etcd-servers="+etcd, fmt.Sprintf("--secure-port=%d", ports[2]), "--bind-address=127.0.0.1",
			"--cert-dir="+filepath.Join(c.dir, "certs"), "--token-auth-file="+filepath.Join(c.dir, "tokens.csv"), "--authorization-mode=RBAC",
			"--service-cluster-ip-range=10.0.0.0/24", "--service-account-issuer="+c.url, "--service-account-key-file="+filepath.Join(c.dir, "key.pem"),
			"--service-account-signing-key-file="+filepath.Join(c.dir, "key.pem"), "--disable-admission-plugins=ServiceAccount"))
	if err != nil {
		return err
	}
	return c.waitReady(ctx)
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "%s", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: "%s"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
`

// run starts a program whose output goes to a file called after it.
func (c *cluster) run(ctx context.Context, program string, args ...string) error {
	log, err := os.Create(filepath.Join(c.dir, filepath.Base(program)+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	p := exec.CommandContext(ctx, program, args...)
	p.Stdout, p.Stderr = log, log
	if err := p.Start(); err != nil {
		return err
	}
	c.processes = append(c.processes, p)
	return nil
}

func (c *cluster) waitReady(ctx context.Context) error {
	deadline := time.Now().Add(time.Minute)
	for {
		_, err := c.request(ctx, http.MethodGet, "/readyz", nil)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("the API server was not ready: %w; logs are in %s", err, c.dir)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// createAll creates the CustomResourceDefinitions in the YAML files of a folder, one in each.
func (c *cluster) createAll(ctx context.Context, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no files in %s: %w", folder, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if !bytes.Contains(text, []byte("\nkind: CustomResourceDefinition\n")) {
			continue
		}
		if answer, err := c.request(ctx, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", text); err != nil {
			return fmt.Errorf("%s: %w: %s", file, err, answer)
		}
	}
	return nil
}

func (c *cluster) request(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/yaml")
	answer, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = errors.New(answer.Status)
	}
	return text, err
}

// stop ends the programs, the API server first.
func (c *cluster) stop() {
	for len(c.processes) > 0 {
		p := c.processes[len(c.processes)-1]
		c.processes = c.processes[:len(c.processes)-1]
		p.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(10*time.Second, func() { p.Process.Kill() })
		p.Wait()
		kill.Stop()
	}
}

// freePorts returns unused ports.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// writeKey writes a new private key: service account tokens are signed with it.
func writeKey(file string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}
