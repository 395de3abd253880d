package encryption

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/kubesim/kubesim/fake/grpc"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// kmsV2 encrypts values with keys that are derived from a seed, which the service encrypts (envelope/kmsv2). The value is a message:
//
//	1 data   2 ID of the service's key   3 seed, encrypted by the service   4 annotations   5 kind of the seed
//
// The seed is replaced when the service has another key. A write gets the seed of its time: revs has the first revision of each.
type kmsV2 struct {
	*service
	health health

	mu      sync.Mutex
	seeds   []*dataKey
	revs    []uint64
	expires time.Time // when writes fail unless the service has been healthy again
	known   map[string]*dataKey
	store   revisions
}

const (
	seedKind = 1 // HKDF_SHA256_XNONCE_AES_GCM_SEED
	seedLife = 3 * time.Minute
	infoSize = 32
)

// revisions returns the revision of the next write.
type revisions interface{ nextRev() uint64 }

func newKMSv2(c *KMSConfiguration, store revisions) (*kmsV2, error) {
	s, err := newService(c)
	return &kmsV2{service: s, store: store, known: map[string]*dataKey{}}, err
}

// derived is AES-GCM with a key that is derived from a seed: info 32 │ nonce 12 │ ciphertext and tag.
type derived struct{ seed []byte }

func (d derived) of(info []byte) (transformer, error) {
	secret, err := hkdf.Expand(sha256.New, d.seed, string(info), 32)
	if err != nil {
		return nil, err
	}
	return newGCM(secret)
}

func (d derived) seal(data, key []byte, rev uint64, random io.Reader) ([]byte, error) {
	info := make([]byte, infoSize)
	if _, err := io.ReadFull(random, info); err != nil {
		return nil, err
	}
	t, err := d.of(info)
	if err != nil {
		return nil, err
	}
	sealed, err := t.seal(data, key, rev, random)
	return append(info, sealed...), err
}

func (d derived) open(data, key []byte) ([]byte, bool, error) {
	if len(data) < infoSize {
		return nil, false, errShort
	}
	t, err := d.of(data[:infoSize])
	if err != nil {
		return nil, false, err
	}
	return t.open(data[infoSize:], key)
}

func newSeed(secret []byte, kind int64) (transformer, error) {
	if kind == seedKind {
		return derived{secret}, nil
	}
	return newGCM(secret)
}

func hashID(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// current returns the seed for a write, and the time when it expires.
func (k *kmsV2) current() (*dataKey, time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.seeds) == 0 {
		return nil, k.expires
	}
	return k.seeds[len(k.seeds)-1], k.expires
}

