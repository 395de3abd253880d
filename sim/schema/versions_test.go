package schema

import (
	"testing"

	"github.com/matryer/is"
)

func TestCompareVersions(t *testing.T) {
	is := is.New(t)
	order := []string{"v10", "v2", "v01", "v1", "v0", "v11beta2", "v10beta3", "v3beta1", "v1beta0", "v12alpha1", "v11alpha2",
		"+1", "foo1", "foo10", "v", "v+1", "v-1", "v1alpha", "v1alpha-1", "v1alpha1beta1", "v1gamma1", "v99999999999999999999", "valpha1"}
	for i, a := range order {
		for j, b := range order {
			got := CompareVersions(a, b)
			is.Equal(i < j, got > 0)   // an earlier one is greater
			is.Equal(i == j, got == 0) // equal only to itself
		}
	}
}
