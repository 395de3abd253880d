package fake_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/object"
)

const flows = "/apis/flowcontrol.apiserver.k8s.io/v1/"

// TestFlowHeaders checks that every response to an authenticated user contains the flow schema and the priority level,
// and that streams to pods do not.
func TestFlowHeaders(t *testing.T) {
	t.Parallel()
	c := client{t, fake.RunT(t, fake.Options{Auth: auth.RBAC})}
	ask := func(token, path string) string {
		r, err := http.NewRequestWithContext(context.Background(), "GET", c.srv.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := c.srv.Transport().RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return fmt.Sprintf("%d %d%d", res.StatusCode, len(res.Header["X-Kubernetes-Pf-Flowschema-Uid"]), len(res.Header["X-Kubernetes-Pf-Prioritylevel-Uid"]))
	}
	for _, x := range []struct{ token, path, want string }{
		{"admintoken", "/api/v1/namespaces", "200 11"},
		{"admintoken", "/api/v1/namespaces?watch=1&timeoutSeconds=1", "200 11"},
		{"admintoken", "/healthz", "200 11"},
		{"admintoken", "/apis/none/v1/x", "404 11"},
		{"admintoken", "/api/v1/namespaces/default/pods/x/log", "404 00"},
		{"admintoken", "/api/v1/namespaces?timeout=x", "400 00"},
		{"alicetoken", "/api/v1/namespaces", "403 11"},
		{"nobodystoken", "/api/v1/namespaces", "401 00"},
	} {
		is := is.New(t)
		is.Equal(x.path+" "+ask(x.token, x.path), x.path+" "+x.want)
	}
}

// TestFlowObjects checks that a request is classified by the stored objects. The status of a flow schema reports a
// missing priority level, and servers restore their own objects within a minute.
func TestFlowObjects(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	get := func(path string) object.Object {
		_, body := c.do("GET", flows+path, "")
		return c.parse(body)
	}
	class := func() string {
		_, header, _ := c.exchange("GET", "/version", "")
		return header.Get("X-Kubernetes-Pf-Flowschema-Uid")
	}
	is.Equal(class(), get("flowschemas/exempt").UID())
	code, body := c.do("POST", flows+"flowschemas", `{"metadata":{"name":"mine"},"spec":{"matchingPrecedence":1,"priorityLevelConfiguration":{"name":"mine"},
		"rules":[{"subjects":[{"kind":"Group","group":{"name":"system:masters"}}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]}}`)
	is.Equal(code, http.StatusUnprocessableEntity) // only one flow schema may have precedence 1
	is.True(body != "")
	c.mergePatch(flows+"flowschemas/probes", `{"spec":{"priorityLevelConfiguration":{"name":"mine"}}}`)
	is.Equal(string(object.JSON(get("flowschemas/probes").List("status", "conditions")[0].(map[string]any)["status"])), `"True"`)
	code, _ = c.do("DELETE", flows+"flowschemas/exempt", "")
	is.Equal(code, http.StatusOK)
	is.Equal(class(), "") // it takes effect nevertheless
	c.srv.Clock.Advance(time.Minute)
	is.Equal(get("flowschemas/probes").String("spec", "priorityLevelConfiguration", "name"), "exempt")
	is.Equal(string(object.JSON(get("flowschemas/probes").List("status", "conditions")[0].(map[string]any)["status"])), `"False"`)
	is.Equal(class(), get("flowschemas/exempt").UID())
	is.True(class() != "")
	rev := c.srv.Revision()
	c.srv.Clock.Advance(time.Hour)
	is.Equal(c.srv.Revision(), rev) // nothing needs to be restored
}

// TestFlowFight checks that a server does not restore the status of a flow schema endlessly if a client keeps changing
// it: it restores it six times in a row, and then not again for at least 20 s.
func TestFlowFight(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch())})
	c := client{t, srv}
	dangles := func() string {
		return c.must("GET", flows+"flowschemas/exempt", "").Objects("status", "conditions")[0].String("status")
	}
	is.Equal(dangles(), "False")
	contradict := func() {
		c.mergePatch(flows+"flowschemas/exempt/status", `{"status":{"conditions":[{"type":"Dangling","status":"True","reason":"NotFound","message":"x"}]}}`)
		srv.Clock.Advance(time.Second)
	}
	for range 6 {
		contradict()
		is.Equal(dangles(), "False")
	}
	contradict()
	is.Equal(dangles(), "True")
	srv.Clock.Advance(20 * time.Second)
	is.Equal(dangles(), "True")
	srv.Clock.Advance(130 * time.Second) // one restoration may come early
	is.Equal(dangles(), "False")
}
