package listen

import (
	"crypto/x509"
	"fmt"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
)

// Trust manages the CAs of client certificates: those of the options, whose files are read again when they change, added ones, and its own
// issuer, which it creates when a certificate is requested.
type Trust struct {
	seed      uint64 // of the issuer's keys
	publisher Publisher

	mu      sync.Mutex
	files   CAFiles
	signers auth.Signers        // as they are now
	extra   []*x509.Certificate // trusted in addition to those of the signers
	trusted Authorities
	issuer  *issuer // nil until a certificate was asked for
}

// Publisher is notified of changed signers. It is a cluster.
type Publisher interface{ PublishSigners(auth.Signers) }

// NewTrust returns the Trust of signers, whose certificates must be valid, and of files that may replace them.
func NewTrust(signers auth.Signers, files CAFiles, seed uint64, p Publisher) *Trust {
	t := &Trust{seed: max(seed, 1), publisher: p, files: files, signers: signers}
	t.trusted, _ = AuthoritiesOf(&t.signers) // the caller has read them before
	return t
}

// Authorities returns the CAs that may sign certificates of clients.
func (t *Trust) Authorities() Authorities {
	t.mu.Lock()
	defer t.mu.Unlock()
	if changed, _ := t.files.Read(&t.signers.ClientCA, &t.signers.Proxies.ClientCA); changed { // a bad file leaves all as it was
		t.trusted, _ = AuthoritiesOf(&t.signers) // Read has looked at them
		for _, c := range t.extra {
			t.trusted = t.trusted.with(c)
		}
		t.publisher.PublishSigners(t.signers)
	}
	return t.trusted
}

// Add trusts certificates that c has signed, too.
func (t *Trust) Add(c *x509.Certificate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.addLocked(c)
}

func (t *Trust) addLocked(c *x509.Certificate) {
	t.extra, t.trusted = append(t.extra, c), t.trusted.with(c)
}

// Issue returns a certificate for a user in groups and its key, both in PEM, and trusts its issuer.
func (t *Trust) Issue(user string, groups []string, now time.Time) (cert, key []byte, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.issuer == nil {
		made, err := newIssuer(t.seed, now)
		if err != nil {
			return nil, nil, fmt.Errorf("kubesim: no authority for certificates: %w", err)
		}
		t.issuer = made
		t.addLocked(made.root)
	}
	if cert, key, err = t.issuer.issue(user, groups, now); err != nil {
		return nil, nil, fmt.Errorf("kubesim: no certificate for %s: %w", user, err)
	}
	return cert, key, nil
}

// Adopt makes the Trust of a fork issue certificates as other does, and trust the certificates that other has issued.
func (t *Trust) Adopt(other *Trust) {
	other.mu.Lock()
	defer other.mu.Unlock()
	if other.issuer != nil {
		again := *other.issuer
		t.mu.Lock()
		t.issuer = &again
		t.addLocked(again.root)
		t.mu.Unlock()
	}
}
