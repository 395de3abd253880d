package kubectl_test

import (
	"bufio"
	"errors"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecord records sessions: bash runs each line with the real kubectl, and the test writes the output to the session's file.
// New lines are added manually, outputs never.
//
//	KUBESIM_RECORD=get,write         the sessions to record, or all
//	KUBESIM_KUBECTL=/path/kubectl    a kubectl of the simulated version
//	KUBESIM_TARGET=http://…          a fresh kube-apiserver without controllers, for "# server: plain"
//	KUBESIM_TOKEN=…                  the token of a user with all permissions there
//	KUBESIM_PROGRAM=/path/kubesim    the program that serves "# server: nodes"
func TestRecord(t *testing.T) {
	wanted := os.Getenv("KUBESIM_RECORD")
	if wanted == "" {
		t.Skip("KUBESIM_RECORD says which sessions are to be recorded")
	}
	for _, s := range sessions(t) {
		if wanted != "all" && !strings.Contains(","+wanted+",", ","+s.name+",") {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			target, token := os.Getenv("KUBESIM_TARGET"), os.Getenv("KUBESIM_TOKEN")
			if s.nodes {
				target = served(t)
			}
			record(t, s, authorized(t, target, token))
			if err := os.WriteFile(filepath.Join(folder, s.name+".txt"), []byte(s.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// served starts kubesim with three nodes and returns its address.
func served(t *testing.T) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Getenv("KUBESIM_PROGRAM"), "serve", "--nodes", "3", "--listen", "127.0.0.1:0")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal("KUBESIM_PROGRAM cannot be started: ", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "serving "))
}

// authorized starts a proxy that adds the token to requests, and returns its address. kubectl does not send tokens without TLS.
func authorized(t *testing.T, target, token string) string {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// configuration is the kubeconfig of recordings and of their replay.
const configuration = `apiVersion: v1
kind: Config
current-context: sim
clusters:
- name: sim
  cluster: {server: "SERVER"}
contexts:
- name: sim
  context: {cluster: sim, user: admin}
users:
- name: admin
  user: {}
`

// record runs the lines of a session.
func record(t *testing.T, s *session, target string) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	work := filepath.Join(dir, "work")
	for _, name := range []string{bin, work} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"kubectl", "k"} {
		if err := os.Symlink(os.Getenv("KUBESIM_KUBECTL"), filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, "config")
	text := strings.ReplaceAll(configuration, "SERVER", target)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range s.steps {
		c := exec.CommandContext(t.Context(), "bash", "-c", at.line())
		c.Dir = work
		c.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + dir, "KUBECONFIG=" + config, "LC_ALL=C"}
		out, err := c.CombinedOutput()
		at.output, at.code = strings.NewReplacer(target, "http://SERVER", work+"/", "/", work, "/").Replace(string(out)), 0
		if failed := new(exec.ExitError); errors.As(err, &failed) {
			at.code = failed.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		t.Logf("$ %s\n%s", at.line(), out)
	}
}
