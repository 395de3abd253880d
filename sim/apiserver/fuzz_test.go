package apiserver

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzInfo parses the request info of any method, path and query: a resource always has a version and a name, and no part is longer
// than the path.
func FuzzInfo(f *testing.F) {
	for _, seed := range []string{"/api/v1/pods", "/apis/apps/v1/namespaces/a/deployments/b/status", "/api/v1/watch/namespaces/a/pods", "/api/v1/proxy",
		"/api/v1/namespaces/a/pods/b/proxy/x//y", "/apis//v1/x", "//", "/api/v1/namespaces/a/finalize", "/sim/v1/x"} {
		f.Add("GET", seed, "watch=1&fieldSelector=metadata.name=a")
	}
	f.Add("POST", "/api/v1/namespaces/default/pods", "")
	f.Fuzz(func(t *testing.T, method, path, query string) {
		values, _ := url.ParseQuery(query) // uses the part of the query that is valid
		in, ok := parseInfo(method, path, values)
		if !ok || !in.isResource {
			return
		}
		if in.prefix != "api" && in.prefix != "apis" || in.Version == "" || in.prefix == "api" && in.Group != "" {
			t.Fatalf("%s %s: %+v", method, path, in)
		}
		for _, part := range []string{in.Group, in.Version, in.within, in.Resource, in.Subresource} {
			if !strings.Contains(path, part) {
				t.Fatalf("%s %s: %q is not in it", method, path, part)
			}
		}
	})
}
