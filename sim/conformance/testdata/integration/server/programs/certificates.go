package programs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// CA signs certificates of clients.
type CA struct {
	Certificate *x509.Certificate
	Key         *rsa.PrivateKey
}

// newCA makes a CA, once for each name: the keys take long.
func newCA(name string) (CA, error) {
	cas.Lock()
	defer cas.Unlock()
	if ca, ok := cas.of[name]; ok {
		return ca, nil
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return CA{}, err
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name}, key)
	if err != nil {
		return CA{}, err
	}
	cas.of[name] = CA{certificate, key}
	return cas.of[name], nil
}

var cas = struct {
	sync.Mutex
	of map[string]CA
}{of: map[string]CA{}}

// AddCertificates adds the flags by which a server knows clients by their certificates, and front proxies, unless a test gives
// them, and writes the files that they name. proxy signs what front proxies present; a zero one is replaced.
func AddCertificates(flags *Flags, dir string, proxy CA, proxies []string) error {
	clients, err := newCA("client-ca")
	if err != nil {
		return err
	}
	if proxy.Certificate == nil {
		if proxy, err = newCA("front-proxy-ca"); err != nil {
			return err
		}
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	key, certificate, err := proxy.sign(proxies[len(proxies)/2])
	if err != nil {
		return err
	}
	err = errors.Join(
		os.WriteFile(file("client-ca.crt"), encode(clients.Certificate.Raw), 0o644),
		os.WriteFile(file("proxy-ca.crt"), encode(proxy.Certificate.Raw), 0o644),
		os.WriteFile(file("proxy-client.crt"), encode(certificate), 0o644),
		os.WriteFile(file("proxy-client.key"), key, 0o600))
	flags.Default("client-ca-file", file("client-ca.crt"))
	flags.Default("requestheader-client-ca-file", file("proxy-ca.crt"))
	flags.Default("requestheader-allowed-names", strings.Join(proxies, ","))
	flags.Default("requestheader-username-headers", "X-Remote-User")
	flags.Default("requestheader-group-headers", "X-Remote-Group")
	flags.Default("requestheader-extra-headers-prefix", "X-Remote-Extra-")
	if !flags.Has("proxy-client-cert-file") {
		flags.Set("proxy-client-cert-file", file("proxy-client.crt"))
		flags.Set("proxy-client-key-file", file("proxy-client.key"))
	}
	return err
}

// sign makes a certificate for a client, and its key.
func (ca CA) sign(name string) (keyPEM, certificate []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
		return nil, nil, err
	}
	certificate, err = x509.CreateCertificate(rand.Reader, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, SerialNumber: big.NewInt(time.Now().UnixNano()),
		NotBefore: ca.Certificate.NotBefore, NotAfter: time.Now().Add(1000 * time.Hour), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca.Certificate, key.Public(), ca.Key)
	return keyPEM, certificate, err
}

func encode(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
}

// Issuer is the issuer of the tokens of service accounts.
const Issuer = "https://foo.bar.example.com"

// serviceAccountKey signs the tokens of service accounts of all servers of a process.
var serviceAccountKey = sync.OnceValues(func() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return keyutil.MarshalPrivateKeyToPEM(key)
})

// ServiceAccountKeyFile writes the key that signs the tokens of service accounts into a folder.
func ServiceAccountKeyFile(dir string) (string, error) {
	key, err := serviceAccountKey()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "service-account.key")
	return file, os.WriteFile(file, key, 0o600)
}

// AddServiceAccounts adds the flags by which a server signs and knows the tokens of service accounts.
func AddServiceAccounts(flags *Flags, dir string) error {
	file, err := ServiceAccountKeyFile(dir)
	flags.Default("service-account-signing-key-file", file)
	flags.Default("service-account-key-file", file)
	flags.Default("service-account-issuer", Issuer)
	return err
}
