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
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/fake/configfile"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
)

// generation is a configuration that applies to writes from a revision on.
type generation struct {
	from       uint64
	byResource map[string]*prefixed // by the names in the file
	v1         map[string][]*kmsV1  // the first provider of a resource, by the same names
	v2         map[string][]*kmsV2
	probes     []prober // in the order of the file
	onlyV2     bool     // there are key management services, and all of them are v2
}

// prober is a key management service with a health check.
type prober interface{ probe(now time.Time) error }

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

// load reads the file.
func (v *Values) load() (*generation, error) {
	data, err := os.ReadFile(v.file.Name)
	if err != nil {
		return nil, fmt.Errorf("error while parsing file: error while loading file: error reading encryption provider configuration file %q: %w", v.file.Name, err)
	}
	c, err := parse(data, v.file.Name, v.reload)
	if err != nil {
		return nil, fmt.Errorf("error while parsing file: %w", err)
	}
	g, err := v.build(c)
	if err != nil {
		return nil, fmt.Errorf("error while building transformers: %w", err)
	}
	v.data = string(data)
	return g, nil
}

// build returns the generation of a configuration.
func (v *Values) build(c *Configuration) (*generation, error) {
	g := &generation{byResource: map[string]*prefixed{}, v1: map[string][]*kmsV1{}, v2: map[string][]*kmsV2{}, onlyV2: true}
	for _, r := range c.Resources {
		list, err := v.providers(g, r.Providers)
		if err != nil {
			return nil, err
		}
		for _, name := range r.Resources {
			_, group := groupOf(name)
			for _, wider := range []string{"*." + group, "*.*"} {
				if g.byResource[wider] != nil {
					return nil, fmt.Errorf("resource %q is masked by earlier rule %q", name, wider)
				}
			}
			p := g.byResource[name]
			if p == nil {
				p = &prefixed{none: "no matching prefix found"}
				g.byResource[name] = p
			}
			p.list = append(p.list, list...)
			switch first := p.list[0].transformer.(type) {
			case *kmsV1:
				g.v1[name] = []*kmsV1{first}
			case *kmsV2:
				g.v2[name] = []*kmsV2{first}
			}
		}
	}
	g.onlyV2 = g.onlyV2 && len(g.probes) > 0
	return g, nil
}

// providers returns the transformers of a list of providers.
func (v *Values) providers(g *generation, list []ProviderConfiguration) (all []prefix, err error) {
	for _, p := range list {
		x := prefix{transformer: identity{}}
		switch {
		case p.AESGCM != nil:
			x.text = "k8s:enc:aesgcm:v1:"
			x.transformer, err = withKeys(p.AESGCM, "AES", newGCM)
		case p.AESCBC != nil:
			x.text = "k8s:enc:aescbc:v1:"
			x.transformer, err = withKeys(p.AESCBC, "AES", newCBC)
		case p.Secretbox != nil:
			x.text = "k8s:enc:secretbox:v1:"
			x.transformer, err = withKeys(p.Secretbox, "Secretbox", newBox)
		case p.KMS != nil:
			x, err = v.kms(g, p.KMS)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// kms returns the transformer of a key management service.
func (v *Values) kms(g *generation, c *KMSConfiguration) (prefix, error) {
	if c.APIVersion == "v2" {
		k, err := newKMSv2(c)
		if err != nil {
			return prefix{}, err
		}
		k.rev = v.nextRev
		g.probes = append(g.probes, k)
		return prefix{"k8s:enc:kms:v2:" + c.Name + ":", k}, nil
	}
	if !v.gateV1 {
		return prefix{}, errors.New("KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.") //nolint:staticcheck // kube-apiserver's text
	}
	k, err := newKMSv1(c)
	if err != nil {
		return prefix{}, err
	}
	g.onlyV2 = false
	g.probes = append(g.probes, k)
	return prefix{"k8s:enc:kms:v1:" + c.Name + ":", k}, nil
}

// name returns the name in the file that applies to a resource, such as deployments.apps or secrets, or "" if there is none
// (StaticTransformers.TransformerForResource).
func (g *generation) name(resource string) string {
	_, group := groupOf(resource)
	if unserved := []string{"apiserveripinfo", "serviceipallocations", "servicenodeportallocations"}; slices.Contains(unserved, resource) {
		return ""
	}
	for _, name := range []string{resource, "*." + group, "*.*"} {
		if g.byResource[name] != nil {
			return name
		}
	}
	return ""
}

// of returns the transformer of a resource, which stores values as they are if the file has none.
func (g *generation) of(resource string) *prefixed {
	if name := g.name(resource); name != "" {
		return g.byResource[name]
	}
	return plain
}

var plain = &prefixed{list: []prefix{{"", identity{}}}, none: "identity transformer tried to read encrypted data"}

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
		if err = k.writable(time.Now()); err != nil { // it may be healthy again
			unlocked(func() { _ = k.probe(time.Now()) })
			err = k.writable(time.Now())
		}
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

// Arrived implements config.StorageEncryption. It reads the file if it has changed and, for a request for the server's health, asks the
// key management services.
func (v *Values) Arrived(path string, logf func(format string, args ...any)) {
	if v.reload {
		v.reread(logf)
	}
	if strings.HasPrefix(path, "/healthz") || strings.HasPrefix(path, "/readyz") {
		v.check()
	}
}

// reread reads the file if it has changed. If it is invalid, or a service does not respond, the previous configuration stays
// (k8s.io/apiserver/pkg/server/options/encryptionconfig/controller).
func (v *Values) reread(logf func(format string, args ...any)) {
	if !v.loading.TryLock() { // another request reads it
		return
	}
	defer v.loading.Unlock()
	if !v.file.Changed() {
		return
	}
	before := v.data
	g, err := v.load()
	if err == nil && v.data == before {
		return
	}
	if err == nil {
		_, err = g.check(true)
	}
	from := uint64(0)
	if err == nil {
		from = v.nextRev()
	} else {
		logf("%q err=%q", "failed to process encryption config", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.reloads.failed, v.reloads.failureAt = v.reloads.failed+1, time.Now()
		return
	}
	g.from = from
	v.generations = append(v.generations, g)
	v.reloads.succeeded, v.reloads.successAt, v.reloads.hash = v.reloads.succeeded+1, time.Now(), hash(v.data)
}

// allServices is the name of the health check of all key management services.
const allServices = "kms-providers"

// Checks implements config.StorageEncryption. There is one check for all services if they are v2, or if the file may change.
func (v *Values) Checks() (names []string) {
	g := v.now()
	if v.reload || g.onlyV2 {
		return []string{allServices}
	}
	for i := range g.probes {
		names = append(names, fmt.Sprintf("kms-provider-%d", i))
	}
	return names
}

// check asks the services.
func (v *Values) check() {
	g := v.now()
	results, _ := g.check(v.reload || g.onlyV2)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.healthy = results
}

// check asks the services, and returns the results by the name of the health check. err is that of all services.
func (g *generation) check(together bool) (results map[string]error, err error) {
	results = map[string]error{}
	var errs []string
	for i, p := range g.probes {
		name := fmt.Sprintf("kms-provider-%d", i)
		err := p.probe(time.Now())
		if err != nil {
			errs = append(errs, name+": "+err.Error())
		}
		results[name] = err
	}
	if len(errs) > 0 {
		err = errors.New(field.Aggregate(errs))
	}
	if together {
		results = map[string]error{allServices: err}
	}
	return results, err
}

// Check implements config.StorageEncryption.
func (v *Values) Check(name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.healthy[name]
}
