package encryption

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubesim/kubesim/sim/config"
)

// FuzzDecrypt checks that no file and no value makes the server panic.
func FuzzDecrypt(f *testing.F) {
	const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
	const keys = "{keys: [{name: k, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}"
	f.Add([]byte(head+"- {resources: [secrets], providers: [{aescbc: "+keys+"}, {aesgcm: "+keys+"}, {secretbox: "+keys+"}, {identity: {}}]}\n"),
		[]byte("k8s:enc:aescbc:v1:k:0123456789abcdef0123456789abcdef"))
	f.Add([]byte(head+"- {resources: ['*.apps', '*.'], providers: [{kms: {}}]}\n"), []byte("k8s:enc:secretbox:v1:k:x"))
	file := filepath.Join(f.TempDir(), "encryption.yaml")
	f.Fuzz(func(t *testing.T, text, value []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := parse(text, file, false)
		if err != nil {
			return
		}
		for _, r := range c.Resources {
			for _, p := range r.Providers {
				if p.KMS != nil {
					return // the service would be called
				}
			}
		}
		o := config.Cluster{Encryption: config.Encryption{ConfigFile: file}}
		if Configure(&o) != nil {
			return
		}
		v := o.Encryption.Values.(*Values)
		_, _, _ = v.Decrypt("secrets", "/registry/secrets/a", value) // an error or not
		sealed, err := v.Encrypt("secrets", "/registry/secrets/a", 1, value)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := v.Decrypt("secrets", "/registry/secrets/a", sealed); err != nil && string(sealed) != string(value) {
			t.Fatal(err)
		}
	})
}

// TestStaleSeeds checks which writes have used an earlier seed than the current one.
func TestStaleSeeds(t *testing.T) {
	t.Parallel()
	k := &kmsV2{revs: []uint64{0, 10}}
	for rev, want := range map[uint64]bool{5: true, 9: true, 10: false, 11: false} {
		if got := k.isStale(rev); got != want {
			t.Errorf("revision %d: %v", rev, got)
		}
	}
}
