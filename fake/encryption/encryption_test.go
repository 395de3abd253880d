package encryption_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/encryption"
	"github.com/kubesim/kubesim/fake/etcd"
	"github.com/kubesim/kubesim/fake/grpc"
	"github.com/kubesim/kubesim/sim/config"
)

const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"

// Keys of local providers.
const (
	key16 = "c2VjcmV0IGlzIHNlY3VyZQ=="
	key32 = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
)

func rule(resource string, providers ...string) string {
	return fmt.Sprintf("- resources: ['%s']\n  providers: [%s]\n", resource, strings.Join(providers, ", "))
}

func local(provider, name, secret string) string {
	return fmt.Sprintf("{%s: {keys: [{name: %s, secret: %s}]}}", provider, name, secret)
}

// server is a server with encrypted values, and the keys that etcd has.
type server struct {
	*testing.T
	*fake.Server
	objects *etcd.Objects
	file    string
}

func newServer(t *testing.T, gates map[string]bool, rules ...string) *server {
	t.Helper()
	s := &server{T: t, file: filepath.Join(t.TempDir(), "encryption.yaml")}
	s.write(rules...)
	o := fake.Options{Metrics: true, Replicas: []fake.ReplicaOptions{{FeatureGates: gates}},
		Encryption: config.Encryption{ConfigFile: s.file, AutomaticReload: true}}
	if err := encryption.Configure(&o); err != nil {
		t.Fatal(err)
	}
	s.Server = fake.RunT(t, o)
	values := o.Encryption.Values.(*encryption.Values)
	values.Attach(s.Storage(), etcd.DefaultPrefix)
	s.objects = etcd.NewObjects(s.Storage(), etcd.DefaultPrefix, nil)
	s.objects.Encrypted(values)
	return s
}

func (s *server) write(rules ...string) {
	s.Helper()
	if err := os.WriteFile(s.file, []byte(head+strings.Join(rules, "")), 0o600); err != nil {
		s.Fatal(err)
	}
}

