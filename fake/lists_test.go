package fake_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

const tasksCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"tasks.example.com"},
"spec":{"group":"example.com","names":{"kind":"Task","plural":"tasks"},"scope":"Namespaced","versions":[{"name":"v1","served":true,
"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"text":{"type":"string"}}}}}}}]}}`

// TestListsAreNotCopied checks that the response to a list consists of the stored bytes themselves: no object is
// encoded or copied for it.
func TestListsAreNotCopied(t *testing.T) {
	c := client{t, fake.RunT(t)}
	const objects, size = 100, 20_000
	c.made("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", tasksCRD)
	text := strings.Repeat("x", size)
	for i := range objects {
		c.made("/api/v1/namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"c%03d","annotations":{"a":%q}}}`, i, text))
		c.made("/apis/example.com/v1/namespaces/default/tasks",
			fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Task","metadata":{"name":"t%03d"},"spec":{"text":%q}}`, i, text))
	}
	const partial, proto = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "application/vnd.kubernetes.protobuf"
	for _, tt := range []struct{ path, accept string }{
		{"/api/v1/configmaps", ""},
		{"/api/v1/namespaces/default/configmaps?limit=60", ""},
		{"/api/v1/configmaps", partial},
		{"/api/v1/configmaps", proto},
		{"/apis/example.com/v1/tasks", ""},
		{"/apis/example.com/v1/namespaces/default/tasks?limit=60", ""},
	} {
		t.Run(tt.path+" "+tt.accept, func(t *testing.T) {
			is := is.New(t)
			c := client{t, c.srv}
			_, _, body := c.ask("GET", tt.path, "", tt.accept, "") // this creates the encodings that are cached with the objects
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res, err := c.request(t.Context(), "GET", tt.path, "", tt.accept, "")
			runtime.ReadMemStats(&after)
			is.NoErr(err)
			is.Equal(read(t, res.Body), body)   // the same response
			is.True(len(body) > objects/2*size) // with all objects
			written := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(body))
			t.Logf("%.3f of what is sent", written)
			is.True(written < 0.05) // only the parts around the objects
		})
	}
}

// made creates an object.
func (c client) made(path, body string) {
	c.t.Helper()
	if code, text := c.do("POST", path, body); code != 201 {
		c.t.Fatalf("POST %s: %d %s", path, code, text)
	}
}
