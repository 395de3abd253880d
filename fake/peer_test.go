package fake_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestPeerProxy checks that a server with PeerProxy forwards requests for resources that only another server serves.
// Without PeerProxy, and for resources that no server serves, the response is 404 (KEP-4020).
func TestPeerProxy(t *testing.T) {
	old := map[string]bool{"batch/v1/cronjobs": false}
	for _, proxy := range []bool{false, true} {
		pair(t, []fake.ReplicaOptions{{}, {Serve: old, PeerProxy: proxy}}, func(t *testing.T, srv *fake.Server, a, b guest) {
			is := is.New(t)
			path := "/apis/batch/v1/namespaces/default/cronjobs"
			body := `{"metadata":{"name":"c"},"spec":{"schedule":"@daily","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`
			code, _ := a.do("POST", path, body)
			is.Equal(code, http.StatusCreated)
			want := http.StatusNotFound
			if proxy {
				want = http.StatusOK
			}
			for _, p := range []string{path, path + "/c", path + "?watch=1&resourceVersion=0&timeoutSeconds=1"} {
				res := b.send("GET", p, "")
				res.Body.Close()
				is.Equal(fmt.Sprint(p, res.StatusCode), fmt.Sprint(p, want))
			}
			res := b.send("GET", "/apis/batch/v1/namespaces/default/nothings", "")
			res.Body.Close()
			is.Equal(res.StatusCode, http.StatusNotFound)
			code, _ = b.do("GET", "/apis/batch/v1/namespaces/default/jobs", "")
			is.Equal(code, http.StatusOK)
			published := func(profile string) bool {
				q, err := http.NewRequest("GET", b.url()+"/apis", nil)
				is.NoErr(err)
				q.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"+profile)
				q.Header.Set("User-Agent", b.agent)
				res, err := b.srv.Transport().RoundTrip(q)
				is.NoErr(err)
				return strings.Contains(read(t, res.Body), `"cronjobs"`)
			}
			is.Equal(published(""), proxy)                // the resources of all servers
			is.Equal(published(";profile=nopeer"), false) // the resources of this server
		})
	}
}

// TestLeftovers checks small cases that no other test covers: a closed server does not listen, and a path with an empty
// group is not found.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t)
	c := client{t, srv}
	code, body := c.do("GET", "/apis//v1/pods", "")
	is.Equal(fmt.Sprint(code, body), "404404 page not found\n")
	c.do("POST", "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	code, _ = c.do("GET", "/apis/apps/v1/namespaces/default/deployments/d/scale?resourceVersion=x", "")
	is.Equal(code, http.StatusInternalServerError) // as for any object
	code, _ = c.do("GET", "/apis/apps/v1/namespaces/default/deployments/d/scale?resourceVersion=0", "")
	is.Equal(code, http.StatusOK)
	srv.Close()
	_, err := srv.Listen(fake.ListenOptions{})
	is.True(err != nil)
}
