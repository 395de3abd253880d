package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/fake/listen"
	"github.com/kubesim/kubesim/sim/object"
)

// server is a running kubesim serve.
type server struct {
	t      *testing.T
	url    string
	client *http.Client
	token  string
	stop   func() (code int, stderr string)
}

// serving runs kubesim serve until the end of the test, or until stop.
func serving(t *testing.T, args ...string) *server {
	t.Helper()
	return running(t, append([]string{"serve"}, args...)...)
}

// running runs a command that serves, until the end of the test, or until stop.
func running(t *testing.T, args ...string) *server {
	t.Helper()
	stdout, w := io.Pipe()
	var stderr bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- program{w, &stderr}.main(ctx, args); w.Close() }()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "serving ")
	if err != nil || !ok {
		cancel()
		t.Fatalf("the first line on stdout is %q, %v; exit code %d; stderr: %s", line, err, <-code, &stderr)
	}
	s := &server{t: t, url: url, client: &http.Client{Transport: &http.Transport{}}}
	s.stop = func() (int, string) {
		cancel()
		c := <-code
		code <- c // for the next call
		return c, stderr.String()
	}
	t.Cleanup(func() { s.client.CloseIdleConnections(); s.stop() })
	return s
}

// do returns the status code and the body of a response.
func (s *server) do(method, path, body string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// must returns the body of a response, whose code must be 200 or 201.
func (s *server) must(method, path, body string) string {
	s.t.Helper()
	code, text := s.do(method, path, body)
	if code != http.StatusOK && code != http.StatusCreated {
		s.t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	return text
}

func (s *server) object(method, path, body string) object.Object {
	s.t.Helper()
	obj, err := object.Parse([]byte(s.must(method, path, body)))
	if err != nil {
		s.t.Fatal(err)
	}
	return obj
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// The first line contains the server's address, the second an example command. When the context ends, the server shuts down in
// order.
func TestServe(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := serving(t)
	is.True(strings.HasPrefix(s.url, "http://127.0.0.1:")) // loopback only
	is.Equal(s.object("GET", "/version", "").String("gitVersion"), "v1.36.3")
	is.Equal(s.must("GET", "/sim/v1/clock", "")[:8], `{"manual`)
	code, _ := s.do("POST", "/sim/v1/clock/advance?d=1m", "")
	is.Equal(code, http.StatusConflict) // the system's clock moves by itself
	code, stderr := s.stop()
	is.Equal(stderr, "try: kubectl --server "+s.url+" get namespaces\n")
	is.Equal(code, 0)
}

// With --speed, a pod that runs for ten minutes succeeds soon.
func TestSpeed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := serving(t, "--speed", "10000", "--nodes", "1")
	s.must("POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"busybox","command":["sleep","600"]}]}}`)
	events, err := s.client.Get(s.url + "/api/v1/pods?watch=1&timeoutSeconds=100000")
	is.NoErr(err)
	defer events.Body.Close()
	for lines := bufio.NewScanner(events.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), `"phase":"Succeeded"`) {
			return
		}
	}
	t.Error("the watch ended before the pod")
}

// While a request is under way, time is not faster. Watches do not count.
func TestPace(t *testing.T) {
	is := is.New(t)
	p := &pace{}
	under := func(method, url string) (n int64) {
		r := httptest.NewRequest(method, url, nil)
		p.Filter(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { n = p.requests.Load() })).ServeHTTP(httptest.NewRecorder(), r)
		return n
	}
	is.Equal(under("GET", "/api/v1/pods"), int64(1))
	is.Equal(under("GET", "/api/v1/pods?watch=1"), int64(0))
	is.Equal(under("GET", "/api/v1/pods"), int64(1))
	is.Equal(p.requests.Load(), int64(0))
}

