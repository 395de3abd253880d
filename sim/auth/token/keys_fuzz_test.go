package token

import "testing"

// FuzzKeys parses key files. Each parsed key must be able to sign, and must verify its own signature.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\n"))
	f.Add([]byte("-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBKgMo8H4xWQwzRz1IWPQHTxUzXWn2dT0u9xvaxbiVYAoAoGCCqGSM49\nAwEHoUQDQgAEBTpmMUZ4jTBc3Xb3\n-----END EC PRIVATE KEY-----"))
	f.Add([]byte("-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----"))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----"))
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if key, err := privateKey(file); err == nil {
			text := []byte("a.b")
			if v, ok := key.(verifier); ok && !v.verify(v.algorithm(), text, key.sign(text)) {
				t.Fatal("the key does not know its own signature")
			}
		}
		_, _ = publicKeys(file) // it does not panic
	})
}