func (s *server) send(method, path, body string) (code int, answer string) {
	s.Helper()
	q, err := http.NewRequest(method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: s.Transport()}).Do(q)
	if err != nil {
		s.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// raw returns the value of a key in etcd.
func (s *server) raw(key string) []byte {
	s.Helper()
	var value []byte
	err := s.objects.Do(func(tx etcd.Tx) error {
		all, err := tx.Range(etcd.Range{Key: key}, 0)
		if err == nil && len(all) == 1 {
			value, err = all[0].Value()
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return value
}

func (s *server) put(key string, value []byte) {
	s.Helper()
	if err := s.objects.Do(func(tx etcd.Tx) error { return tx.Put(key, value) }); err != nil {
		s.Fatal(err)
	}
}

const (
	secrets = "/api/v1/namespaces/default/secrets"
	secret  = `{"metadata":{"name":"a"},"data":{"k":"dmFsdWU="}}`
	key     = "/registry/secrets/default/a"
)

// TestProviders checks that values are encrypted with the first provider, that they are the same each time, and that a client of etcd can
// write them at another key only if the provider does not authenticate the key.
func TestProviders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider, prefix string
		portable         bool
	}{
		{local("aescbc", "key1", key16), "k8s:enc:aescbc:v1:key1:", true},
		{local("aesgcm", "key2", key32), "k8s:enc:aesgcm:v1:key2:", false},
		{local("secretbox", "key3", key32), "k8s:enc:secretbox:v1:key3:", true},
		{"{identity: {}}", "k8s\x00", true},
	} {
		is := is.New(t)
		s := newServer(t, nil, rule("secrets", c.provider, "{identity: {}}"))
		code, _ := s.send("POST", secrets, secret)
		is.Equal(code, http.StatusCreated)
		value := s.raw(key)
		is.True(bytes.HasPrefix(value, []byte(c.prefix)))
		is.Equal(bytes.Contains(value, []byte("value")), c.provider == "{identity: {}}")
		is.Equal(value, s.raw(key))
		s.put(key, value)
		code, _ = s.send("GET", secrets+"/a", "")
		is.Equal(code, http.StatusOK)
		s.put("/registry/secrets/default/b", value)
		code, _ = s.send("GET", secrets+"/b", "")
		is.Equal(code == http.StatusOK, c.portable)
		is.True(bytes.HasPrefix(s.raw("/registry/namespaces/default"), []byte("k8s\x00"))) // no rule
	}
}

// TestRules checks which rule applies to a resource.
func TestRules(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t, nil, rule("configmaps", "{identity: {}}"), rule("*.apps", local("aescbc", "apps", key16)), rule("*.", local("aescbc", "core", key16)),
		rule("*.*", local("aescbc", "all", key16)))
	for path, want := range map[string]string{"/registry/namespaces/default": "k8s:enc:aescbc:v1:core:", "/registry/configmaps/default/c": "k8s\x00",
		"/registry/flowschemas/exempt": "k8s:enc:aescbc:v1:all:", "/registry/deployments/default/d": "k8s:enc:aescbc:v1:apps:"} {
		switch {
		case strings.HasSuffix(path, "/c"):
			s.send("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"c"}}`)
		case strings.HasSuffix(path, "/d"):
			s.send("POST", "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},`+
				`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
		}
		is.True(bytes.HasPrefix(s.raw(path), []byte(want)))
	}
}

// TestReload checks values that the providers of a changed file cannot decrypt, and that an update without changes encrypts a value with
// the new key if they can. The texts are those of kube-apiserver 1.36.3.
func TestReload(t *testing.T) {
	t.Parallel()
	for gate, want := range map[bool]string{true: "Internal error occurred: StorageError: corrupt object, Code: 7, Key: ", false: "Internal error occurred: no matching prefix found"} {
		is := is.New(t)
		s := newServer(t, map[string]bool{"AllowUnsafeMalformedObjectDeletion": gate}, rule("secrets", local("aesgcm", "key1", key16)))
		s.send("POST", secrets, secret)
		old := s.raw(key)
		s.write(rule("secrets", local("aescbc", "key1", key16), local("aesgcm", "key1", key16)))
		_, before := s.send("GET", secrets+"/a", "")
		is.Equal(s.raw(key), old) // a write is needed
		code, _ := s.send("PUT", secrets+"/a", before)
		is.Equal(code, http.StatusOK)
		is.True(bytes.HasPrefix(s.raw(key), []byte("k8s:enc:aescbc:v1:key1:")))

		s.write(rule("secrets", local("aesgcm", "key1", key16)))
		code, text := s.send("GET", secrets+"/a", "")
		is.Equal(code, http.StatusInternalServerError)
		is.True(strings.Contains(text, want))
		is.Equal(strings.Contains(text, "data from the storage is not transformable revision=0: no matching prefix found"), gate)
		code, _ = s.send("GET", secrets, "") // the watch cache has the object
		is.Equal(code, http.StatusOK)
		code, _ = s.send("POST", secrets, strings.ReplaceAll(secret, `"a"`, `"b"`))
		is.Equal(code, http.StatusCreated)
		code, _ = s.send("DELETE", secrets+"/a", "")
		is.Equal(code, http.StatusInternalServerError)
		code, _ = s.send("DELETE", secrets+"/a?ignoreStoreReadErrorWithClusterBreakingPotential=true", "")
		is.Equal(code == http.StatusOK, gate)
		_, metrics := s.send("GET", "/metrics", "")
		is.True(strings.Contains(metrics, `status="success"} 2`+"\n"))
	}
}

// TestCorrupt checks values that a client of etcd has damaged.
func TestCorrupt(t *testing.T) {
	t.Parallel()
	for gate, want := range map[bool]string{true: `"reason":"StorageReadError"`, false: "unable to transform key"} {
		is := is.New(t)
		s := newServer(t, map[string]bool{"AllowUnsafeMalformedObjectDeletion": gate}, rule("secrets", local("aesgcm", "key1", key16)))
		s.send("POST", secrets, secret)
		damaged := s.raw(key)
		damaged = damaged[:len(damaged)-1]
		s.put(key, damaged)
		is.Equal(s.raw(key), damaged)
		_, text := s.send("GET", secrets+"/a", "")
		is.True(strings.Contains(text, "cipher: message authentication failed"))
		_, text = s.send("GET", secrets, "")
		is.True(strings.Contains(text, want))
	}
}

// kms is a key management service of both versions that encrypts with base64 and a prefix.
type kms struct {
	url string

	mu       sync.Mutex // guards the fields below
	id       string
	encrypts int
	failing  bool
}

func (k *kms) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := grpc.NewCall(w, r)
	data, err := call.Receive()
	if err != nil {
		call.End(err)
		return
	}
	q, err := grpc.Parse(data)
	if err != nil || k.failing {
		call.End(grpc.NewError(grpc.FailedPrecondition, "failed precondition - key disabled"))
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	b := &grpc.Builder{}
	switch r.URL.Path {
	case "/v2.KeyManagementService/Status":
		b.Text(1, "v2").Text(2, "ok").Text(3, k.id)
	case "/v2.KeyManagementService/Encrypt":
		k.encrypts++
		b.Text(1, "sealed "+q.Text(1)).Text(2, k.id).Message(3, new(grpc.Builder).Text(1, "a.example.com").Text(2, "x"))
	case "/v2.KeyManagementService/Decrypt":
		b.Text(1, strings.TrimPrefix(q.Text(1), "sealed "))
	case "/v1beta1.KeyManagementService/Encrypt":
		k.encrypts++
		b.Text(1, "sealed "+q.Text(2))
	case "/v1beta1.KeyManagementService/Decrypt":
		b.Text(1, strings.TrimPrefix(q.Text(2), "sealed "))
	}
	call.End(call.Send(b.Bytes))
}

// start serves the service on a unix socket and returns its URL.
func (k *kms) start(t *testing.T) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "kms")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: k, Protocols: new(http.Protocols), ReadHeaderTimeout: time.Minute}
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	k.url = "unix://" + socket
	return k.url
}

// TestKMS checks both versions of key management services.
func TestKMS(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		is := is.New(t)
		service := &kms{id: "1"}
		s := newServer(t, map[string]bool{"KMSv1": true}, rule("secrets", fmt.Sprintf("{kms: {apiVersion: %s, name: mine, endpoint: '%s'}}", version, service.start(t))))
		before := service.encrypts
		code, _ := s.send("POST", secrets, secret)
		is.Equal(code, http.StatusCreated)
		is.Equal(service.encrypts-before, map[string]int{"v1": 1, "v2": 0}[version]) // v2 has one seed for all values
		value := s.raw(key)
		is.True(bytes.HasPrefix(value, []byte("k8s:enc:kms:"+version+":mine:")))
		is.Equal(service.encrypts-before, map[string]int{"v1": 1, "v2": 0}[version])
		is.Equal(value, s.raw(key))
		s.put(key, value)
		code, _ = s.send("GET", secrets+"/a", "")
		is.Equal(code, http.StatusOK)
		code, text := s.send("GET", "/healthz/kms-providers", "")
		is.Equal([]any{code, text}, []any{200, "ok"})
		code, _ = s.send("GET", "/livez/kms-providers", "")
		is.Equal(code, http.StatusNotFound)
	}
}

// TestKMSRotation checks that values get a seed of the new key after the service has another one, and that an update without changes
// stores an object again for it.
func TestKMSRotation(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	service := &kms{id: "1"}
	s := newServer(t, nil, rule("secrets", fmt.Sprintf("{kms: {apiVersion: v2, name: mine, endpoint: '%s'}}", service.start(t))))
	s.send("POST", secrets, secret)
	old := s.raw(key)
	_, object := s.send("GET", secrets+"/a", "")
	_, same := s.send("PUT", secrets+"/a", object)
	is.Equal(same, object)
	service.mu.Lock()
	service.id = "2"
	service.mu.Unlock()
	s.write(rule("secrets", fmt.Sprintf("{kms: {apiVersion: v2, name: mine, timeout: 4s, endpoint: '%s'}}", service.url)))
	_, changed := s.send("PUT", secrets+"/a", object) // a changed file is followed by a status request
	is.True(changed != object)
	is.True(!bytes.Equal(s.raw(key), old))
	is.Equal(service.encrypts, 2)
	s.put("/registry/secrets/default/a", old) // is still decrypted
	_, again := s.send("GET", secrets+"/a", "")
	_, more := s.send("PUT", secrets+"/a", again)
	is.True(again != more)
}

// TestKMSUnavailable checks a service that does not work when the server starts: writes fail, and so does the health check.
func TestKMSUnavailable(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	service := &kms{id: "1", failing: true}
	s := newServer(t, nil, rule("secrets", fmt.Sprintf("{kms: {apiVersion: v2, name: mine, endpoint: '%s'}}", service.start(t))))
	code, text := s.send("POST", secrets, secret)
	is.Equal(code, http.StatusInternalServerError)
	is.True(strings.Contains(text, "got unexpected nil transformer"))
	_, text = s.send("GET", "/healthz/kms-providers", "")
	is.True(strings.Contains(text, "internal server error: kms-provider-0: "))
	is.True(strings.Contains(text, "rpc error: code = FailedPrecondition desc = failed precondition - key disabled"))
	code, _ = s.send("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"c"}}`)
	is.Equal(code, http.StatusCreated)
}

// TestErrors checks the errors of files with which a server does not start.
func TestErrors(t *testing.T) {
	t.Parallel()
	const parsing, building = "error while parsing file: ", "error while building transformers: "
	for text, want := range map[string]string{
		head[:len(head)-1] + " []\n":                                                          parsing + "resources: Required value: at least one resources is required",
		head + rule("*", "{identity: {}}"):                                                    parsing + `resources[0].resources[0]: Invalid value: "*": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources`,
		head + rule("Secrets", "{identity: {}}"):                                              parsing + `resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters`,
		head + rule("secrets"):                                                                parsing + "resources[0].providers: Required value: at least one resources[0].providers is required",
		head + rule("secrets", local("aescbc", "k", "eA==")):                                  parsing + `resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 1, expected one of [16 24 32]`,
		head + rule("secrets", local("aescbc", "k", "'*'")):                                   parsing + `resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`,
		head + "- {resources: [secrets, '*.'], providers: [{identity: {}}]}\n":                parsing + `resources[0].resources: Invalid value: ["secrets","*."]: using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked`,
		head + rule("*.", "{identity: {}}") + rule("secrets", "{identity: {}}"):               building + `resource "secrets" is masked by earlier rule "*."`,
		head + rule("secrets", "{kms: {name: a, endpoint: 'http://x'}}"):                      parsing + `resources[0].providers[0].kms.endpoint: Invalid value: "http://x": unsupported scheme "http" for KMS provider, only unix is supported`,
		head + rule("secrets", "{kms: {name: a, endpoint: 'unix:///x'}}"):                     building + "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.",
		head + rule("secrets", "{kms: {apiVersion: v2, name: 'a:b', endpoint: 'unix:///x'}}"): parsing + `resources[0].providers[0].kms.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'`,
	} {
		is := is.New(t)
		file := filepath.Join(t.TempDir(), "encryption.yaml")
		is.NoErr(os.WriteFile(file, []byte(text), 0o600))
		err := encryption.Configure(&fake.Options{Encryption: config.Encryption{ConfigFile: file}})
		is.Equal(fmt.Sprint(err), want)
	}
}

// Options that name a file, but were not given to Configure, would store values as they are.
func TestNotConfigured(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, err := fake.New(fake.Options{Encryption: config.Encryption{ConfigFile: "encryption.yaml"}})
	is.True(err != nil && strings.Contains(err.Error(), "encryption.Configure")) // an error, not a server without encryption
}
