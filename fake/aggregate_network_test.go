package fake_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/listen/listentest"
	"github.com/kubesim/kubesim/sim/auth"
)

// TestAggregateOverNetwork checks that aggregated API servers that listen are reached through their service: over TLS,
// with the proxy's client certificate, over HTTP/2, and with separate connections.
func TestAggregateOverNetwork(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir, at := filepath.Join(t.TempDir(), "certs"), listentest.Address(t)
	front := issue(t, "front-proxy", time.Now().AddDate(1, 0, 0))
	key, err := x509.MarshalPKCS8PrivateKey(front.leaf.PrivateKey)
	is.NoErr(err)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC, ServiceAddresses: map[string]string{"default/shapes": at}, ServiceCerts: dir,
		ProxyClientCert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.leaf.Certificate[0]}),
		ProxyClientKey:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})})
	mux := shapes()
	mux.HandleFunc("GET /apis/shapes.example.com/v1/who", func(w http.ResponseWriter, q *http.Request) {
		fmt.Fprint(w, q.Proto, " ", q.TLS.PeerCertificates[0].Subject.CommonName, " ", q.Header["Authorization"], q.Header["X-Remote-User"], q.Header["X-Forwarded-For"])
	})
	mux.HandleFunc("GET /apis/shapes.example.com/v1/upgrade", func(w http.ResponseWriter, q *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", q.Header.Get("Upgrade"))
		line, _ := buffered.ReadString('\n')
		fmt.Fprint(conn, "echo ", line)
	})
	mux.Handle("GET /apis/shapes.example.com/v1/elsewhere", http.RedirectHandler("/x", http.StatusFound))
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	is.NoErr(err)
	socket, err := net.Listen("tcp", at)
	is.NoErr(err)
	far := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert, NextProtos: []string{"h2", "http/1.1"}}}
	go func() { _ = far.ServeTLS(socket, "", "") }() // until it is closed
	t.Cleanup(func() { far.Close() })

	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	x := target{t, l.URL(), "admintoken"}
	x.must("POST", "/apis/apiregistration.k8s.io/v1/apiservices", `{"metadata":{"name":"v1.shapes.example.com"},"spec":{"group":"shapes.example.com",
		"version":"v1","groupPriorityMinimum":100,"versionPriority":10,"service":{"namespace":"default","name":"shapes"}}}`)
	x.until("Passed")
	code, body := x.do("GET", "/apis/shapes.example.com/v1/who", "")
	is.Equal(fmt.Sprint(code, " ", body), "200 HTTP/2.0 front-proxy [] [admin] [127.0.0.1]")
	code, body = x.do("GET", "/apis/shapes.example.com/v1/elsewhere", "")
	is.Equal(fmt.Sprint(code, " ", body), "502 the backend attempted to redirect this request, which is not permitted")
	code, _ = target{t, l.URL(), "alicetoken"}.do("GET", "/apis/shapes.example.com/v1/who", "")
	is.Equal(code, http.StatusForbidden) // rejected before the aggregated server is called

	is.Equal(upgraded(t, x, "/apis/shapes.example.com/v1/upgrade"), "101 echo hello\n")
	is.Equal(upgraded(t, x, "/apis/shapes.example.com/v1/who"), "503 invalid upgrade response: status code 200\n")

	is.NoErr(srv.ServiceAddress("default/shapes", listentest.Address(t)))
	_, message := x.until("FailedDiscoveryCheck")
	is.True(strings.HasSuffix(message, ": connect: connection refused"))
}

// until polls the APIService until its condition has the given reason, and returns the reason and the message. It fails
// the test if the reason does not occur.
func (x target) until(reason string) (string, string) {
	x.t.Helper()
	got, message := "", ""
	for range 3000 {
		if _, body := x.do("GET", shapesService, ""); strings.Contains(body, `"conditions"`) {
			if got, message = condition(x.t, body); got == reason {
				return got, message
			}
		}
	}
	x.t.Fatalf("the condition does not become %s: it is %s: %s", reason, got, message)
	return "", ""
}

