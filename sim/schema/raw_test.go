package schema

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// TestRaw checks that raw values are found in structs and lists. Most kinds have none.
func TestRaw(t *testing.T) {
	is := is.New(t)
	set, err := Load("1.36")
	is.NoErr(err)
	at := func(group, kind string) *object.Places {
		return set.Kind(GVK{Group: group, Version: "v1", Kind: kind}).Raw()
	}
	is.Equal(at("apps", "ControllerRevision"), &object.Places{Fields: map[string]*object.Places{"data": {Raw: true}}})
	claim := at("resource.k8s.io", "ResourceClaim")
	is.True(claim.Fields["spec"].Fields["devices"].Fields["config"].Elem.Fields["opaque"].Fields["parameters"].Raw)
	is.True(claim.Fields["status"].Fields["devices"].Elem.Fields["data"].Raw)
	is.Equal(at("", "Pod"), nil)
	is.Equal(at("apiextensions.k8s.io", "CustomResourceDefinition"), nil) // the server normalizes its JSON values
}
