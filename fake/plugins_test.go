package fake_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestWithoutPlugins checks that an admission plugin that is turned off has no effect: no other component sets the
// fields that it would set.
func TestWithoutPlugins(t *testing.T) {
	const volume = `{"metadata":{"name":"a"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/a"}}}`
	const claim = `{"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`
	const pod = `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"a"}]}}`
	tests := []struct{ plugin, path, body, mark string }{
		{"TaintNodesByCondition", "/api/v1/nodes", `{"metadata":{"name":"a"}}`, "not-ready"},
		{"StorageObjectInUseProtection", "/api/v1/persistentvolumes", volume, "pv-protection"},
		{"StorageObjectInUseProtection", "/api/v1/namespaces/default/persistentvolumeclaims", claim, "pvc-protection"},
		{"DefaultTolerationSeconds", "/api/v1/namespaces/default/pods", pod, "unreachable"},
		{"Priority", "/api/v1/namespaces/default/pods", pod, "PreemptLowerPriority"},
	}
	for _, tt := range tests {
		t.Run(tt.plugin, func(t *testing.T) {
			is := is.New(t)
			for _, off := range [][]string{nil, {tt.plugin}} {
				c := client{t, fake.RunT(t, fake.Options{WithoutPlugins: off})}
				code, body := c.do("POST", tt.path, tt.body)
				is.Equal(code, http.StatusCreated)
				is.Equal(strings.Contains(body, tt.mark), off == nil) // only with the plugin
			}
		})
	}
}
