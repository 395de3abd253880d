package listen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
)

// KubeConfig returns a kubeconfig file for clients of the listener. token may be "".
func (l *Listener) KubeConfig(token string) []byte {
	user := map[string]any{}
	if token != "" {
		user["token"] = token
	}
	return l.kubeConfig(user)
}

// CertificateKubeConfig returns a kubeconfig file for the user of a certificate, PEM, as Server.IssueCertificate returns it.
func (l *Listener) CertificateKubeConfig(cert, key []byte) []byte {
	return l.kubeConfig(map[string]any{"client-certificate-data": cert, "client-key-data": key})
}

func (l *Listener) kubeConfig(user map[string]any) []byte {
	cluster := map[string]any{"server": l.url}
	if l.ca != nil {
		cluster["certificate-authority-data"] = l.ca
	}
	config := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "kubesim",
		"clusters": []any{map[string]any{"name": "kubesim", "cluster": cluster}},
		"users":    []any{map[string]any{"name": "kubesim", "user": user}},
		"contexts": []any{map[string]any{"name": "kubesim", "context": map[string]any{"cluster": "kubesim", "user": "kubesim"}}},
	}
	data, err := json.Marshal(config)
	if err != nil {
		panic("listen: a kubeconfig cannot be printed: " + err.Error())
	}
	return codec.Body(data, codec.Format{Media: codec.YAML})
}

// selfSigned makes a certificate for the address. It is the only part of a server that does not depend on the seed: a certificate must be
// valid now, by the real clock, and its key must be secret.
func selfSigned(address net.Addr) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("kubesim: no key for TLS: %w", err)
	}
	host, _, _ := net.SplitHostPort(address.String())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubesim"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.ParseIP(host), net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("kubesim: no certificate for TLS: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// chainPEM returns the certificates that a server shows, PEM.
func chainPEM(certificate tls.Certificate) []byte {
	var text []byte
	for _, der := range certificate.Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return text
}
