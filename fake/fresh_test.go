package fake_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// TestFresh checks that a new server has the objects that API servers create at their start, unless Bare is set.
func TestFresh(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	full, bare := client{t, fake.RunT(t)}, client{t, fake.RunT(t, fake.Options{Bare: true})}
	for _, x := range []struct {
		path        string
		count, left int
	}{
		{"/api/v1/namespaces", 4, 4},
		{"/api/v1/services", 1, 0},
		{"/api/v1/configmaps", 1, 0},
		{"/apis/discovery.k8s.io/v1/endpointslices", 1, 0},
		{"/apis/networking.k8s.io/v1/servicecidrs", 1, 0},
		{"/apis/networking.k8s.io/v1/ipaddresses", 1, 0},
		{"/apis/scheduling.k8s.io/v1/priorityclasses", 2, 0},
		{"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", 11, 0},
		{"/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", 8, 0},
		{"/apis/apiregistration.k8s.io/v1/apiservices", 21, 0},
		{"/apis/coordination.k8s.io/v1/leases", 1, 0},
		{"/apis/rbac.authorization.k8s.io/v1/clusterroles", 69, 0},
		{"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", 50, 0},
		{"/apis/rbac.authorization.k8s.io/v1/roles", 7, 0},
		{"/apis/rbac.authorization.k8s.io/v1/rolebindings", 7, 0},
	} {
		for c, want := range map[client]int{full: x.count, bare: x.left} { // order does not matter
			_, body := c.do("GET", x.path, "")
			is.Equal(fmt.Sprint(x.path, len(c.parse(body).List("items"))), fmt.Sprint(x.path, want))
		}
	}
	is.Equal(full.create("a").ResourceVersion(), bare.create("a").ResourceVersion()) // the first revision that a user creates
	is.NoErr(full.srv.Reset())
	_, body := full.do("GET", "/api/v1/namespaces/default/services/kubernetes", "")
	is.Equal(full.parse(body).String("spec", "clusterIP"), "10.0.0.1") // the server has created it again
}

// TestFreshHistory checks that the initial objects are as old as the server, and that its history begins with them: a
// watch of their revisions sees their creation. Servers do not share later changes of these objects.
func TestFreshHistory(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	a, b := client{t, fake.RunT(t)}, client{t, fake.RunT(t, fake.Options{Seed: 2})}
	const service = "/api/v1/namespaces/default/services/kubernetes"
	_, body := a.do("GET", service, "")
	_, other := b.do("GET", service, "")
	is.Equal(body, other) // the uid is also the same with any seed
	is.Equal(a.parse(body).String("metadata", "creationTimestamp"), a.srv.Clock.Now().Format(time.RFC3339))
	code, _ := a.do("DELETE", service, "")
	is.Equal(code, http.StatusOK)
	code, _ = b.do("GET", service, "")
	is.Equal(code, http.StatusOK)
	_, body = a.do("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical", "")
	w := a.open("/apis/scheduling.k8s.io/v1/priorityclasses?watch=1&resourceVersion=" + a.parse(body).ResourceVersion())
	a.srv.Close()
	events := w.rest()
	is.Equal(len(events), 1)
	is.Equal(events[0].meta().Name(), "system-node-critical") // which was created later
}

// TestAggregation checks that the rules of aggregated roles depend only on stored roles, including roles that are
// themselves aggregated.
func TestAggregation(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	rules := func(name string) string {
		_, body := c.do("GET", roles+"/"+name, "")
		return string(object.JSON(c.parse(body)["rules"]))
	}
	for name, has := range map[string]bool{"admin": true, "edit": true, "view": false} { // order does not matter
		is.Equal(strings.Contains(rules(name), `"pods/exec"`), has) // rules of edit, which admin includes
		is.True(strings.Contains(rules(name), `"pods/log"`))        // rules of view, which all three include
	}
	code, _ := c.do("POST", roles, `{"metadata":{"name":"frogs","labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}},
		"rules":[{"verbs":["get"],"apiGroups":["example.com"],"resources":["frogs"]}]}`)
	is.Equal(code, http.StatusCreated)
	for _, name := range []string{"admin", "edit", "view"} {
		is.True(strings.Contains(rules(name), `"frogs"`)) // at once, through all aggregated roles
	}
	_, body := c.do("GET", roles+"/view", "")
	is.Equal(object.Object(c.parse(body).List("metadata", "managedFields")[0].(map[string]any)).String("manager"),
		"clusterrole-aggregation-controller")
	code, _ = c.do("DELETE", roles+"/frogs", "")
	is.Equal(code, http.StatusOK)
	for _, name := range []string{"admin", "edit", "view"} {
		is.True(!strings.Contains(rules(name), `"frogs"`))
	}
	code, _ = c.do("POST", roles, `{"metadata":{"name":"own"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`)
	is.Equal(code, http.StatusCreated)
	is.Equal(rules("own"), "null")
	code, _ = c.do("POST", roles, `{"metadata":{"name":"part","labels":{"a":"b"}},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`)
	is.Equal(code, http.StatusCreated)
	is.Equal(rules("own"), `[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]`)
}

// TestPort checks that a client that verifies tokens finds the keys at the address on which the server listens.
func TestPort(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Port: 8443})}
	_, body := c.do("GET", "/.well-known/openid-configuration", "")
	is.Equal(c.parse(body).String("jwks_uri"), "https://127.0.0.1:8443/openid/v1/jwks")
	_, body = c.do("GET", "/api", "")
	is.True(strings.Contains(body, `"serverAddress":"127.0.0.1:8443"`))
	_, body = client{t, fake.RunT(t)}.do("GET", "/.well-known/openid-configuration", "")
	is.True(strings.Contains(body, "https://127.0.0.1:6443/"))
}
