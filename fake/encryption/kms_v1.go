package encryption

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/kubesim/kubesim/fake/grpc"
	"github.com/kubesim/kubesim/sim/field"
)

// kmsV1 encrypts each value with its own key, which the service encrypts (k8s.io/apiserver/pkg/storage/value/encrypt/envelope):
//
//	length 2 │ key, encrypted by the service │ AES-GCM
//
// Values of AES-CBC are read, too. Prepare requests a key before a write, and Committed assigns it to the revision of the write.
type kmsV1 struct {
	*service
	health health

	mu    sync.Mutex
	ready []*dataKey          // for the next writes
	byRev map[uint64]*dataKey // of writes
	known map[string]*dataKey // by sealed
}

const v1 = "v1beta1"

func newKMSv1(c *KMSConfiguration) (*kmsV1, error) {
	s, err := newService(c)
	return &kmsV1{service: s, byRev: map[uint64]*dataKey{}, known: map[string]*dataKey{}}, err
}

func (k *kmsV1) ask(method string, fieldOfText grpc.Field, text []byte) ([]byte, error) {
	m, err := k.call("/v1beta1.KeyManagementService/"+method, new(grpc.Builder).Text(1, v1).Text(fieldOfText, string(text)))
	return []byte(m.Text(1)), err
}

// union encrypts with AES-GCM, and decrypts AES-CBC, too.
type union struct {
	transformer
	former transformer
}

func (u union) open(data, key []byte) ([]byte, bool, error) {
	plain, stale, err := u.transformer.open(data, key)
	if err == nil {
		return plain, stale, nil
	}
	plain, _, other := u.former.open(data, key)
	if other == nil {
		return plain, true, nil
	}
	return nil, false, errors.New(field.Aggregate([]string{err.Error(), other.Error()}))
}

func newDataKey(secret, sealed []byte) (*dataKey, error) {
	now, err := newGCM(secret)
	if err != nil {
		return nil, err
	}
	former, err := newCBC(secret)
	return &dataKey{transformer: union{now, former}, sealed: sealed}, err
}

// generate returns a new key, which the service has encrypted.
func (k *kmsV1) generate() (*dataKey, error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	sealed, err := k.ask("Encrypt", 2, secret)
	if err != nil {
		return nil, err
	}
	d, err := newDataKey(secret, sealed)
	if err == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.known[string(sealed)] = d
	}
	return d, err
}

func (k *kmsV1) prepare() error {
	d, err := k.generate()
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ready = append(k.ready, d)
	return nil
}

// committed assigns a prepared key to a revision.
func (k *kmsV1) committed(rev uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.ready); n > 0 {
		k.byRev[rev] = k.ready[n-1]
		k.ready = nil // those of writes that failed are not used
	}
}

// seal implements transformer. A write without a request, such as that of a controller, gets its key now.
func (k *kmsV1) seal(data, key []byte, rev uint64, random io.Reader) ([]byte, error) {
	k.mu.Lock()
	d := k.byRev[rev]
	k.mu.Unlock()
	if d == nil {
		var err error
		if d, err = k.generate(); err != nil {
			return nil, err
		}
		k.mu.Lock()
		k.byRev[rev] = d
		k.mu.Unlock()
	}
	sealed, err := d.seal(data, key, rev, random)
	if err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint16(nil, uint16(len(d.sealed)))
	return slices.Concat(out, d.sealed, sealed), nil
}

func (k *kmsV1) open(data, key []byte) ([]byte, bool, error) {
	if len(data) < 2 || len(data) < 2+int(binary.BigEndian.Uint16(data)) {
		return nil, false, errors.New("invalid data encountered by envelope transformer: failed to read uint16 length prefixed data")
	}
	n := 2 + int(binary.BigEndian.Uint16(data))
	sealed := data[2:n]
	k.mu.Lock()
	d := k.known[string(sealed)]
	k.mu.Unlock()
	if d == nil {
		secret, err := k.ask("Decrypt", 2, sealed)
		if err != nil {
			return nil, false, err
		}
		if d, err = newDataKey(secret, sealed); err != nil {
			return nil, false, err
		}
		k.mu.Lock()
		k.known[string(sealed)] = d
		k.mu.Unlock()
	}
	return d.open(data[n:], key)
}

func (k *kmsV1) probe(now time.Time) error {
	return k.health.check(now, func() (bare, err error) {
		sealed, err := k.ask("Encrypt", 2, []byte("ping"))
		if err != nil {
			return err, fmt.Errorf("failed to perform encrypt section of the healthz check for KMS Provider %s, error: %w", k.name, err)
		}
		if _, err = k.ask("Decrypt", 2, sealed); err != nil {
			return err, fmt.Errorf("failed to perform decrypt section of the healthz check for KMS Provider %s, error: %w", k.name, err)
		}
		return nil, nil
	})
}
