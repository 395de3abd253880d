package outbound

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/webhook"
)

// Services contains the real addresses of services, and signs their certificates. Forks of a server share it.
type Services struct {
	mu        sync.Mutex
	addresses map[serviceName]string // HOST:PORT
	own       *authority             // nil until a certificate is signed
}

// serviceName identifies a service or one of its ports.
type serviceName struct {
	namespace, name string
	port            int64 // 0 for all ports
}

// SetAddress sets the real address "HOST:PORT" of a service "NAMESPACE/NAME", or of one of its ports "NAMESPACE/NAME:PORT". If
// address is "", it removes the entry. It returns an error if the service or the address does not have this form.
func (s *Services) SetAddress(service, address string) error {
	name, err := parseService(service)
	if err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(address); err != nil && address != "" {
		return fmt.Errorf("kubesim: service %s: %q is not a HOST:PORT such as 127.0.0.1:9443", service, address)
	}
	s.mu.Lock()
	delete(s.addresses, name)
	if address != "" {
		if s.addresses == nil {
			s.addresses = map[serviceName]string{}
		}
		s.addresses[name] = address
	}
	s.mu.Unlock()
	return nil
}

func parseService(text string) (serviceName, error) {
	namespace, name, ok := strings.Cut(text, "/")
	name, port, hasPort := strings.Cut(name, ":")
	s := serviceName{namespace: namespace, name: name}
	if hasPort {
		number, err := strconv.ParseUint(port, 10, 16)
		ok, s.port = ok && err == nil && number > 0, int64(number)
	}
	if !ok || namespace == "" || name == "" {
		return s, fmt.Errorf("kubesim: %q is not a service such as my-system/webhook-service or my-system/webhook-service:443", text)
	}
	return s, nil
}

// address returns the real address of a service port, or "" if none was set.
func (s *Services) address(namespace, name string, port int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if address := s.addresses[serviceName{namespace, name, port}]; address != "" {
		return address
	}
	return s.addresses[serviceName{namespace, name, 0}]
}

// WriteCerts writes tls.crt, tls.key and ca.crt to a directory, which it creates if necessary. The certificate is valid for all
// services that have an address. It is signed by a generated authority. WriteCerts returns an error if no service has an address,
// or if a file cannot be written.
func (s *Services) WriteCerts(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for service := range s.addresses { // sorted below
		full := service.name + "." + service.namespace
		names = append(names, full+".svc", full+".svc.cluster.local")
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return errors.New("kubesim: a certificate needs a service: set its address with ServiceAddress")
	}
	if s.own == nil {
		own, err := newAuthority()
		if err != nil {
			return err
		}
		s.own = own
	}
	chain, key, err := s.own.sign(names)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("kubesim: certificates of services: %w", err)
	}
	for _, f := range []struct {
		name string
		data []byte
		mode os.FileMode
	}{{"ca.crt", s.own.pem, 0o644}, {"tls.key", key, 0o600}, {"tls.crt", chain, 0o644}} {
		if err := replaceFile(filepath.Join(dir, f.name), f.data, f.mode); err != nil {
			return fmt.Errorf("kubesim: certificates of services: %w", err)
		}
	}
	return nil
}

// replaceFile replaces a file atomically, so that a process that watches it never sees a partially written file.
func replaceFile(name string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".kubesim-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// CA returns the PEM certificate of the authority that signs for services, or nil if WriteCerts was not called.
func (s *Services) CA() []byte {
	if own := s.signer(); own != nil {
		return own.pem
	}
	return nil
}

// signer returns the authority for services, or nil if it has not signed any certificate.
func (s *Services) signer() *authority {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own
}

// trusting returns a TLS configuration that trusts the authorities in bundle, which is PEM. If bundle is empty, it trusts the system's
// authorities, and own unless that is nil.
func trusting(bundle []byte, own *authority) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case len(bundle) > 0:
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(bundle) {
			return nil, &webhook.BundleError{Err: unreadable(bundle)}
		}
	case own != nil:
		config.RootCAs = x509.NewCertPool()
		if roots, err := x509.SystemCertPool(); err == nil {
			config.RootCAs = roots
		}
		config.RootCAs.AddCert(own.certificate)
	}
	return config, nil
}

// unreadable returns an error that explains why a bundle contains no certificate (client-go, transport.createErrorParsingCAData).
func unreadable(bundle []byte) error {
	for len(bundle) > 0 {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return errors.New("unable to parse bytes as PEM block")
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) != 0 {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("failed to parse certificate: %w", err)
		}
	}
	return errors.New("no valid certificate authority data seen")
}

// authority signs certificates for services. It does not depend on the seed, because its key must be secret, and its certificates
// must be valid according to real clocks.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	pem         []byte
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("kubesim: generating the key of the authority: %w", err)
	}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "kubesim-services"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := issue(template, template, key, key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("kubesim: generating the certificate of the authority: %w", err)
	}
	return &authority{key, certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// sign returns a server certificate for the names, and its key, in PEM.
func (a *authority) sign(names []string) (certificate, key []byte, err error) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("kubesim: generating the key of a service: %w", err)
	}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := issue(template, a.certificate, own, a.key)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return nil, nil, fmt.Errorf("kubesim: generating the key of a service: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), nil
}

// issue returns a DER-encoded certificate that is valid for one year from now.
func issue(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("kubesim: generating the serial number of a certificate: %w", err)
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, fmt.Errorf("kubesim: generating a certificate: %w", err)
	}
	return der, nil
}
