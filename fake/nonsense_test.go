package fake_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestAggregateNonsense checks that malformed discovery or OpenAPI documents of an aggregated API server do not break
// any client's request.
func TestAggregateNonsense(t *testing.T) {
	t.Parallel()
	texts := []string{
		`5`, `[]`, `{"kind":"APIResourceList","resources":[5,{"name":5},{"name":"a","verbs":"x"},{"name":"a/b","verbs":[1]}]}`,
		`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[5,{"metadata":{"name":"shapes.example.com"},
			"versions":[1,{"version":"v1","resources":[5,{"resource":5,"verbs":{},"responseKind":"x","subresources":[7,{"verbs":7}]}]}]}]}`,
		`{"paths":{"/apis/shapes.example.com/v1/a":"b","/apis/shapes.example.com/v1/c":{"get":{"parameters":5,"responses":{"x":"y"}}},"apis/x":5},
			"definitions":{"a":5,"b":{"properties":[],"type":{}}},"parameters":{"a":5}}`,
	}
	if testing.Short() {
		texts = texts[2:3]
	}
	for _, text := range texts {
		is := is.New(t)
		c := client{t, fake.RunT(t)}
		c.srv.Aggregate("v1.shapes.example.com", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
			if q.URL.Path != "/apis" || q.URL.Query().Has("x") {
				w.Header().Set("Content-Type", "application/json")
			}
			io.WriteString(w, text)
		}))
		is.Equal(c.aggregatedDiscovery(), `{"freshness":"Stale","version":"v1"}`) // as long as the documents are malformed
		for i, path := range []string{"/apis", "/openapi/v2", "/openapi/v3", "/"} {
			for j, accept := range []string{"application/json", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
				"application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"} {
				if testing.Short() && (i+j)%2 != 0 {
					continue
				}
				q, err := http.NewRequest("GET", c.srv.URL()+path, nil)
				is.NoErr(err)
				q.Header.Set("Accept", accept)
				res, err := c.srv.Transport().RoundTrip(q)
				is.NoErr(err)
				is.True(res.StatusCode == http.StatusOK || res.StatusCode == http.StatusNotAcceptable)
			}
		}
	}
}
