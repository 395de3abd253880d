package dropin

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/flags"
	"github.com/kubesim/kubesim/fake/listen/listentest"
)

// process is a program that runs until stop is called. If it ends before that, it must return an error.
type process struct {
	args   []string
	stop   func()
	end    func(want string) // stops a program that ends with an error
	ended  chan error
	stderr *strings.Builder
}

func run(t *testing.T, program func(ctx context.Context, args []string, stdout, stderr io.Writer) error, args ...string) *process {
	ctx, cancel := context.WithCancel(t.Context())
	p := &process{args: args, ended: make(chan error, 1), stderr: &strings.Builder{}}
	go func() { p.ended <- program(ctx, args, io.Discard, p.stderr) }()
	p.end = func(want string) {
		cancel()
		if err := <-p.ended; fmt.Sprint(err) != want {
			t.Errorf("%v: %v", args, err)
		}
		p.ended <- nil // for further calls
	}
	p.stop = func() { p.end("<nil>") }
	t.Cleanup(p.stop)
	return p
}

// url returns the URL of an etcd.
func (p *process) url() string {
	for _, arg := range p.args {
		if url, ok := strings.CutPrefix(arg, "--listen-client-urls="); ok {
			return url
		}
	}
	return ""
}

var client = http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}

// do sends a request as an administrator.
func do(t *testing.T, method, url, body string) (*http.Response, error) {
	t.Helper()
	q, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header = http.Header{"Authorization": {"Bearer secret"}, "Content-Type": {"application/json"}}
	return client.Do(q)
}

