package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/object"
)

// subject returns the user name and groups of the caller, according to the server.
func subject(s *server) (name string, groups []string) {
	obj := s.object("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", `{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}`)
	user := object.Object(object.Object(obj.Map("status")).Map("userInfo"))
	return user.String("username"), object.Strings(user.List("groups"))
}

// Only the users in the file are accepted.
func TestTokenFile(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "tokens.csv")
	is.NoErr(os.WriteFile(file, []byte("root,boss,1,system:masters\nmanager,system:kube-controller-manager,2\n"), 0o600))
	s := serving(t, "--auth", "rbac", "--token-auth-file", file)
	s.token = "manager"
	name, groups := subject(s)
	is.Equal(name, "system:kube-controller-manager")
	is.Equal(groups, []string{"system:authenticated"})
	s.token = "root"
	s.must("GET", configMaps, "")
	s.token = "admintoken"
	code, _ := s.do("GET", configMaps, "")
	is.Equal(code, http.StatusUnauthorized) // with a token file, there are no default tokens
	_, stderr := s.stop()
	is.True(strings.Contains(stderr, "Bearer root")) // the example command has the first token of the file

	is.NoErr(os.WriteFile(file, []byte("root,boss\n"), 0o600))
	is.True(strings.HasPrefix(failing("--auth", "rbac", "--token-auth-file", file),
		"kubesim: serve: --token-auth-file: "+file+": line 1: a token, the name of its user"))
	is.NoErr(os.WriteFile(file, nil, 0o600))
	is.Equal(failing("--auth", "rbac", "--token-auth-file", file), "kubesim: serve: --token-auth-file: "+file+": the file contains no tokens\n")
}

// failing returns the stderr of a kubesim serve that fails to start.
func failing(args ...string) string {
	var stderr strings.Builder
	program{&strings.Builder{}, &stderr}.main(context.Background(), append([]string{"serve"}, args...))
	return stderr.String()
}

// authority signs certificates.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	root *x509.Certificate
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, root: &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}}
	var der []byte
	der, a.key = a.sign(a.root)
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

// sign returns a DER certificate for a new key.
func (a *authority) sign(template *x509.Certificate) ([]byte, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.root, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	return der, key
}

// client returns a client with a certificate for subject that is valid until the given time.
func (a *authority) client(subject pkix.Name, until time.Time, usage x509.ExtKeyUsage) *http.Client {
	a.t.Helper()
	der, key := a.sign(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{usage}})
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true,
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}}
	a.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// A client certificate authenticates its user if it was signed by the configured CA, is for client authentication, and is currently
// valid. A token is accepted even if the certificate is invalid.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	ca, other := newAuthority(t), newAuthority(t)
	file := filepath.Join(t.TempDir(), "ca.crt")
	is.NoErr(os.WriteFile(file, ca.pem, 0o600))
	s := serving(t, "--auth", "rbac", "--tls", "--client-ca-file", file)
	carol, hour := pkix.Name{CommonName: "carol", Organization: []string{"dev"}}, time.Now().Add(time.Hour)

	s.client = ca.client(carol, hour, x509.ExtKeyUsageClientAuth)
	name, groups := subject(s)
	is.Equal(name, "carol")
	is.Equal(groups, []string{"dev", "system:authenticated"})
	code, text := s.do("GET", configMaps, "")
	is.Equal(code, http.StatusForbidden)
	is.True(strings.Contains(text, `User \"carol\" cannot list`))
	s.token = "admintoken"
	name, _ = subject(s)
	is.Equal(name, "carol") // the certificate has precedence

	for _, c := range []*http.Client{
		other.client(carol, hour, x509.ExtKeyUsageClientAuth),                      // signed by an unknown CA
		ca.client(carol, time.Now().Add(-time.Minute), x509.ExtKeyUsageClientAuth), // expired
		ca.client(carol, hour, x509.ExtKeyUsageServerAuth),                         // it is for servers
	} {
		s.client, s.token = c, ""
		code, _ = s.do("GET", configMaps, "")
		is.Equal(code, http.StatusUnauthorized)
		s.token = "admintoken"
		s.must("GET", configMaps, "")
	}
	s.client, s.token = ca.client(pkix.Name{}, hour, x509.ExtKeyUsageClientAuth), ""
	code, text = s.do("GET", configMaps, "")
	is.Equal(code, http.StatusForbidden)
	is.True(strings.Contains(text, `User \"system:anonymous\"`)) // the certificate names no user

	is.Equal(failing("--auth", "rbac", "--client-ca-file", file), "kubesim: serve: --client-ca-file: clients send certificates only over TLS: add --tls\n")
}