// With --clock manual, time advances only by requests.
func TestControlClock(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := serving(t, "--clock", "manual")
	is.Equal(s.must("GET", "/sim/v1/clock", ""), `{"manual":true,"now":"2026-01-01T00:00:00Z"}`+"\n")
	is.Equal(s.must("POST", "/sim/v1/clock/advance?d=90s", ""), `{"manual":true,"now":"2026-01-01T00:01:30Z"}`+"\n")
	a := s.object("POST", configMaps, `{"metadata":{"name":"a"}}`)
	is.Equal(a.String("metadata", "creationTimestamp"), "2026-01-01T00:01:30Z")
	for _, d := range []string{"", "soon", "-1s"} {
		code, text := s.do("POST", "/sim/v1/clock/advance?d="+d, "")
		is.Equal(code, http.StatusBadRequest)
		is.True(strings.Contains(text, "is not a duration such as 5m")) // the message contains an example
	}
	code, _ := s.do("POST", "/sim/v1/clock", "")
	is.Equal(code, http.StatusMethodNotAllowed)
	code, _ = s.do("GET", "/sim/v1/nothing", "")
	is.Equal(code, http.StatusNotFound)
}

// compact affects only the store: an exact read fails, while the watch cache still has the events. expire affects both.
func TestControlHistory(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := serving(t, "--clock", "manual")
	before := s.object("POST", configMaps, `{"metadata":{"name":"a"}}`).ResourceVersion()
	s.must("POST", configMaps, `{"metadata":{"name":"b"}}`)
	page := s.object("GET", configMaps+"?limit=1", "").String("metadata", "continue")
	s.must("DELETE", configMaps+"/a", "")

	s.must("POST", "/sim/v1/compact", "")
	is.Equal(s.firstEvent(before), "ADDED") // b
	s.must("POST", "/sim/v1/expire", "")
	is.Equal(s.firstEvent(before), "ERROR") // 410 in the stream
	code, text := s.do("GET", configMaps+"?limit=1&continue="+page, "")
	is.Equal(code, http.StatusGone)
	is.True(strings.Contains(text, `"reason":"Expired"`))
}

// firstEvent returns the type of the first event of a watch.
func (s *server) firstEvent(from string) string {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", s.url+configMaps+"?watch=1&resourceVersion="+from, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	line, err := bufio.NewReader(res.Body).ReadBytes('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	event, err := object.Parse(line)
	if err != nil {
		s.t.Fatal(err)
	}
	return event.String("type")
}

// The example in the help is a valid plan: the next update of a pod, and no other, conflicts.
func TestControlFaults(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := serving(t, "--clock", "manual")
	_, plan, _ := strings.Cut(serveUsage, `the faults, one per line: "`)
	plan, _, _ = strings.Cut(plan, `"`)
	plan = strings.Replace(plan, "pods", "configmaps", 1)
	s.must("POST", configMaps, `{"metadata":{"name":"a"}}`)
	is.True(strings.Contains(s.must("POST", "/sim/v1/faults", plan), "on update configmaps"))
	code, _ := s.do("PUT", configMaps+"/a", `{"metadata":{"name":"a"}}`)
	is.Equal(code, http.StatusConflict)
	s.must("PUT", configMaps+"/a", `{"metadata":{"name":"a"}}`) // times=1
	s.must("DELETE", "/sim/v1/faults", "")
	is.Equal(s.must("GET", "/sim/v1/faults", ""), "")
	code, text := s.do("POST", "/sim/v1/faults", "on tuesday")
	is.Equal(code, http.StatusBadRequest)
	is.True(strings.HasPrefix(text, "kubesim: "))
}

// Two servers with one seed generate the same names, and a reset returns a server to its initial state.
func TestSeedAndReset(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const body = `{"metadata":{"generateName":"a-"}}`
	s := serving(t, "--seed", "7", "--clock", "manual")
	first := s.must("POST", configMaps, body)
	is.Equal(serving(t, "--seed", "7", "--clock", "manual").must("POST", configMaps, body), first)
	is.True(serving(t, "--seed", "8", "--clock", "manual").must("POST", configMaps, body) != first)
	s.must("POST", "/sim/v1/reset", "")
	is.Equal(len(s.object("GET", configMaps, "").List("items")), 0)
	is.Equal(s.must("POST", configMaps, body), first)
}

// kubectl asks for a user name if it connects over TLS and has no credentials, so it gets some from a server that reads none.
func TestKubeconfigWithoutUsers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	serving(t, "--tls", "--kubeconfig", file)
	data, err := os.ReadFile(file)
	is.NoErr(err)
	is.True(strings.Contains(string(data), "token: "+listen.UnreadToken+"\n"))
	s := serving(t, "--tls")
	_, stderr := s.stop()
	is.Equal(stderr, "try: kubectl --server "+s.url+" --insecure-skip-tls-verify --token "+listen.UnreadToken+" get namespaces\n")
}

