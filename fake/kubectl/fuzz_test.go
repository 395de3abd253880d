package kubectl

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"testing"

	"github.com/kubesim/kubesim/sim/kubectl"
)

// FuzzKubeconfig checks that no kubeconfig makes the command panic.
func FuzzKubeconfig(f *testing.F) {
	f.Add([]byte("current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u, namespace: n}}]\n"+
		"clusters: [{name: c, cluster: {server: 'https://localhost/', certificate-authority-data: bm8=, insecure-skip-tls-verify: true}}]\n"+
		"users: [{name: u, user: {token: t, client-certificate-data: bm8=, client-key-data: bm8=}}]\n"), "")
	f.Add([]byte(`{"contexts":[null,{"name":1}],"users":{}}`), "b")
	f.Fuzz(func(_ *testing.T, data []byte, context string) {
		t := &Target{TLS: &tls.Config{}, Config: &kubectl.Config{}}
		_ = t.read(data, context)
	})
}

// FuzzFrames checks that no bytes from a server make the command panic, or allocate more memory than there are bytes.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x82\x03\x01ab\x88\x02\x03\xe8"))
	f.Add([]byte("\x82\x7e\x00\x03abc\x82\x7f\x00\x00\x00\x00\x03\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		from := bufio.NewReader(bytes.NewReader(data))
		for total := 0; ; {
			_, message, err := readFrame(from)
			if total += len(message); total > len(data) {
				t.Fatalf("%d bytes of messages from %d", total, len(data))
			}
			if err != nil {
				return
			}
		}
	})
}