// If the plugin is enabled, pods wait for their service account. An unknown plugin name is an error.
func TestEnablePlugins(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	optional := strings.Join(admission.Optional(), ", ")
	s := serving(t, "--enable-admission-plugins", "ServiceAccount")
	code, text := s.do("POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	is.Equal(code, http.StatusForbidden)
	is.True(strings.Contains(text, `error looking up service account default/default: serviceaccount \"default\" not found`))
	is.Equal(failing("--enable-admission-plugins", "Nope"), "kubesim: there is no admission plugin \"Nope\": those that can be enabled are "+optional+"\n")
	is.True(strings.Contains(serveUsage, "off by default: "+optional+". With\n")) // help has the list of admission, too
}

// The file of --kubeconfig contains a client certificate that the server issues to the user.
func TestKubeconfigUser(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	s := serving(t, "--auth", "rbac", "--tls", "--kubeconfig", file, "--kubeconfig-user", "jane:dev,ops")
	text, err := os.ReadFile(file)
	is.NoErr(err)
	value := func(name string) []byte {
		_, after, _ := strings.Cut(string(text), name+": ")
		data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(strings.SplitN(after, "\n", 2)[0]))
		is.NoErr(err)
		return data
	}
	pair, err := tls.X509KeyPair(value("client-certificate-data"), value("client-key-data"))
	is.NoErr(err)
	s.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}}
	name, groups := subject(s)
	is.Equal(name, "jane")
	is.Equal(groups, []string{"dev", "ops", "system:authenticated"})
	is.Equal(failing("--auth", "rbac", "--kubeconfig", file, "--kubeconfig-user", "jane"),
		"kubesim: serve: --kubeconfig-user needs a certificate in the file of --kubeconfig, over TLS: add --kubeconfig FILE and --tls\n")
}

// The test checks the flags of kube-apiserver for tokens, authorization modes and the serving certificate.
func TestUserFlags(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	ca := newAuthority(t)
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		is.NoErr(os.WriteFile(filepath.Join(dir, name), data, 0o600))
		return filepath.Join(dir, name)
	}
	der, key := ca.sign(&x509.Certificate{SerialNumber: big.NewInt(9), NotAfter: time.Now().Add(time.Hour)})
	private, err := x509.MarshalECPrivateKey(key)
	is.NoErr(err)
	keyFile := write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}))
	certFile := write("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	s := serving(t, "--tls-cert-file", certFile, "--tls-private-key-file", keyFile, "--authorization-mode", "RBAC,AlwaysDeny", "--anonymous-auth=false",
		"--service-account-signing-key-file", keyFile, "--service-account-key-file", certFile, "--service-account-issuer", "https://a",
		"--service-account-issuer", "https://b", "--api-audiences", "x,y", "--service-account-max-token-expiration", "1h",
		"--service-account-jwks-uri", "https://keys", "--requestheader-username-headers", "X-Remote-User")
	s.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	code, _ := s.do("GET", "/version", "")
	is.Equal(code, http.StatusUnauthorized)
	s.token = "alicetoken"
	_, text := s.do("GET", configMaps, "")
	is.True(strings.Contains(text, "Everything is forbidden."))
	s.token = "admintoken"
	_, text = s.do("GET", "/.well-known/openid-configuration", "")
	is.Equal(text, `{"issuer":"https://a","jwks_uri":"https://keys","response_types_supported":["id_token"],"subject_types_supported":["public"],`+
		`"id_token_signing_alg_values_supported":["ES256"]}`)
	s.must("POST", "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"sa"}}`)
	answer := s.object("POST", "/api/v1/namespaces/default/serviceaccounts/sa/token", `{"spec":{"expirationSeconds":7200}}`)
	seconds, _ := answer.Int("spec", "expirationSeconds")
	is.Equal(seconds, int64(3600))
	is.Equal(object.Strings(answer.List("spec", "audiences")), []string{"x", "y"})
	s.token = answer.String("status", "token")
	name, _ := subject(s)
	is.Equal(name, "system:serviceaccount:default:sa")

	is.Equal(failing("--tls-cert-file", certFile), "kubesim: serve: --tls-cert-file and --tls-private-key-file: give both or neither\n")
	is.Equal(failing("--authorization-mode", "Webhook"), "kubesim: authorization-mode Webhook's authorization config file not passed\n")
	is.True(strings.HasPrefix(failing("--service-account-key-file", dir+"/none"), "kubesim: serve: --service-account-key-file: open "))
	is.Equal(failing("--requestheader-client-ca-file", certFile),
		"kubesim: serve: --requestheader-client-ca-file: proxies send certificates only over TLS: add --tls\n")
}
