package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// server is the server that a client uses.
type server struct {
	kubeconfig string
	process    *exec.Cmd    // nil for another server
	proxy      *http.Server // forwards to another server
}

// start starts a kubesim whose files are in a folder, or uses the server of -target.
func (f flags) start(ctx context.Context, dir string, args ...string) (*server, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s := &server{kubeconfig: filepath.Join(dir, "kubeconfig")}
	if f.target != "" {
		return s, s.lead(f.target, f.token)
	}
	os.Remove(s.kubeconfig)
	log, err := os.Create(filepath.Join(dir, "kubesim.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.process = exec.Command(f.kubesim, append([]string{"serve", "--tls", "--auth", "rbac", "--kubeconfig", s.kubeconfig}, args...)...)
	s.process.Stdout, s.process.Stderr = log, log
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt from the keyboard is for this process only
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	return s, within(ctx, "kubesim listens", func() bool { // it writes the file when it listens
		text, err := os.ReadFile(s.kubeconfig)
		return err == nil && len(text) > 0
	})
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "%s", insecure-skip-tls-verify: true}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`

// lead starts a proxy to another server, which adds the bearer token: most clients send none without TLS.
func (s *server) lead(target, token string) error {
	to, err := url.Parse(target)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.proxy = &http.Server{Handler: &httputil.ReverseProxy{FlushInterval: -1, Transport: reach.Transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}}
	go s.proxy.Serve(l)
	return os.WriteFile(s.kubeconfig, fmt.Appendf(nil, kubeconfig, "http://"+l.Addr().String()), 0o600)
}

func (s *server) stop() {
	if s.process != nil {
		end(s.process)
	}
	if s.proxy != nil {
		s.proxy.Close()
	}
}

// end stops a process, and kills it if it does not stop.
func end(p *exec.Cmd) {
	p.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(20*time.Second, func() { p.Process.Kill() })
	p.Wait()
	kill.Stop()
}

// within waits until something is so, for at most two minutes.
func within(ctx context.Context, what string, so func() bool) error {
	deadline := time.Now().Add(2 * time.Minute)
	for !so() {
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("not within two minutes: %s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// reach is the client for local addresses with self-signed certificates.
var reach = http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

// unused returns an environment variable with a new namespace name, because another server may have namespaces of an earlier run.
func unused() string { return fmt.Sprintf("NS=compat-%x", time.Now().UnixNano()) }