// writable returns the error of a write at a time.
func (k *kmsV2) writable(now time.Time) error {
	d, expires := k.current()
	switch {
	case d == nil:
		return errors.New("got unexpected nil transformer")
	case now.After(expires):
		return fmt.Errorf("encryptedDEKSource with keyID hash %q expired at %s (current time is %s)", hashID(d.id), expires.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	return nil
}

// statusEvery is the time after which a write requests the status of the service again. The real server does so in the background
// (kmsv2PluginHealthzPositiveInterval).
const statusEvery = time.Minute

// prepare requests the status of the service if the last one is too old or the seed has expired. It returns the error of a write.
func (k *kmsV2) prepare(now time.Time, unlocked func(func())) error {
	if k.health.isOlder(now, statusEvery) || k.writable(now) != nil {
		unlocked(func() { _ = k.probe(now) })
	}
	return k.writable(now)
}

// isStale reports whether a write at a revision has used another key of the service than a write now.
func (k *kmsV2) isStale(rev uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.revs) > 0 && rev < k.revs[len(k.revs)-1]
}

func (k *kmsV2) seal(data, key []byte, rev uint64, random io.Reader) ([]byte, error) {
	k.mu.Lock()
	i, exact := slices.BinarySearch(k.revs, rev)
	if !exact && i > 0 {
		i--
	}
	if len(k.seeds) == 0 {
		k.mu.Unlock()
		return nil, errors.New("got unexpected nil transformer")
	}
	d := k.seeds[i]
	k.mu.Unlock()
	sealed, err := d.seal(data, key, rev, random)
	if err != nil {
		return nil, err
	}
	b := new(grpc.Builder).Text(1, string(sealed)).Text(2, d.id).Text(3, string(d.sealed))
	for _, name := range object.SortedKeys(d.annotations) {
		b.Message(4, new(grpc.Builder).Text(1, name).Text(2, string(d.annotations[name])))
	}
	return b.Number(5, d.kind).Bytes, nil
}

func (k *kmsV2) open(data, key []byte) ([]byte, bool, error) {
	m, err := grpc.Parse(data)
	if err != nil {
		return nil, false, err
	}
	sealed, id, kind := m.Text(3), m.Text(2), m.Number(5)
	switch {
	case kind != 0 && kind != seedKind:
		return nil, false, fmt.Errorf("unknown encryptedDEKSourceType: %d", kind)
	case m.Text(1) == "":
		return nil, false, errors.New("encrypted data is empty")
	case sealed == "":
		return nil, false, errors.New("failed to validate encrypted DEK source: encrypted DEK source is empty")
	case id == "":
		return nil, false, errors.New("failed to validate key id: keyID is empty")
	}
	now, _ := k.current()
	if now == nil {
		return nil, false, errors.New("got unexpected nil transformer")
	}
	k.mu.Lock()
	d := k.known[sealed]
	k.mu.Unlock()
	if d == nil {
		annotations, err := m.Messages(4)
		if err != nil {
			return nil, false, err
		}
		q := new(grpc.Builder).Text(1, sealed).Text(2, newID()).Text(3, id)
		for _, a := range annotations {
			q.Message(4, new(grpc.Builder).Text(1, a.Text(1)).Text(2, a.Text(2)))
		}
		answer, err := k.call("/v2.KeyManagementService/Decrypt", q)
		if err != nil {
			return nil, false, fmt.Errorf("failed to decrypt DEK, error: %w", err)
		}
		t, err := newSeed([]byte(answer.Text(1)), kind)
		if err != nil {
			return nil, false, err
		}
		d = &dataKey{transformer: t}
		k.mu.Lock()
		k.known[sealed] = d
		k.mu.Unlock()
	}
	plain, stale, err := d.open([]byte(m.Text(1)), key)
	return plain, stale || id != now.id || kind != now.kind, err
}

// newID returns the ID of a request to the service.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// probe requests the status of the service, and replaces the seed if the service has another key.
func (k *kmsV2) probe(now time.Time) error {
	return k.health.check(now, func() (bare, err error) {
		m, err := k.call("/v2.KeyManagementService/Status", &grpc.Builder{})
		if err != nil {
			return err, fmt.Errorf("failed to perform status section of the healthz check for KMS Provider %s, error: %w", k.name, err)
		}
		var errs []string
		if ok := m.Text(2); ok != "ok" {
			errs = append(errs, "got unexpected healthz status: "+ok)
		}
		if version := m.Text(1); version != "v2" && version != "v2beta1" {
			errs = append(errs, "expected KMSv2 API version v2, got "+version)
		}
		if id := m.Text(3); id == "" {
			errs = append(errs, `got invalid KMSv2 KeyID hash "": keyID is empty`)
		} else if err := k.rotate(id, now.Add(seedLife)); err != nil {
			errs = append(errs, err.Error())
		}
		if len(errs) > 0 {
			err = fmt.Errorf("kmsv2 Provider %s is not healthy, error: %s", k.name, field.Aggregate(errs))
		}
		return err, err
	})
}

// rotate requests another seed if the current one is of another key of the service. Otherwise the current one is valid longer.
func (k *kmsV2) rotate(id string, expires time.Time) error {
	if now, _ := k.current(); now != nil && now.id == id {
		k.mu.Lock()
		k.expires = expires
		k.mu.Unlock()
		return nil
	}
	seed := make([]byte, 32)
	_, _ = rand.Read(seed) // never fails
	m, err := k.call("/v2.KeyManagementService/Encrypt", new(grpc.Builder).Text(1, string(seed)).Text(2, newID()))
	if err != nil {
		return fmt.Errorf("failed to rotate DEK, errGen=failed to encrypt DEK, error: %w", err)
	}
	if got := m.Text(2); got != id {
		return fmt.Errorf("failed to rotate DEK, statusKeyIDHash=%q, encryptKeyIDHash=%q", hashID(id), hashID(got))
	}
	annotations, err := m.Messages(3)
	if err != nil {
		return err
	}
	d := &dataKey{transformer: derived{seed}, sealed: []byte(m.Text(1)), id: id, kind: seedKind, annotations: map[string][]byte{}}
	for _, a := range annotations {
		d.annotations[a.Text(1)] = []byte(a.Text(2))
	}
	rev := k.store.nextRev()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seeds, k.revs, k.expires = append(k.seeds, d), append(k.revs, rev), expires
	k.known[string(d.sealed)] = d
	return nil
}
