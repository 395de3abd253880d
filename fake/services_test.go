package fake_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/listen/listentest"
)

// serveCerts serves a handler with the certificate in a folder, as a webhook server on a developer's machine does.
func serveCerts(t *testing.T, dir, address string, h http.HandlerFunc) {
	t.Helper()
	is := is.New(t)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	is.NoErr(err)
	socket, err := net.Listen("tcp", address)
	is.NoErr(err)
	far := &http.Server{Handler: h, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}}, ReadHeaderTimeout: time.Minute}
	go func() { _ = far.ServeTLS(socket, "", "") }() // until it is closed
	t.Cleanup(func() { far.Close() })
}

// TestServiceAddress checks a webhook whose configuration names a service and has no caBundle, as in the manifests of
// an operator. The server reaches the service at its ServiceAddress, and trusts the certificate that it has created for
// the service. The Service need not exist.
func TestServiceAddress(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir, at := filepath.Join(t.TempDir(), "certs"), listentest.Address(t)
	srv := fake.RunT(t, fake.Options{ServiceAddresses: map[string]string{"shop-system/hooks": at}, ServiceCerts: dir})
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	is.NoErr(err)
	is.Equal(ca, srv.ServiceCA())
	protos := make(chan string, 9)
	serveCerts(t, dir, at, func(w http.ResponseWriter, q *http.Request) { protos <- q.Proto; allow(w, q) })
	x := target{t: t, url: l.URL()}
	reviewed(x, `"service":{"namespace":"shop-system","name":"hooks","path":"/x"}`)
	x.must("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"x"}}`)
	is.Equal(<-protos, "HTTP/1.1") // as for all services

	moved := listentest.Address(t)
	serveCerts(t, dir, moved, func(w http.ResponseWriter, q *http.Request) { protos <- "moved"; allow(w, q) })
	is.NoErr(srv.ServiceAddress("shop-system/hooks", moved))
	x.must("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"moved"}}`)
	is.Equal(<-protos, "moved") // although a connection to the old address is open

	is.NoErr(srv.ServiceAddress("shop-system/hooks", ""))
	reviewed(x, `"service":{"namespace":"shop-system","name":"hooks","path":"/x","port":444}`)
	text := x.message("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"y"}}`)
	is.True(strings.HasSuffix(text, `service "hooks" not found`)) // as long as the service has no address
	is.NoErr(srv.ServiceAddress("shop-system/hooks:444", at))
	x.must("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"y"}}`)

	for _, wrong := range []string{"hooks", "a/", "a/b:x", "a/b:0"} {
		is.True(srv.ServiceAddress(wrong, at) != nil)
	}
	is.True(srv.ServiceAddress("a/b", "9443") != nil)
	is.True(fake.RunT(t).ServiceCerts(dir) != nil) // there is no service
}

// reviewed registers a webhook with a clientConfig for every new ConfigMap in the namespace default.
func reviewed(x target, clientConfig string) {
	x.t.Helper()
	const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	x.must("DELETE", configurations+"/w", "")
	x.must("POST", configurations, fmt.Sprintf(`{"metadata":{"name":"w"},"webhooks":[{"name":"w.example.com","sideEffects":"None",
		"admissionReviewVersions":["v1"],"clientConfig":{%s},"rules":[{"apiGroups":[""],"apiVersions":["v1"],
		"operations":["CREATE"],"resources":["configmaps"]}]}]}`, clientConfig))
}

// TestWebhookTimeOverSocket checks that the timeoutSeconds of a webhook that is called over a socket are measured by
// the server's clock.
func TestWebhookTimeOverSocket(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t)
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	arrived := make(chan struct{})
	made := issue(t, "127.0.0.1", time.Now().AddDate(1, 0, 0))
	port := made.listen(t, func(_ http.ResponseWriter, q *http.Request) {
		io.Copy(io.Discard, q.Body)
		close(arrived)
		<-q.Context().Done()
	})
	x := target{t: t, url: l.URL()}
	reviewed(x, fmt.Sprintf(`"url":"https://127.0.0.1:%d/x","caBundle":%q`, port, made.ca))
	go func() {
		<-arrived
		srv.Clock.Advance(10 * time.Second)
	}()
	text := x.message("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"x"}}`)
	is.True(strings.HasSuffix(text, "context deadline exceeded"))
}

// TestAdmissionConfig checks that the file of --admission-control-config-file sets the server's credentials for
// webhooks. They are those of the user in the kubeconfig with the name of the host.
func TestAdmissionConfig(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		is.NoErr(os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	made := issue(t, "127.0.0.1", time.Now().AddDate(1, 0, 0))
	shown := make(chan string, 9)
	port := made.listen(t, func(w http.ResponseWriter, q *http.Request) {
		who := q.Proto + " " + q.Header.Get("Authorization")
		if len(q.TLS.PeerCertificates) > 0 {
			who += " " + q.TLS.PeerCertificates[0].Subject.CommonName
		}
		shown <- who
		allow(w, q)
	}, func(c *tls.Config) { c.ClientAuth = tls.RequestClientCert })
	key, err := x509.MarshalPKCS8PrivateKey(made.leaf.PrivateKey)
	is.NoErr(err)
	write("client.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	write("client.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.leaf.Certificate[0]})))
	write("users.yaml", "apiVersion: v1\nkind: Config\nusers:\n- name: 127.0.0.1:"+fmt.Sprint(port)+
		"\n  user: {client-certificate: client.crt, client-key: client.key}\n- name: '*'\n  user: {token: secret}\n")
	write("webhooks.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: WebhookAdmissionConfiguration\nkubeConfigFile: "+dir+"/users.yaml\n")
	config := write("admission.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"+
		"- {name: ValidatingAdmissionWebhook, path: webhooks.yaml}\n")

	srv := fake.RunT(t, fake.Options{AdmissionConfig: config})
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	x := target{t: t, url: l.URL()}
	reviewed(x, fmt.Sprintf(`"url":"https://127.0.0.1:%d/x","caBundle":%q`, port, made.ca))
	x.must("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"x"}}`)
	is.Equal(<-shown, "HTTP/2.0  127.0.0.1")
	write("users.yaml", "kind: Config\nusers:\n- {name: '*.0.0.1', user: {token: other}}\n- {name: '*', user: {token: secret}}\n")
	srv = fake.RunT(t, fake.Options{AdmissionConfig: config})
	l, err = srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	x.url = l.URL()
	reviewed(x, fmt.Sprintf(`"url":"https://127.0.0.1:%d/x","caBundle":%q`, port, made.ca))
	x.must("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"x"}}`)
	is.Equal(<-shown, "HTTP/2.0 Bearer secret") // *.0.0.1 is a name without a port, which is for 443

	_, err = fake.New(fake.Options{AdmissionConfig: filepath.Join(dir, "none")})
	is.True(err != nil)
}
