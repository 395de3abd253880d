// Package encryption encrypts values at rest (--encryption-provider-config; Kubernetes documentation, "Encrypting Confidential Data at
// Rest"; KEP-3299).
//
//	FILE ─ parse ─▶ Configuration ─▶ generation: resource ─▶ prefixed: k8s:enc:aescbc:v1: ─▶ prefixed: key1: ─▶ cbc
//	                                      ▲                            k8s:enc:kms:v2:NAME: ─▶ kmsV2 ─▶ service on a unix socket
//	  a changed FILE adds a generation ───┘
//
// The store of the simulator has plain objects. A value is encrypted when it is read through the API of etcd (package fake/etcd), with the
// provider that was the first one at the revision of its write, and with nonces that depend on the revision, so that it is the same each
// time. A value that a client of etcd writes is decrypted at once; one that cannot be decrypted is a corrupt object. An object of an earlier
// generation that the providers of the current one cannot decrypt is corrupt, too: requests that read it from the store fail.
//
// Data that exists when a server starts counts as written by the first generation.
package encryption

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/fake/configfile"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/resource"
)

// Values encrypts the values of a server. It implements config.StorageEncryption and etcd.Values.
type Values struct {
	reload bool
	gateV1 bool
	id     string // identifies the API server in the labels of metrics

	storage atomic.Pointer[sim.Storage] // nil until Attach
	prefix  atomic.Pointer[string]      // of keys in etcd

	loading sync.Mutex // is held while the file is read, and guards the next two fields
	file    configfile.Watched
	data    string

	mu          sync.Mutex // guards the fields below; the Cluster's lock is not acquired while it is held
	generations []*generation
	healthy     map[string]error   // results of health checks
	foreign     map[uint64]foreign // by revision
	reloads     reloads
}

// foreign is a value that a client of etcd has written.
type foreign struct {
	value []byte
	stale bool  // it is encrypted with another key than the current one
	err   error // if it cannot be read
}

// Configure reads the file that c.Encryption names and sets c.Encryption.Values. If it names none, Configure does nothing. The errors are
// kube-apiserver's (k8s.io/apiserver/pkg/server/options.EtcdOptions).
func Configure(c *config.Cluster) error {
	o := &c.Encryption
	if o.ConfigFile == "" {
		if o.AutomaticReload {
			return errors.New("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config")
		}
		return nil
	}
	v := &Values{reload: o.AutomaticReload, id: boot.LeaseName(boot.Host), file: configfile.Watched{Name: o.ConfigFile},
		healthy: map[string]error{}, foreign: map[uint64]foreign{}}
	prefix := "/registry"
	v.prefix.Store(&prefix)
	v.gateV1 = len(c.Replicas) > 0 && c.Replicas[0].FeatureGates["KMSv1"]
	v.file.Changed()
	g, err := v.load()
	if err != nil {
		return err
	}
	v.generations = []*generation{g}
	v.reloads.hash = hash(v.data)
	v.check()
	o.Values = v
	return nil
}

// Attach connects the values with the store of a running server. prefix is that of keys in etcd (--etcd-prefix).
func (v *Values) Attach(s sim.Storage, prefix string) {
	prefix = "/" + strings.Trim(prefix, "/")
	v.storage.Store(&s)
	v.prefix.Store(&prefix)
	s.OnCommit(v.committed)
}

// nextRev returns the next revision of the store. It acquires the Cluster's lock.
func (v *Values) nextRev() (rev uint64) {
	if storage := v.storage.Load(); storage != nil {
		storage.Do(func(s sim.StorageLocked) { rev = s.Store().Rev() + 1 })
	}
	return rev
}

// now returns the current generation, and at the one that a revision was written with.
func (v *Values) now() *generation {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.generations[len(v.generations)-1]
}

func (v *Values) at(rev uint64) *generation {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, g := range slices.Backward(v.generations) {
		if g.from <= rev {
			return g
		}
	}
	return v.generations[0]
}

