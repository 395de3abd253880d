package listen

import (
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"slices"
	"sync"
	"time"
)

// authority is a set of CAs, and the chains of certificates whose signatures it has checked.
//
//	a client's certificate and intermediates ─ SHA-256 ─▶ chains to a root, each valid while all of its certificates are
//
// A client sends its certificate once per connection, but a certificate may expire, so each request asks whether it is valid. Checking
// the signatures takes as long as a write of a small object, and their result does not change with time.
type authority struct {
	roots *x509.CertPool
	mu    sync.Mutex
	valid map[[sha256.Size]byte][][]*x509.Certificate
}

// chainsMax is the number of clients' certificates above which an authority forgets the checked ones.
const chainsMax = 1000

func newAuthority(roots *x509.CertPool) *authority {
	return &authority{roots: roots, valid: map[[sha256.Size]byte][][]*x509.Certificate{}}
}

// authorityOf parses the PEM certificates of the option name. It returns nil if text is nil, and an error if text contains no
// certificate.
func authorityOf(text []byte, name string) (*authority, error) {
	if text == nil {
		return nil, nil
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, errors.New("kubesim: Options." + name + " contains no PEM certificate")
	}
	return newAuthority(roots), nil
}

// with returns a copy of an authority in which c is an additional CA. a may be nil.
func (a *authority) with(c *x509.Certificate) *authority {
	return newAuthority(poolWith(a.pool(), c))
}

// pool returns the CAs, or nil if a is nil.
func (a *authority) pool() *x509.CertPool {
	if a == nil {
		return nil
	}
	return a.roots
}

// poolWith returns a copy of a pool, which may be nil, with one more certificate.
func poolWith(p *x509.CertPool, c *x509.Certificate) *x509.CertPool {
	made := x509.NewCertPool()
	if p != nil {
		made = p.Clone()
	}
	made.AddCert(c)
	return made
}

// signed reports whether a chain of client certificates is valid at the given time and signed by one of the CAs.
func (a *authority) signed(chain []*x509.Certificate, now time.Time) bool {
	h := sha256.New()
	for _, c := range chain {
		h.Write(c.Raw)
	}
	key := [sha256.Size]byte(h.Sum(nil))
	a.mu.Lock()
	known := a.valid[key]
	a.mu.Unlock()
	validNow := func(c *x509.Certificate) bool { return !now.Before(c.NotBefore) && !now.After(c.NotAfter) }
	for _, path := range known {
		if !slices.ContainsFunc(path, func(c *x509.Certificate) bool { return !validNow(c) }) {
			return true
		}
	}
	o := x509.VerifyOptions{Roots: a.roots, CurrentTime: now, Intermediates: x509.NewCertPool(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	for _, c := range chain[1:] {
		o.Intermediates.AddCert(c)
	}
	paths, err := chain[0].Verify(o)
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.valid) >= chainsMax {
		clear(a.valid)
	}
	a.valid[key] = paths
	return true
}