// get waits until a server responds, and returns the response.
func get(t *testing.T, url string) (code int, body string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-tick.C {
		res, err := do(t, "GET", url, "")
		if err == nil {
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return res.StatusCode, string(text)
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// pair starts an etcd and returns it with a function that starts an API server for it.
func pair(t *testing.T) (etcd *process, apiserver func(more ...string) (*process, string)) {
	t.Helper()
	at := listentest.Address(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("secret,ann,1,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	etcd = run(t, Etcd, "--data-dir", filepath.Join(t.TempDir(), "etcd"), "--listen-client-urls=http://"+at, "--unsafe-no-fsync")
	return etcd, func(more ...string) (*process, string) {
		host, port, _ := net.SplitHostPort(listentest.Address(t))
		args := append([]string{"--etcd-servers=http://" + at, "--bind-address", host, "--secure-port=" + port, "--authorization-mode=RBAC", "--token-auth-file", tokens}, more...)
		return run(t, APIServer, args...), "https://" + host + ":" + port
	}
}

// An API server for the folder of a running one starts when that one has ended, and has all objects that it stored.
func TestRestart(t *testing.T) {
	is := is.New(t)
	etcd, start := pair(t)
	first, url := start()
	code, body := get(t, url+"/readyz")
	is.Equal([]any{code, body}, []any{200, "ok"})
	res, err := do(t, "POST", url+"/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	is.NoErr(err)
	is.Equal(res.StatusCode, 201)
	second, url2 := start() // waits for the first
	first.stop()
	code, _ = get(t, url2+"/api/v1/namespaces/default/configmaps/a")
	is.Equal(code, 200)

	etcd.stop() // then there is nothing left to read
	for code == 200 {
		code, body = get(t, url2+"/api/v1/namespaces/default/configmaps/a")
	}
	is.Equal(code, 500)
	is.True(strings.Contains(body, `"reason":"ServerTimeout"`))
	second.stop()
	is.True(strings.Contains(second.stderr.String(), "has stopped"))
}

// If the etcd is not that of this package, nothing is persisted, and the API server prints a warning.
func TestForeignEtcd(t *testing.T) {
	is := is.New(t)
	foreign := &http.Server{Handler: http.NotFoundHandler()}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	go foreign.Serve(l)
	t.Cleanup(func() { foreign.Close() })
	host, port, _ := net.SplitHostPort(listentest.Address(t))
	p := run(t, APIServer, "--etcd-servers=http://"+l.Addr().String(), "--bind-address="+host, "--secure-port="+port)
	code, _ := get(t, "https://"+host+":"+port+"/healthz")
	is.Equal(code, 401) // AlwaysAllow is the default, which disables anonymous requests
	p.stop()
	is.True(strings.Contains(p.stderr.String(), "kept in memory only"))
}

func TestFlagsCount(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	faults := filepath.Join(dir, "faults")
	is.NoErr(os.WriteFile(faults, []byte("on get secrets times=1 do fail NotFound\n"), 0o600))
	trace := filepath.Join(dir, "trace.jsonl")
	t.Setenv(faultsVariable, faults)
	t.Setenv(traceVariable, trace)
	t.Setenv("KUBESIM_SEED", "7")
	_, start := pair(t)
	p, url := start("--service-cluster-ip-range=10.0.0.0/16", "--service-cluster-ip-range=10.96.0.0/12,fd00::/108", "--advertise-address=203.0.113.9", "--runtime-config=apps/v1=false,extensions/v1beta1/deployments=true",
		"--feature-gates=kube:GenericWorkload=true,WatchList=true", "--goaway-chance=0.1", "--strict-transport-security-directives=max-age=31536000,includeSubDomains")
	get(t, url+"/readyz") // the server is ready
	res, err := do(t, "GET", url+"/nowhere", "")
	is.NoErr(err)
	res.Body.Close()
	is.Equal(res.Header["Strict-Transport-Security"], []string{"max-age=31536000; includeSubDomains"})
	_, body := get(t, url+"/api/v1/namespaces/default/services/kubernetes")
	is.True(strings.Contains(body, `"clusterIP":"10.96.0.1"`))
	_, body = get(t, url+"/api/v1/namespaces/default/endpoints/kubernetes")
	is.True(strings.Contains(body, `"ip":"203.0.113.9"`))
	code, _ := get(t, url+"/apis/networking.k8s.io/v1/ipaddresses/10.96.0.1")
	is.Equal(code, 200)
	code, _ = get(t, url+"/apis/apps/v1")
	is.Equal(code, 404)
	_, body = get(t, url+"/api/v1/namespaces/default/secrets/s")
	is.True(strings.Contains(body, `secrets \"s\" not found`))
	p.stop()
	written, err := os.ReadFile(trace)
	is.NoErr(err)
	is.True(strings.Contains(string(written), `"secrets"`))
	is.True(strings.Contains(p.stderr.String(), "have no effect: --feature-gates WatchList, --runtime-config extensions/v1beta1/deployments, --goaway-chance\n"))
	second, url := start()
	get(t, url+"/readyz")
	second.stop()
	_, err = os.Stat(trace + ".2") // each server writes its own file
	is.NoErr(err)
}

// An optional plugin runs if a flag enables it. ServiceAccount runs unless a flag disables it.
func TestOptionalPlugins(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	optional := []string{"ServiceAccount", "EventRateLimit", "AlwaysDeny"}
	is.Equal(added(optional, nil, nil), []string{"ServiceAccount"})
	is.Equal(added(optional, []string{"AlwaysDeny", "Priority", "ServiceAccount"}, nil), []string{"ServiceAccount", "AlwaysDeny"})
	is.Equal(added(optional, []string{"EventRateLimit"}, []string{"ServiceAccount"}), []string{"EventRateLimit"})
}

func TestRead(t *testing.T) {
	is := is.New(t)
	s, err := read([]string{"--etcd-servers=http://a:1,http://b:2", "-v", "4", "--authorization_mode=Node,RBAC", "--disable-admission-plugins", "PodSecurity,AlwaysDeny"})
	is.NoErr(err)
	is.Equal([]any{s.etcd, s.loud, s.options.Authorizers, s.listen.Address}, []any{"http://a:1", 4, []string{"Node", "RBAC"}, ":6443"})
	is.Equal(s.options.WithoutPlugins, []string{"PodSecurity"})
	is.Equal(s.options.Plugins, []string{"ServiceAccount"})
	is.Equal(s.options.Replicas[0].NoPrivileged, true)
	is.Equal(len(s.idle), 0)
	s, err = read([]string{"--etcd-servers=a", "--authorization-mode=RABC"})
	is.NoErr(err)
	_, _, err = s.start(io.Discard)
	is.Equal(fmt.Sprint(err), `kubesim: authorization-mode "RABC" is not a valid mode`)
	for args, want := range map[string]string{ // order does not matter
		"":                                     "--etcd-servers must be specified",
		"start":                                `unknown command "start" for "kube-apiserver"`,
		"--etcd-servers=a --secure-port=x":     `invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax`,
		"--etcd-servers=a --secure-port=70000": "--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off with 0",
		"--etcd-servers=a --who-knows=me":      "unknown flag: --who-knows",
		"--etcd-servers=a --bind-address=x":    `invalid argument "x" for "--bind-address" flag: failed to parse IP: "x"`,
		"--etcd-servers=a --etcd-compaction-interval=1m --etcd-compaction-interval=x":                            `invalid argument "x" for "--etcd-compaction-interval" flag: time: invalid duration "x"`,
		"--etcd-servers=a --egress-selector-config-file=f":                                                       "kubesim does not support --egress-selector-config-file: egress selection is not simulated; the server connects directly. Remove the flag",
		"--etcd-servers=a --authorization-config=f --authorization-mode=RBAC":                                    "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined",
		"--etcd-servers=a --authentication-config=/none":                                                         `failed to load authentication configuration from file "/none": open /none: no such file or directory`,
		"--etcd-servers=a --oidc-client-id=a":                                                                    "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
		"--etcd-servers=a --enable-admission-plugins=Priority,PodNodeSelector":                                   "kubesim does not simulate the admission plugin PodNodeSelector (--enable-admission-plugins): leave it out",
		"--etcd-servers=a --admission-control=Priority --disable-admission-plugins=X":                            "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive",
		"--etcd-servers=a --tls-min-version=VersionTLS14":                                                        `unknown tls version "VersionTLS14"`,
		"--etcd-servers=a --strict-transport-security-directives=max-age=1,foo":                                  "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information",
		"--etcd-servers=a --tls-cipher-suites=X":                                                                 "Cipher suite X not supported or doesn't exist",
		"--etcd-servers=a --enable-admission-plugins=X":                                                          `enable-admission-plugins plugin "X" is unknown`,
		"--etcd-servers=a --feature-gates=X=true,AllAlpha=true":                                                  "unrecognized feature gate: X",
		"--etcd-servers=a --feature-gates=VolumeAttributesClass=false":                                           "cannot set feature gate VolumeAttributesClass to false, feature is locked to true",
		"--etcd-servers=a --allow-privileged=maybe":                                                              `invalid argument "maybe" for "--allow-privileged" flag: strconv.ParseBool: parsing "maybe": invalid syntax`,
		"--etcd-servers=a --enable-admission-plugins=Priority --disable-admission-plugins=RuntimeClass,Priority": "[Priority] in enable-admission-plugins and disable-admission-plugins overlapped",
	} {
		_, err := read(strings.Fields(args))
		is.Equal(fmt.Sprint(err), want)
	}
}

// envtest searches the help for flags, so each flag is in it once, with its effect.
func TestHelp(t *testing.T) {
	is := is.New(t)
	var out strings.Builder
	is.NoErr(APIServer(t.Context(), []string{"--help"}, &out, io.Discard))
	line := regexp.MustCompile(`(?m)^\s*--([a-z0-9-]+)\b.*  +(honoured|mapped|ignored|refused)`)
	var names []string
	for _, m := range line.FindAllStringSubmatch(out.String(), -1) {
		names = append(names, m[1])
	}
	is.Equal(len(names), len(flags.All()))
	is.True(len(names) > 160)
	slices.Sort(names)
	is.Equal(len(slices.Compact(names)), len(flags.All()))
	is.True(!slices.Contains(names, "insecure-port"))
	is.NoErr(Etcd(t.Context(), []string{"--help"}, &out, io.Discard))
	is.True(regexp.MustCompile(`(?m)^\s*--unsafe-no-fsync\b`).MatchString(out.String()))
}

// A folder is created once, even by concurrent calls.
func TestFolder(t *testing.T) {
	is, cache := is.New(t), t.TempDir()
	dirs := make(chan string)
	for range 3 {
		go func() {
			dir, err := Folder(cache)
			if err != nil {
				dir = err.Error()
			}
			dirs <- dir
		}()
	}
	dir := <-dirs
	is.Equal(dir, <-dirs)
	is.Equal(dir, <-dirs)
	for _, name := range programs {
		info, err := os.Stat(filepath.Join(dir, name))
		is.NoErr(err)
		is.True(info.Mode().Perm()&0o111 != 0)
		is.Equal(Program(filepath.Join(dir, name)), name)
	}
	is.Equal(Program("/bin/kubesim"), "")
	left, err := filepath.Glob(filepath.Join(dir, ".part-*"))
	is.NoErr(err)
	is.Equal(len(left), 0)
}
