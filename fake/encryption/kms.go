package encryption

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/fake/grpc"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// service is a key management service on a unix socket. Its methods wait for the network.
type service struct {
	name    string
	client  *grpc.Client
	timeout time.Duration
}

func newService(c *KMSConfiguration) (*service, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, err
	}
	socket := u.Path // unix:///@name has an abstract socket
	if strings.HasPrefix(socket, "/@") {
		socket = socket[1:]
	}
	return &service{c.Name, grpc.Dial(socket), time.Duration(*c.Timeout)}, nil
}

// codes are the names of the codes of gRPC in errors.
var codes = map[int]string{grpc.Unknown: "Unknown", grpc.InvalidArgument: "InvalidArgument", grpc.DeadlineExceeded: "DeadlineExceeded",
	grpc.NotFound: "NotFound", grpc.ResourceExhausted: "ResourceExhausted", grpc.FailedPrecondition: "FailedPrecondition",
	grpc.OutOfRange: "OutOfRange", grpc.Unimplemented: "Unimplemented", grpc.UnavailableCode: "Unavailable"}

// call calls a method. The errors have the text of google.golang.org/grpc/status.
func (s *service) call(method string, q *grpc.Builder) (grpc.Message, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	m, err := s.client.Call(ctx, method, q)
	if e := (*grpc.Error)(nil); errors.As(err, &e) {
		name, ok := codes[e.Code]
		if !ok {
			name = fmt.Sprintf("Code(%d)", e.Code)
		}
		err = fmt.Errorf("rpc error: code = %s desc = %s", name, e.Text)
	}
	return m, err
}

// dataKey is a key that encrypts values, with its form that the service has encrypted.
type dataKey struct {
	transformer
	sealed []byte

	// For v2:
	id          string // of the service's key
	annotations map[string][]byte
	kind        int64 // seedKind, or 0 for the key of AES-GCM
}

// health is the last result of a health check.
type health struct {
	mu    sync.Mutex
	err   error
	until time.Time // when the service is asked again
}

// The times for which the result of a health check is kept.
const (
	goodFor = 20 * time.Second
	badFor  = 3 * time.Second
)

// check returns the result of a health check, which ask performs if the last result is too old. Later calls return the bare error of the
// service, as in the real server.
func (h *health) check(now time.Time, ask func() (bare, err error)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Before(h.until) {
		return h.err
	}
	bare, err := ask()
	if h.err, h.until = bare, now.Add(goodFor); err != nil {
		h.until = now.Add(badFor)
	}
	return err
}

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
	rev     func() uint64 // the next revision
}

const (
	seedKind = 1 // HKDF_SHA256_XNONCE_AES_GCM_SEED
	seedLife = 3 * time.Minute
	infoSize = 32
)

func newKMSv2(c *KMSConfiguration) (*kmsV2, error) {
	s, err := newService(c)
	return &kmsV2{service: s, known: map[string]*dataKey{}}, err
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

// probe asks for the status of the service, and for another seed if the service has another key.
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
	rev := uint64(0)
	if k.rev != nil {
		rev = k.rev()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seeds, k.revs, k.expires = append(k.seeds, d), append(k.revs, rev), expires
	k.known[string(d.sealed)] = d
	return nil
}
