package fake_test

import (
	"bufio"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestDefinitionOfABuiltInResource checks that a definition with the name of a built-in resource does not end watches
// of the resource when it is created or deleted.
func TestDefinitionOfABuiltInResource(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t)
	c := client{t, srv}
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	before := c.must("POST", mapsPath, `{"metadata":{"name":"a"}}`).ResourceVersion()
	c.must("POST", definitions, `{"metadata":{"name":"customresourcedefinitions.apiextensions.k8s.io","annotations":{"api-approved.kubernetes.io":"unapproved, for a test"}},
		"spec":{"group":"apiextensions.k8s.io","scope":"Cluster","names":{"plural":"customresourcedefinitions","singular":"customresourcedefinition","kind":"CustomResourceDefinition"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	c.must("DELETE", definitions+"/customresourcedefinitions.apiextensions.k8s.io", "")
	res := c.get(t.Context(), definitions+"?watch=1&resourceVersion="+before)
	is.Equal(res.StatusCode, 200)
	events := &stream{t, res.Body, bufio.NewScanner(res.Body)}
	is.Equal(events.must("ADDED").Name(), "customresourcedefinitions.apiextensions.k8s.io") // the watch gets the events since then
}
