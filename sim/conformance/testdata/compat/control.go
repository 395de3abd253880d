package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
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
	"strings"
	"syscall"
)

// release is the release of the control plane's programs, as in the go.mod of ../e2e.
const release = "1.36.3"

// manager checks that kube-controller-manager creates the pods of a Deployment.
func manager(ctx context.Context, f flags, _ row) error {
	return f.control(ctx, "kube-controller-manager", func(c *plane) error {
		if err := c.send(http.MethodPost, "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"web"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},
			"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"nginx"}]}}}}`); err != nil {
			return err
		}
		return within(ctx, "the Deployment has two pods, of an account", func() bool {
			return c.count("/api/v1/namespaces/default/pods", `"serviceAccountName":"default"`) == 2
		})
	}, "--use-service-account-credentials=true")
}

// scheduler checks that kube-scheduler finds a node for a pod.
func scheduler(ctx context.Context, f flags, _ row) error {
	return f.control(ctx, "kube-scheduler", func(c *plane) error {
		err := errors.Join(
			c.send(http.MethodPost, "/api/v1/nodes", `{"metadata":{"name":"n"}}`),
			c.send(http.MethodPatch, "/api/v1/nodes/n", `{"spec":{"taints":null}}`),
			c.send(http.MethodPatch, "/api/v1/nodes/n/status", `{"status":{"capacity":{"cpu":"8","memory":"8Gi","pods":"9"},"allocatable":{"cpu":"8","memory":"8Gi","pods":"9"}}}`),
			c.send(http.MethodPost, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"default"}}`),
			c.send(http.MethodPost, "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"nginx"}]}}`))
		if err != nil {
			return err
		}
		return within(ctx, "the pod is bound", func() bool {
			return c.count("/api/v1/namespaces/default/pods", `"nodeName":"n"`) == 1 && c.count("/api/v1/namespaces/default/events", `"reason":"Scheduled"`) == 1
		})
	})
}

// plane is a program of the control plane over a kubesim that has no controllers.
type plane struct {
	*server
	url, token string
}

// control starts a program with a kubesim, waits until it is the leader, makes it work, and checks that it still runs.
func (f flags) control(ctx context.Context, name string, work func(*plane) error, args ...string) error {
	program, err := f.build(ctx, name)
	if err != nil {
		return err
	}
	dir := filepath.Join(f.work, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	key := filepath.Join(dir, "sa.key")
	if err := writeKey(key); err != nil {
		return err
	}
	const token = "compat-token"
	address := free()
	c := &plane{url: "https://" + address, token: token}
	c.server, err = f.start(ctx, dir, "--listen", address, "--token", token, "--controllers", "none", "--enable-admission-plugins", "ServiceAccount",
		"--service-account-key-file", key, "--service-account-signing-key-file", key)
	if err != nil {
		return err
	}
	defer c.stop()
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	if name == "kube-controller-manager" {
		args = append(args, "--service-account-private-key-file="+key)
	}
	p := exec.Command(program, append(args, "--kubeconfig="+c.kubeconfig, "--bind-address=127.0.0.1", "--cert-dir="+filepath.Join(dir, "certs"), "--secure-port="+port(free()))...)
	p.Stdout, p.Stderr = log, log
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	err = within(ctx, name+" leads", func() bool {
		return len(ended) > 0 || c.count("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/"+name, `"holderIdentity":"`) == 1
	})
	if err == nil {
		err = work(c)
	}
	select {
	case early := <-ended:
		return fmt.Errorf("%s has ended: %w, %v", name, early, err)
	default:
	}
	p.Process.Signal(syscall.SIGTERM)
	<-ended
	if err != nil {
		return fmt.Errorf("%w; logs are in %s", err, dir)
	}
	return nil
}

// build builds a program of the control plane in the module of ../e2e, unless it exists.
func (f flags) build(ctx context.Context, name string) (string, error) {
	program := filepath.Join(f.work, "control-"+release, name)
	if executable(program) {
		return program, nil
	}
	module, err := filepath.Abs("../e2e")
	if err != nil {
		return "", err
	}
	const version = "k8s.io/component-base/version"
	out, err := command(ctx, module, nil, "go", "build", "-o", program, "-ldflags", fmt.Sprintf("-s -w -X %s.gitVersion=v%s -X %s.gitMajor=1 -X %s.gitMinor=%s",
		version, release, version, version, strings.Split(release, ".")[1]), "k8s.io/kubernetes/cmd/"+name)
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
}

// send sends a request of the administrator.
func (c *plane) send(method, path, body string) error {
	_, err := c.ask(method, path, body)
	return err
}

// count returns the number of occurrences of a text in the answer to a get, or 0 if the get fails.
func (c *plane) count(path, text string) int {
	body, err := c.ask(http.MethodGet, path, "")
	if err != nil {
		return 0
	}
	return bytes.Count(body, []byte(text))
}

func (c *plane) ask(method, path, body string) ([]byte, error) {
	q, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+c.token)
	q.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		q.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := reach.Do(q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	return text, err
}

// free returns an unused address.
func free() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer l.Close()
	return l.Addr().String()
}

func port(address string) string { return address[strings.LastIndex(address, ":")+1:] }

// writeKey writes a new private key: tokens of service accounts are signed with it.
func writeKey(file string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), 0o600)
}