// upgraded upgrades a connection to another protocol, sends "hello" over it, and returns the status code of the
// response and the data that follow it.
func upgraded(t *testing.T, x target, path string) string {
	t.Helper()
	is := is.New(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(x.url, "http://"))
	is.NoErr(err)
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: greeting\r\n\r\n", path, x.token)
	reader := bufio.NewReader(conn)
	res, err := http.ReadResponse(reader, nil)
	is.NoErr(err)
	if res.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Sprint(res.StatusCode, " ", read(t, res.Body))
	}
	is.Equal(res.Header.Get("Upgrade"), "greeting")
	fmt.Fprintln(conn, "hello")
	rest, err := io.ReadAll(reader)
	is.NoErr(err)
	return fmt.Sprint(res.StatusCode, " ", string(rest))
}

// TestAggregateServer checks that kubesim itself can be an aggregated API server: it recognizes the aggregator by its
// certificate, accepts the user that the aggregator names, and authorizes the user itself.
func TestAggregateServer(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	front := issue(t, "front-proxy", time.Now().AddDate(1, 0, 0))
	ca, err := base64.StdEncoding.DecodeString(front.ca)
	is.NoErr(err)
	key, err := x509.MarshalPKCS8PrivateKey(front.leaf.PrivateKey)
	is.NoErr(err)
	far := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC, RequestHeader: auth.RequestHeader{ClientCA: ca, AllowedNames: []string{"front-proxy"},
		UsernameHeaders: []string{"X-Remote-User"}, GroupHeaders: []string{"X-Remote-Group"}, ExtraHeaderPrefixes: []string{"X-Remote-Extra-"}}})
	there, err := far.Listen(fake.ListenOptions{TLS: true})
	is.NoErr(err)
	plainly, err := far.Listen(fake.ListenOptions{})
	is.NoErr(err)
	target{t, plainly.URL(), "admintoken"}.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"circles.shapes.example.com"},
		"spec":{"group":"shapes.example.com","scope":"Namespaced","names":{"plural":"circles","kind":"Circle"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)

	srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC,
		ServiceAddresses: map[string]string{"default/shapes": strings.TrimPrefix(there.URL(), "https://")},
		ProxyClientCert:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.leaf.Certificate[0]}),
		ProxyClientKey:   pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})})
	here, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	x := target{t, here.URL(), "admintoken"}
	x.must("POST", "/apis/apiregistration.k8s.io/v1/apiservices", `{"metadata":{"name":"v1.shapes.example.com"},"spec":{"group":"shapes.example.com",
		"version":"v1","groupPriorityMinimum":100,"versionPriority":10,"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"shapes"}}}`)
	x.until("Passed")
	const circles = "/apis/shapes.example.com/v1/namespaces/default/circles"
	x.must("POST", circles, `{"apiVersion":"shapes.example.com/v1","kind":"Circle","metadata":{"name":"a"}}`)
	x.must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"metadata":{"name":"c"},"rules":[{"apiGroups":["shapes.example.com"],"resources":["*"],"verbs":["*"]}]}`)
	x.must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{"metadata":{"name":"c"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
		"kind":"ClusterRole","name":"c"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"alice"}]}`)
	text := target{t, here.URL(), "alicetoken"}.message("GET", circles, "")
	is.Equal(text, `circles.shapes.example.com is forbidden: User "alice" cannot list resource "circles" in API group "shapes.example.com" in the namespace "default"`)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, "GET", here.URL()+circles+"?watch=1", nil)
	is.NoErr(err)
	q.Header.Set("Authorization", "Bearer admintoken")
	res, err := http.DefaultClient.Do(q)
	is.NoErr(err)
	events := bufio.NewScanner(res.Body)
	is.True(events.Scan() && strings.HasPrefix(events.Text(), `{"type":"ADDED"`))
	x.must("POST", circles, `{"apiVersion":"shapes.example.com/v1","kind":"Circle","metadata":{"name":"b"}}`)
	is.True(events.Scan() && strings.Contains(events.Text(), `"name":"b"`)) // while the watch is open
}
