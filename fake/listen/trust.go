package listen

import (
	"crypto/x509"
	"fmt"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
)

// Trust knows who may sign the certificates of clients: the authorities of the options, whose files are read again when they
// change, those that were added, and an issuer of its own once a certificate was asked for.
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

// Publisher is told of signers that have changed: a cluster.
type Publisher interface{ PublishSigners(auth.Signers) }

// NewTrust returns the Trust of signers, whose certificates are good, and of files that may replace those.
func NewTrust(signers auth.Signers, files CAFiles, seed uint64, p Publisher) *Trust {
	t := &Trust{seed: max(seed, 1), publisher: p, files: files, signers: signers}
	t.trusted, _ = AuthoritiesOf(&t.signers) // the caller has read them before
	return t
}

// Authorities returns who may have signed a certificate of a client.
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

// Issue returns a certificate for a user in groups and its key, both PEM, and trusts who has signed it.
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

// Adopt makes the Trust of a fork issue certificates as other does, and trust those that other has issued.
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