// nonces is a source of nonces that are the same for the same write. It returns the output of HMAC in counter mode.
type nonces struct {
	seed []byte
	n    uint64
	rest []byte
}

func (x *nonces) Read(p []byte) (int, error) {
	for i := range p {
		if len(x.rest) == 0 {
			h := hmac.New(sha256.New, x.seed)
			h.Write(binary.BigEndian.AppendUint64(nil, x.n))
			x.n, x.rest = x.n+1, h.Sum(nil)
		}
		p[i], x.rest = x.rest[0], x.rest[1:]
	}
	return len(p), nil
}

// noncesOf returns the nonces of a write.
func noncesOf(key string, rev uint64) io.Reader {
	return &nonces{seed: binary.BigEndian.AppendUint64([]byte(key), rev)}
}

// Encrypt implements etcd.Values.
func (v *Values) Encrypt(resource, key string, rev uint64, value []byte) ([]byte, error) {
	v.mu.Lock()
	f, ok := v.foreign[rev]
	v.mu.Unlock()
	if ok {
		return f.value, nil
	}
	return v.at(rev).of(resource).seal(value, []byte(key), rev, noncesOf(key, rev))
}

// Decrypt implements etcd.Values.
func (v *Values) Decrypt(resource, key string, value []byte) (plain []byte, stale bool, err error) {
	return v.now().of(resource).open(value, []byte(key))
}

// Stored implements etcd.Values.
func (v *Values) Stored(rev uint64, value []byte, stale bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.foreign[rev] = foreign{value, stale, err}
}

// Corrupt implements etcd.Values.
func (v *Values) Corrupt(decrypted bool, err error) error {
	if decrypted {
		return err
	}
	return &resource.TransformError{Err: err}
}

// Unreadable implements config.StorageEncryption. The object itself is not needed: whether the current providers can decrypt a value
// depends on the key that has encrypted it, not on its contents.
func (v *Values) Unreadable(storage, key string, rev uint64) error {
	v.mu.Lock()
	f, ok := v.foreign[rev]
	v.mu.Unlock()
	if ok {
		return f.err
	}
	if _, err := v.reopen(storage, key, rev); err != nil {
		return v.Corrupt(false, err)
	}
	return nil
}

// Stale implements config.StorageEncryption.
func (v *Values) Stale(resource, key string, rev uint64) bool {
	v.mu.Lock()
	f, ok := v.foreign[rev]
	v.mu.Unlock()
	if ok {
		return f.stale
	}
	g := v.now()
	if k := g.v2[g.name(resource)]; len(k) > 0 && v.at(rev) == g {
		return k[0].isStale(rev)
	}
	stale, err := v.reopen(resource, key, rev)
	return stale && err == nil
}

// reopen decrypts with the current generation a value as the generation of a revision encrypts it.
func (v *Values) reopen(resource, key string, rev uint64) (stale bool, err error) {
	was, is := v.at(rev), v.now()
	if was == is {
		return false, nil
	}
	key = *v.prefix.Load() + strings.TrimPrefix(key, "/registry")
	sealed, err := was.of(resource).seal([]byte("k8s\x00"), []byte(key), rev, noncesOf(key, rev))
	if err != nil {
		return false, err
	}
	_, stale, err = is.of(resource).open(sealed, []byte(key))
	return stale, err
}

// Prepare implements config.StorageEncryption.
func (v *Values) Prepare(resource string, unlocked func(func())) (err error) {
	g := v.now()
	name := g.name(resource)
	for _, k := range g.v1[name] {
		unlocked(func() { err = k.prepare() })
	}
	for _, k := range g.v2[name] {
		err = k.prepare(time.Now(), unlocked)
	}
	return err
}

// committed assigns the keys that Prepare has requested to the revision of a write.
func (v *Values) committed(c sim.Commit) {
	g := v.now()
	if len(g.v1) == 0 || c.Object == nil {
		return
	}
	for _, k := range g.v1[g.name(c.Resource)] {
		k.committed(c.Rev)
	}
}
