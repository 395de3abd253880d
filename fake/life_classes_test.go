package fake_test

import (
	"testing"

	"github.com/matryer/is"
)

// TestAttributesClassStays checks that a VolumeAttributesClass is kept as long as a claim refers to it.
func TestAttributesClassStays(t *testing.T) {
	const classes = "/apis/storage.k8s.io/v1/volumeattributesclasses"
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", classes, `{"metadata":{"name":"gold"},"driverName":"d","parameters":{"a":"b"}}`)
		c.must("POST", inCore+"persistentvolumeclaims", `{"metadata":{"name":"c"},"spec":{"volumeAttributesClassName":"gold",
			"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)
		c.must("DELETE", classes+"/gold", "")
		is.Equal(c.names(classes), []string{"gold"})
		c.must("DELETE", inCore+"persistentvolumeclaims/c", "")
		is.Equal(len(c.names(classes)), 0)
	})
}
