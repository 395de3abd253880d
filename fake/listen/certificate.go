package listen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math/big"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
)

// Authorities are the CAs that sign the certificates of clients and of proxies. Each is nil if no such CA is configured.
type Authorities struct {
	clients, proxies *authority
	both             *x509.CertPool // sent in the certificate request, because clients do not send a certificate of any other CA
}

// AuthoritiesOf parses the certificates in signers. It returns an error if one of them is invalid.
func AuthoritiesOf(s *auth.Signers) (a Authorities, err error) {
	if a.clients, err = authorityOf(s.ClientCA, "ClientCA"); err != nil {
		return a, err
	}
	if a.proxies, err = authorityOf(s.Proxies.ClientCA, "RequestHeader.ClientCA"); err != nil {
		return a, err
	}
	if a.clients != nil || a.proxies != nil {
		a.both = x509.NewCertPool()
		a.both.AppendCertsFromPEM(s.ClientCA)
		a.both.AppendCertsFromPEM(s.Proxies.ClientCA)
	}
	return a, nil
}

// with returns a copy of the authorities in which c is an additional CA for client certificates.
func (a Authorities) with(c *x509.Certificate) Authorities {
	a.clients, a.both = a.clients.with(c), poolWith(a.both, c)
	return a
}

// asksForCertificate returns a tls.Config.GetConfigForClient function. It requests client certificates if a CA for them is
// configured.
func asksForCertificate(plain *tls.Config, s Server) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	return func(*tls.ClientHelloInfo) (*tls.Config, error) {
		a := s.Authorities()
		if a.both == nil {
			return nil, nil
		}
		c := plain.Clone()
		c.GetConfigForClient, c.ClientAuth, c.ClientCAs = nil, tls.RequestClientCert, a.both
		return c, nil
	}
}

// Client verifies a client's certificate chain at the given time and returns the identity in it. If no valid CA has signed the
// chain, the result has no user and is marked as untrusted. Client returns nil if no CA is configured
// (k8s.io/apiserver/pkg/authentication/request/x509).
func (a Authorities) Client(chain []*x509.Certificate, allowed []string, now time.Time) *auth.Certificate {
	if a.both == nil {
		return nil
	}
	leaf, shown := chain[0], &auth.Certificate{}
	if a.proxies != nil {
		shown.Proxy = a.proxies.signed(chain, now) && (len(allowed) == 0 || slices.Contains(allowed, leaf.Subject.CommonName))
		shown.Untrusted = !shown.Proxy
	}
	if a.clients == nil {
		return shown
	}
	uid, err := uidOf(leaf)
	switch {
	case !a.clients.signed(chain, now):
		shown.Untrusted = true
	case leaf.Subject.CommonName == "": // does not identify a user
	case err != nil:
		shown.Untrusted = true
	default:
		sum := sha256.Sum256(leaf.Raw)
		shown.User = auth.User{Name: leaf.Subject.CommonName, UID: uid, Groups: leaf.Subject.Organization,
			Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {"X509SHA256=" + hex.EncodeToString(sum[:])}}}
	}
	return shown
}

// uidName is the subject attribute that contains the uid of a user (KEP-5082).
var uidName = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}

// uidOf returns the uid in the subject of a certificate, or "" if there is none. It returns an error if there are several, or if it
// is empty.
func uidOf(c *x509.Certificate) (string, error) {
	found := ""
	for _, name := range c.Subject.Names {
		if !name.Type.Equal(uidName) {
			continue
		}
		uid, _ := name.Value.(string)
		if uid == "" || found != "" {
			return "", errors.New("a certificate has one uid or none")
		}
		found = uid
	}
	return found, nil
}

// issuer signs client certificates.
type issuer struct {
	seed   uint64
	key    *ecdsa.PrivateKey
	root   *x509.Certificate
	issued uint64
}

// certificateLife is the validity period of a certificate, which is the default of a cluster's signer. issuerLife is that of the
// issuer's own certificate, which outlives every test.
const (
	certificateLife = 365 * 24 * time.Hour
	issuerLife      = 100 * certificateLife
)

func newIssuer(seed uint64, now time.Time) (*issuer, error) {
	i := &issuer{seed: seed}
	var err error
	if i.key, err = i.nextKey(); err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubesim"},
		NotBefore: now.Add(-issuerLife), NotAfter: now.Add(issuerLife),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(nil, template, template, &i.key.PublicKey, i.key)
	if err != nil {
		return nil, err
	}
	i.root, err = x509.ParseCertificate(der)
	return i, err
}

// nextKey returns the next key derived from the seed.
func (i *issuer) nextKey() (*ecdsa.PrivateKey, error) {
	i.issued++
	material := binary.BigEndian.AppendUint64([]byte("kubesim certificates "), i.seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(material, i.issued))
	return ecdsa.ParseRawPrivateKey(elliptic.P256(), sum[:]) // one in 2³² hashes is not a valid key
}

func (i *issuer) issue(user string, groups []string, now time.Time) (cert, key []byte, err error) {
	private, err := i.nextKey()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{SerialNumber: new(big.Int).SetUint64(i.issued), Subject: pkix.Name{CommonName: user, Organization: groups},
		NotBefore: now.Add(-5 * time.Minute), NotAfter: now.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(nil, template, i.root, &private.PublicKey, i.key)
	if err != nil {
		return nil, nil, err
	}
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), nil
}
