package crd

import (
	"testing"

	"github.com/matryer/is"
)

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	order := []string{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"}
	for i := range order[1:] {
		is.True(compareVersions(order[i], order[i+1]) > 0) // the order that the documentation gives as an example
	}
}
