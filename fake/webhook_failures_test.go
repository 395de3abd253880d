package fake_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/listen/listentest"
)

// target is a server over a socket: a simulated one, or the real one at KUBESIM_TARGET.
type target struct {
	t          *testing.T
	url, token string
}

// aTarget returns the real server at KUBESIM_TARGET, if set, or a simulator with options.
func aTarget(t *testing.T, o fake.Options) target {
	t.Helper()
	if url := os.Getenv("KUBESIM_TARGET"); url != "" {
		return target{t, url, os.Getenv("KUBESIM_TOKEN")}
	}
	l, err := fake.RunT(t, o).Listen(fake.ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return target{t: t, url: l.URL()}
}

// do sends a request and returns the code and the body of the response.
func (x target) do(method, path, body string) (int, string) {
	x.t.Helper()
	q, err := http.NewRequestWithContext(x.t.Context(), method, x.url+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	if x.token != "" {
		q.Header.Set("Authorization", "Bearer "+x.token)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		x.t.Fatal(err)
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return a.StatusCode, string(data)
}

// message sends a request until it fails, and returns the message of the Status. A real server needs a moment until it
// knows a new webhook.
func (x target) message(method, path, body string) string {
	x.t.Helper()
	for range 500 {
		code, answer := x.do(method, path, body)
		var s struct{ Message string }
		if err := json.Unmarshal([]byte(answer), &s); err != nil {
			x.t.Fatalf("%s %s: %d %s", method, path, code, answer)
		}
		if code >= 400 {
			return s.Message
		}
	}
	x.t.Fatalf("%s %s does not fail", method, path)
	return ""
}

// must sends a request that succeeds, or that fails because its object already exists or does not exist.
func (x target) must(method, path, body string) {
	x.t.Helper()
	if code, answer := x.do(method, path, body); code >= 300 && code != http.StatusConflict && code != http.StatusNotFound {
		x.t.Fatalf("%s %s: %d %s", method, path, code, answer)
	}
}

// issued is the certificate of an authority, and a certificate for a host that the authority has signed.
type issued struct {
	ca   string // base64 of PEM
	leaf tls.Certificate
}

// issue creates a certificate that is valid until a time.
func issue(t *testing.T, host string, until time.Time) issued {
	t.Helper()
	is := is.New(t)
	make := func(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		is.NoErr(err)
		if signer == nil {
			signer = key
		}
		template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(1), time.Now().AddDate(-1, 0, 0), until
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		is.NoErr(err)
		c, err := x509.ParseCertificate(der)
		is.NoErr(err)
		return c, key
	}
	root := &x509.Certificate{Subject: pkix.Name{CommonName: "root"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	ca, caKey := make(root, root, nil)
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if ip := net.ParseIP(host); ip != nil {
		leaf.DNSNames, leaf.IPAddresses = nil, []net.IP{ip}
	}
	c, key := make(leaf, ca, caKey)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw})
	return issued{base64.StdEncoding.EncodeToString(text), tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: key}}
}

// listen serves a handler with the certificate and returns its port.
func (x issued) listen(t *testing.T, h http.HandlerFunc, options ...func(*tls.Config)) int {
	t.Helper()
	far := httptest.NewUnstartedServer(h)
	far.TLS = &tls.Config{Certificates: []tls.Certificate{x.leaf}}
	for _, change := range options {
		change(far.TLS)
	}
	far.EnableHTTP2 = true
	far.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes are expected to fail
	far.StartTLS()
	t.Cleanup(func() { far.CloseClientConnections(); far.Close() })
	return far.Listener.Addr().(*net.TCPAddr).Port
}

// allow is a webhook that allows everything.
func allow(w http.ResponseWriter, q *http.Request) {
	var review struct {
		Kind, APIVersion string
		Request          struct{ UID string }
	}
	if err := json.NewDecoder(q.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"response":{"uid":%q,"allowed":true}}`, review.Kind, review.APIVersion, review.Request.UID)
}

// badBundle is PEM that is not a certificate.
var badBundle = base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("no")}))

// failures returns webhooks that cannot be called: the clientConfig, the services that it needs, and the error message.
func failures(t *testing.T, ended chan struct{}) map[string][3]string {
	t.Helper()
	never := time.Now().AddDate(10, 0, 0)
	good, other, old := issue(t, "127.0.0.1", never), issue(t, "127.0.0.1", never), issue(t, "127.0.0.1", time.Now().AddDate(0, 0, -1))
	wrong := issue(t, "else.example.com", never)
	plain := httptest.NewServer(http.HandlerFunc(allow))
	t.Cleanup(plain.Close)
	slow := good.listen(t, func(_ http.ResponseWriter, q *http.Request) {
		io.Copy(io.Discard, q.Body)
		select {
		case <-q.Context().Done():
		case <-ended:
		}
	})
	at := func(port int, ca string) string {
		return fmt.Sprintf(`"url":"https://127.0.0.1:%d/x","caBundle":%q`, port, ca)
	}
	service := func(name string, port int) string {
		return fmt.Sprintf(`"service":{"namespace":"default","name":%q,"path":"/x","port":%d},"caBundle":%q`, name, port, good.ca)
	}
	made := func(name, spec string) string { return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{%s}}`, name, spec) }
	port := good.listen(t, allow)
	return map[string][3]string{
		"refused": {at(listentest.Port(t), good.ca), "", "dial tcp 127.0.0.1:PORT: connect: connection refused"},
		"unknown-authority": {at(other.listen(t, allow), good.ca), "",
			"tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of \"x509: ECDSA " +
				"verification failure\" while trying to verify candidate authority certificate \"root\")"},
		"no-bundle":    {at(port, "Zm9v"), "", "unable to load root certificates: unable to parse bytes as PEM block"},
		"bad-bundle":   {at(port, badBundle), "", "unable to load root certificates: failed to parse certificate: x509: malformed certificate"},
		"no-authority": {at(port, ""), "", "tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		"wrong-name": {at(wrong.listen(t, allow), wrong.ca), "",
			"tls: failed to verify certificate: x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"},
		"expired": {at(old.listen(t, allow), old.ca), "",
			"tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time TIME is after TIME"},
		"plain": {fmt.Sprintf(`"url":"https://%s/x"`, plain.Listener.Addr()), "", "http: server gave HTTP response to HTTPS client"},
		"slow":  {at(slow, good.ca), "", "context deadline exceeded"},
		"host":  {`"url":"https://nobody.invalid/x"`, "", "dial tcp: lookup nobody.invalid: no such host"},
		"none":  {service("none", 443), "", `service "none" not found`},
		"port":  {service("ported", 444), made("ported", `"ports":[{"port":443}]`), `no service port 444 found for service "ported"`},
		"headless": {service("headless", 443), made("headless", `"clusterIP":"None","ports":[{"port":443}]`),
			`cannot route to service with ClusterIP "None"`},
		"external": {service("external", port), made("external", `"type":"ExternalName","externalName":"127.0.0.1"`),
			"tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match external.default.svc"},
	}
}

