package outbound

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzAdmissionConfig checks that no file of --admission-control-config-file, and no kubeconfig that it names, makes the server
// panic. @ stands for the path of the kubeconfig.
func FuzzAdmissionConfig(f *testing.F) {
	f.Add([]byte("kind: AdmissionConfiguration\nplugins:\n- name: MutatingAdmissionWebhook\n  configuration: {kind: WebhookAdmissionConfiguration, kubeConfigFile: '@'}\n"),
		[]byte("users: [{name: '*.svc', user: {token: t}}, {name: b, user: {client-certificate-data: bm8=, client-key-data: bm8=}}]\n"+
			"contexts: [{name: x, context: {user: b}}]\ncurrent-context: x\n"))
	f.Add([]byte("kind: AdmissionConfiguration\nplugins: [{path: '@'}, null]\n"), []byte(`{"kind":"WebhookAdmission","kubeConfigFile":"a"}`))
	dir := f.TempDir()
	file, users := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "users.yaml")
	f.Fuzz(func(t *testing.T, config, kubeconfig []byte) {
		config = bytes.ReplaceAll(config, []byte("@"), []byte(users))
		for name, data := range map[string][]byte{file: config, users: kubeconfig} { // order does not matter
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = ReadAdmissionConfig(file)
	})
}