// The kubeconfig contains everything that a client needs: the address, the certificate to trust and a token.
func TestKubeconfig(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	s := serving(t, "--tls", "--auth", "rbac", "--kubeconfig", file)
	data, err := os.ReadFile(file)
	is.NoErr(err)
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     string `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Token string `json:"token"`
			} `json:"user"`
		} `json:"users"`
	}
	is.NoErr(yaml.Unmarshal(data, &config))
	is.Equal(config.Clusters[0].Cluster.Server, s.url)
	is.True(strings.HasPrefix(s.url, "https://127.0.0.1:"))

	_, err = s.client.Get(s.url + "/version")
	is.True(err != nil) // the certificate is not trusted by default

	pem, err := base64.StdEncoding.DecodeString(config.Clusters[0].Cluster.CA)
	is.NoErr(err)
	trusted := x509.NewCertPool()
	is.True(trusted.AppendCertsFromPEM(pem))
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}}
	code, _ := s.do("GET", configMaps, "")
	is.Equal(code, http.StatusForbidden) // system:anonymous is not authorized
	s.token = config.Users[0].User.Token
	is.Equal(s.token, "admintoken")
	s.must("GET", configMaps, "")
	s.token = "alicetoken"
	code, _ = s.do("GET", configMaps, "")
	is.Equal(code, http.StatusForbidden) // alice has no rights
	s.client.CloseIdleConnections()
	_, stderr := s.stop()
	is.True(strings.HasPrefix(stderr, "try: kubectl --kubeconfig "+file+" get namespaces\n"))
	info, err := os.Stat(file)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600)) // it holds a token
}

// A token on the command line replaces its user's default token. The other default tokens remain valid.
func TestTokens(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := serving(t, "--auth", "rbac", "--token", "secret", "--token", "bob=builder")
	for token, want := range map[string]int{
		"secret": http.StatusOK, "builder": http.StatusForbidden, "alicetoken": http.StatusForbidden, "admintoken": http.StatusUnauthorized,
	} {
		s.token = token
		code, _ := s.do("GET", configMaps, "")
		is.Equal(code, want)
	}
	_, stderr := s.stop()
	is.Equal(stderr, `try: curl -H "Authorization: Bearer secret" `+s.url+"/api/v1/namespaces   (kubectl sends tokens over TLS only: add --tls)\n")

	open := serving(t, "--token", "secret")
	open.must("GET", configMaps, "")
	_, stderr = open.stop()
	is.True(strings.HasSuffix(stderr, "note: --token and certificates have no effect without --auth rbac: all clients are cluster-admin\n"))
}

// A server with nodes has a default StorageClass and a default IngressClass, and gives addresses to load balancers.
func TestServeAddons(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want int // classes and addresses
	}{{[]string{"--nodes", "1"}, 1}, {[]string{"--controllers", "all"}, 0}} {
		is := is.New(t)
		s := serving(t, append(tt.args, "--clock", "manual")...)
		is.Equal(len(s.object("GET", "/apis/storage.k8s.io/v1/storageclasses", "").List("items")), tt.want)
		s.must("POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"s"},"spec":{"type":"LoadBalancer","ports":[{"port":80}]}}`)
		s.must("POST", "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
			`{"metadata":{"name":"i"},"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}`)
		s.must("POST", "/sim/v1/controllers/settle", "")
		for _, path := range []string{"/api/v1/namespaces/default/services/s", "/apis/networking.k8s.io/v1/namespaces/default/ingresses/i"} {
			is.Equal(len(s.object("GET", path, "").List("status", "loadBalancer", "ingress")), tt.want)
		}
	}
}

// By default a server with nodes runs the controllers, and a server without nodes does not. A flag overrides this.
func TestServeControllers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want int // config maps in a new namespace: kube-root-ca.crt
	}{{nil, 0}, {[]string{"--nodes", "1"}, 1}, {[]string{"--controllers", "all"}, 1}, {[]string{"--nodes", "1", "--controllers", "none"}, 0}} {
		is := is.New(t)
		s := serving(t, append(tt.args, "--clock", "manual")...)
		s.must("POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
		is.Equal(len(s.object("GET", "/api/v1/namespaces/n/configmaps", "").List("items")), tt.want)
	}
}
