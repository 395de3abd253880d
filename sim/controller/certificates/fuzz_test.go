package certificates

import (
	"encoding/base64"
	"testing"

	"github.com/kubesim/kubesim/sim/object"
)

// FuzzRequest checks that no certificate request causes a panic in the controllers that approve and sign.
func FuzzRequest(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n"), "kubernetes.io/kubelet-serving")
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"), "kubernetes.io/kube-apiserver-client")
	f.Fuzz(func(_ *testing.T, text []byte, signer string) {
		csr := object.Object{"spec": map[string]any{"request": base64.StdEncoding.EncodeToString(text), "signerName": signer,
			"usages": []any{"digital signature", "server auth"}}}
		if q, err := parse(csr); err == nil {
			_ = allowed(csr, q)
		}
	})
}
