//go:build !js

package openapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// TestDescriptionsAndEnums checks the descriptions and enums in documents of both versions.
func TestDescriptionsAndEnums(t *testing.T) {
	is := is.New(t)
	s, parts := source(t)
	i := slices.IndexFunc(parts, func(p Part) bool { return p.Key == "api/v1" })
	v3, v2 := read(t, s.V3(parts[i])), object.Object(s.V2(parts))
	for _, schemas := range []object.Object{v3.Map("components", "schemas"), v2.Map("definitions")} {
		is.True(strings.HasPrefix(schemas.String(meta+"ObjectMeta", "description"), "ObjectMeta is metadata"))
		is.True(strings.HasPrefix(schemas.String("io.k8s.apimachinery.pkg.api.resource.Quantity", "description"), "Quantity is a fixed-point"))
		is.Equal(schemas.String("io.k8s.api.core.v1.Pod", "properties", "kind", "description"), kindText)

		pod := object.Object(schemas.Map("io.k8s.api.core.v1.PodSpec", "properties"))
		is.True(strings.HasSuffix(pod.String("restartPolicy", "description"),
			"\n\nPossible enum values:\n - `\"Always\"`\n - `\"Never\"`\n - `\"OnFailure\"`")) // constants without a comment
		policies, _ := pod.Get("restartPolicy", "enum")
		is.Equal(policies, []any{"Always", "Never", "OnFailure"})
		modes, _ := schemas.Get("io.k8s.api.core.v1.PersistentVolumeSpec", "properties", "accessModes", "items", "enum")
		is.Equal(modes, []any{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}) // of elements
	}
	for _, op := range s.operations(parts[i]) {
		for _, p := range op.params {
			is.True(p.description != "" || p.in == "path" || op.action == "connect") // parameters are described
		}
	}
}
