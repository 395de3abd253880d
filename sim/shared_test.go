package sim

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

// holder keeps strong references to the parsed forms of all written objects, which would otherwise be garbage collected.
type holder map[*resource.Item]*resource.Parsed

func (h holder) Committed(c *commit.Commit) {
	if it := c.Item(); it != nil && !c.Deleted() {
		it.Shared()
		h[it] = it.Parsed()
	}
}

// All readers of an object share one parsed form. No client or controller may modify it, whatever requests are sent.
func TestNobodyChangesWhatIsShared(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, err := New(Options{Controllers: controller.All, Nodes: 2})
	is.NoErr(err)
	shared := holder{}
	c.log.Listeners = slices.Insert(c.log.Listeners, 0, commit.Listener(shared))
	send := func(method, path, body string) (answer string) {
		q := &apiserver.Request{Method: method, Path: path, Header: wire.Header{"Content-Type": {"application/json"}}, Body: []byte(body),
			Query: url.Values{}}
		c.Server(1).Start(q, func(a *apiserver.Answer) {
			is.True(a.Code < 300)
			answer = string(a.Body.Bytes())
		})
		return answer
	}
	const template = `"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	bodies := map[string]string{
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"widgets",
			"kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`,
		"/apis/apps/v1/namespaces/default/deployments":  `{"metadata":{"name":"a"},"spec":{"replicas":2,` + template + `}}`,
		"/apis/apps/v1/namespaces/default/daemonsets":   `{"metadata":{"name":"a"},"spec":{` + template + `}}`,
		"/apis/apps/v1/namespaces/default/statefulsets": `{"metadata":{"name":"a"},"spec":{"serviceName":"a","replicas":2,` + template + `}}`,
		"/api/v1/namespaces/default/services":           `{"metadata":{"name":"a"},"spec":{"selector":{"app":"a"},"ports":[{"port":80}]}}`,
		"/apis/batch/v1/namespaces/default/jobs":        `{"metadata":{"name":"a"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`,
	}
	for path, body := range bodies { // order does not matter: nothing depends on the others
		send("POST", path, body)
	}
	c.Clock().(*clock.Manual).Advance(time.Second)
	for path := range bodies { // order does not matter
		if !strings.HasPrefix(path, "/apis/apiextensions") {
			send("PUT", path+"/a", strings.Replace(send("GET", path+"/a", ""), `"metadata":{`, `"metadata":{"labels":{"put":"again"},`, 1))
			send("PUT", path+"/a/status", send("GET", path+"/a", ""))
		}
	}
	c.Clock().(*clock.Manual).Advance(time.Minute)
	send("POST", "/api/v1/nodes", `{"metadata":{"name":"later"}}`)
	send("DELETE", "/apis/apps/v1/namespaces/default/deployments/a", "")
	c.Clock().(*clock.Manual).Advance(time.Minute)
	pods := 0
	for it, p := range shared { // order does not matter
		if it.Layout() == nil {
			continue
		}
		is.True(object.Equal(map[string]any(p.Object), map[string]any(codec.Read(it, nil).Object))) // as it is stored
		if p.Object.Kind() == "Pod" && p.Object.String("status", "phase") == "Running" {
			pods++
		}
	}
	is.True(pods > 6) // which ran
}
