package listen

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
)

// Trust manages the CAs of client certificates: those of the options, whose files are read again when they change, additional ones,
// and its own issuer, which it creates when a certificate is first requested.
type Trust struct {
	seed      uint64 // seed of the issuer's keys
	publisher Publisher

	mu      sync.Mutex
	files   CAFiles
	signers auth.Signers        // current signers
	extra   []*x509.Certificate // trusted in addition to those of the signers
	trusted Authorities
	issuer  *issuer // nil until a certificate is requested
}

// Publisher is notified of changed signers. A cluster implements it.
type Publisher interface{ PublishSigners(auth.Signers) }

// NewTrust returns a Trust for the given signers, whose certificates must be valid. The contents of files replace those of the
// signers.
func NewTrust(signers auth.Signers, files CAFiles, seed uint64, p Publisher) *Trust {
	t := &Trust{seed: max(seed, 1), publisher: p, files: files, signers: signers}
	t.trusted, _ = AuthoritiesOf(&t.signers) // the caller has checked them
	return t
}

// Authorities returns the CAs for client certificates.
func (t *Trust) Authorities() Authorities {
	t.mu.Lock()
	defer t.mu.Unlock()
	if changed, _ := t.files.Read(&t.signers.ClientCA, &t.signers.Proxies.ClientCA); changed { // an invalid file changes nothing
		t.trusted, _ = AuthoritiesOf(&t.signers) // Read has checked them
		for _, c := range t.extra {
			t.trusted = t.trusted.with(c)
		}
		t.publisher.PublishSigners(t.signers)
	}
	return t.trusted
}

// Add adds c to the CAs for client certificates.
func (t *Trust) Add(c *x509.Certificate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.addLocked(c)
}

func (t *Trust) addLocked(c *x509.Certificate) {
	t.extra, t.trusted = append(t.extra, c), t.trusted.with(c)
}

// Issue returns a certificate for a user in groups, and its key, both in PEM, and trusts the issuer. Issue returns an error if a
// key cannot be generated.
func (t *Trust) Issue(user string, groups []string, now time.Time) (cert, key []byte, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.issuer == nil {
		made, err := newIssuer(t.seed, now)
		if err != nil {
			return nil, nil, fmt.Errorf("kubesim: generating the authority for certificates: %w", err)
		}
		t.issuer = made
		t.addLocked(made.root)
	}
	if cert, key, err = t.issuer.issue(user, groups, now); err != nil {
		return nil, nil, fmt.Errorf("kubesim: generating a certificate for %s: %w", user, err)
	}
	return cert, key, nil
}

// Adopt makes the Trust of a fork issue the same certificates as other, and trust the certificates that other has issued.
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

// watchedFile is a file that is read again when it changes.
type watchedFile struct {
	name string
	size int64
	time time.Time
}

// changed reports whether the file has changed since the last call. A file that cannot be read counts as unchanged.
func (f *watchedFile) changed() bool {
	info, err := os.Stat(f.name)
	if err != nil || info.Size() == f.size && info.ModTime().Equal(f.time) {
		return false
	}
	f.size, f.time = info.Size(), info.ModTime()
	return true
}

// servingFiles are the files of a serving certificate and its key. If one of them has changed, both are read again before a
// connection is accepted. As in kube-apiserver, the previous certificate is used until they match.
type servingFiles struct {
	mu        sync.Mutex
	cert, key watchedFile
	current   *tls.Certificate
}

// newServingFiles reads a certificate and its key.
func newServingFiles(cert, key string) (*servingFiles, error) {
	f := &servingFiles{cert: watchedFile{name: cert}, key: watchedFile{name: key}}
	_, _ = f.cert.changed(), f.key.changed() // before the files are read, so that a later change is detected
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	f.current = &pair
	return f, nil
}

// get implements tls.Config.GetCertificate.
func (f *servingFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	cert, key := f.cert.changed(), f.key.changed()
	if cert || key {
		if pair, err := tls.LoadX509KeyPair(f.cert.name, f.key.name); err == nil {
			f.current = &pair
		} else {
			f.cert.size, f.key.size = -1, -1 // read again until they match
		}
	}
	return f.current, nil
}

// CAFiles are the files with the certificates of the CAs for clients and for proxies.
type CAFiles struct{ clients, proxies watchedFile }

// NewCAFiles returns the CAFiles with the given names, without reading them. A name may be "".
func NewCAFiles(clients, proxies string) CAFiles {
	return CAFiles{watchedFile{name: clients}, watchedFile{name: proxies}}
}

// Read reads the files that have changed into clients and proxies, and reports whether any has changed. If a file is invalid, it
// keeps the previous contents.
func (f *CAFiles) Read(clients, proxies *[]byte) (changed bool, err error) {
	for _, x := range []struct {
		file *watchedFile
		to   *[]byte
	}{{&f.clients, clients}, {&f.proxies, proxies}} {
		if x.file.name == "" || !x.file.changed() {
			continue
		}
		text, failed := os.ReadFile(x.file.name)
		if failed == nil {
			_, failed = authorityOf(text, "ClientCA")
		}
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		*x.to, changed = text, true
	}
	return changed, err
}
