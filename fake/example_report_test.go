package fake_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake"
)

func ExampleServer_Report() {
	srv := fake.RunT(loudT{}, fake.Options{Trace: 100})
	srv.Never("more than two replicas", func(view fake.View) error {
		if n := view.Get("deployments", "default", "web").Int64("spec", "replicas"); n > 2 {
			return fmt.Errorf("there are %d", n)
		}
		return nil
	})
	send := func(client, method, path, body string) *http.Response {
		r, _ := http.NewRequest(method, srv.URL()+"/apis/apps/v1/namespaces/default/deployments"+path, strings.NewReader(body))
		r.Header.Set("User-Agent", client)
		r.Header.Set("Content-Type", map[string]string{"PATCH": "application/merge-patch+json", "POST": "application/json"}[method])
		response, err := srv.Transport().RoundTrip(r)
		if err != nil {
			panic(err)
		}
		return response
	}
	watch := send("dashboard/v1", "GET", "?watch=1&allowWatchBookmarks=true", "")
	defer watch.Body.Close()
	send("operator/v1", "POST", "", `{"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"app":"web"}},`+
		`"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"nginx"}]}}}}`)
	srv.Clock.Advance(20 * time.Minute)
	send("operator/v1", "PATCH", "/web", `{"spec":{"replicas":3}}`)
	fmt.Print(srv.Report(0, false))
	// Output:
	// kubesim: never more than two replicas: there are 3
	// 2026-01-01
	//       1 00:00:00     dashboard/v1 watch deployments.apps default → 200
	//       …              1 bookmark
	// »     5 00:00:00     operator/v1 create deployments.apps default/web → 201
	//                          deployments.apps default/web, revision 4005: it is new
	//                          notified: dashboard/v1
	//       …              20 bookmarks in 19m0s
	// ✗    51 00:20:00     operator/v1 patch deployments.apps default/web → 200
	//                          deployments.apps default/web, revision 4006
	//                              spec.replicas: 1 → 3
	//                          notified: dashboard/v1
}