// TestWebhookFailures checks that the error for a webhook that cannot be called is that of the real server. With
// KUBESIM_TARGET, the test runs against the real server.
func TestWebhookFailures(t *testing.T) {
	t.Parallel()
	x := aTarget(t, fake.Options{Clock: clock.System{}})
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	for name, f := range failures(t, ended) { // order does not matter
		if f[1] != "" {
			x.must("POST", "/api/v1/namespaces/default/services", f[1])
		}
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
			x.must("POST", configurations, fmt.Sprintf(`{"metadata":{"name":%q},"webhooks":[{"name":"w.example.com","sideEffects":"None",
				"admissionReviewVersions":["v1"],"timeoutSeconds":1,"clientConfig":{%s},"rules":[{"apiGroups":[""],"apiVersions":["v1"],
				"operations":["CREATE"],"resources":["configmaps"]}],"objectSelector":{"matchLabels":{"failure":%[1]q}}}]}`, name, f[0]))
			defer x.must("DELETE", configurations+"/"+name, "")
			got := x.message("POST", "/api/v1/namespaces/default/configmaps?dryRun=All",
				fmt.Sprintf(`{"metadata":{"name":"x","labels":{"failure":%q}}}`, name))
			if without, ok := strings.CutPrefix(got, `Internal error occurred: failed calling webhook "w.example.com": could not get REST client: `); ok {
				is.Equal(without, f[2])
				return
			}
			before, text, _ := strings.Cut(got, `?timeout=1s": `)
			is.True(strings.HasPrefix(before, `Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://`))
			is.Equal(masked(text), f[2])
		})
	}
}

// masked replaces the parts that differ between runs: ports, times, and the address of a name server.
func masked(text string) string {
	for _, m := range []struct{ pattern, label string }{
		{`127\.0\.0\.1:\d+`, "127.0.0.1:PORT"}, {`\d{4}-\d\d-\d\dT[0-9:]+Z`, "TIME"}, {` on [0-9.]+:53`, ""}} {
		text = regexp.MustCompile(m.pattern).ReplaceAllString(text, m.label)
	}
	return text
}

// TestConversionFailures checks that the errors for conversion webhooks, which have 30 seconds, are also those of the
// real server.
func TestConversionFailures(t *testing.T) {
	t.Parallel()
	x := aTarget(t, fake.Options{Clock: clock.System{}})
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	all := failures(t, ended)
	for _, name := range []string{"refused", "no-authority", "expired", "plain", "none", "external"} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			if service := all[name][1]; service != "" {
				x.must("POST", "/api/v1/namespaces/default/services", service)
			}
			const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
			group := name + ".failures.example.com"
			x.must("POST", definitions, fmt.Sprintf(`{"metadata":{"name":"things.%s"},"spec":{"group":%[1]q,"scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
				"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{%s}}},"versions":[
				{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},
				{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, group, all[name][0]))
			defer x.must("DELETE", definitions+"/things."+group, "")
			x.served("/apis/" + group + "/v2/namespaces/default/things")
			x.must("POST", "/apis/"+group+"/v1/namespaces/default/things", fmt.Sprintf(`{"apiVersion":"%s/v1","kind":"Thing","metadata":{"name":"x"}}`, group))
			got := x.message("GET", "/apis/"+group+"/v2/namespaces/default/things/x", "")
			before, text, _ := strings.Cut(got, `?timeout=30s": `)
			is.True(strings.HasPrefix(before, "conversion webhook for "+group+`/v1, Kind=Thing failed: Post "https://`))
			is.Equal(masked(text), all[name][2])
		})
	}
}

// served waits until a path is served.
func (x target) served(path string) {
	x.t.Helper()
	for range 3000 {
		if code, _ := x.do("GET", path, ""); code == http.StatusOK {
			return
		}
	}
	x.t.Fatalf("%s is not served", path)
}
