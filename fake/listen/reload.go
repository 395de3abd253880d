package listen

import (
	"crypto/tls"
	"errors"
	"os"
	"sync"
	"time"
)

// watchedFile is a file that is read again when it changes.
type watchedFile struct {
	name string
	size int64
	time time.Time
}

// changed reports whether the file is another one than at the last call. A file that cannot be read now has not changed.
func (f *watchedFile) changed() bool {
	info, err := os.Stat(f.name)
	if err != nil || info.Size() == f.size && info.ModTime().Equal(f.time) {
		return false
	}
	f.size, f.time = info.Size(), info.ModTime()
	return true
}

// servingFiles are a certificate to serve with and its key. Both are read again, before a connection is answered, when one of
// them has changed; until they fit together the certificate of before is shown, as in kube-apiserver.
type servingFiles struct {
	mu        sync.Mutex
	cert, key watchedFile
	current   *tls.Certificate
}

// newServingFiles reads a certificate and its key.
func newServingFiles(cert, key string) (*servingFiles, error) {
	f := &servingFiles{cert: watchedFile{name: cert}, key: watchedFile{name: key}}
	_, _ = f.cert.changed(), f.key.changed() // before they are read: a later change is seen
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
			f.cert.size, f.key.size = -1, -1 // they are read again until they fit together
		}
	}
	return f.current, nil
}

// CAFiles are the files with the certificates of authorities for clients and for proxies.
type CAFiles struct{ clients, proxies watchedFile }

// NewCAFiles returns the files of those names, which have not been read yet. A name may be "".
func NewCAFiles(clients, proxies string) CAFiles {
	return CAFiles{watchedFile{name: clients}, watchedFile{name: proxies}}
}

// Read reads the files that have changed into clients and proxies, and reports whether any of them has. The content of an invalid file is
// ignored.
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
			_, failed = pool(text, "ClientCA")
		}
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		*x.to, changed = text, true
	}
	return changed, err
}
