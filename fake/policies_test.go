package fake_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
)

// TestDefaultPoliciesArePutBack checks that API servers that start with existing data restore default roles and
// bindings, and keep additions to them.
func TestDefaultPoliciesArePutBack(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	const roles, bindings = "/apis/rbac.authorization.k8s.io/v1/clusterroles/", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/"
	const role = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/extension-apiserver-authentication-reader"
	start := func() (*fake.Server, client) {
		srv, err := fake.New(fake.Options{Data: dir})
		is.NoErr(err)
		return srv, client{t, srv}
	}
	srv, c := start()
	before := c.must("GET", roles+"system:node-proxier", "")
	untouched := c.must("GET", roles+"view", "")
	c.must("DELETE", roles+"system:discovery", "")
	c.must("DELETE", bindings+"system:basic-user", "")
	c.must("DELETE", role, "")
	c.mergePatch(roles+"system:node-proxier", `{"metadata":{"labels":{"kubernetes.io/bootstrapping":null,"mine":"1"}},"rules":[{"apiGroups":["x"],"resources":["y"],"verbs":["get"]}]}`)
	c.mergePatch(bindings+"system:node-proxier", `{"subjects":[{"kind":"User","name":"me","apiGroup":"rbac.authorization.k8s.io"}]}`)
	c.mergePatch(roles+"system:monitoring", `{"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},"rules":[]}`)
	c.must("DELETE", bindings+"system:discovery", "")
	c.must("POST", strings.TrimSuffix(bindings, "/"), `{"metadata":{"name":"system:discovery"},"roleRef":{"kind":"ClusterRole","name":"view","apiGroup":"rbac.authorization.k8s.io"}}`)
	srv.Close()

	srv, c = start()
	defer srv.Close()
	for _, path := range []string{roles + "system:discovery", bindings + "system:basic-user", role} {
		obj := c.must("GET", path, "")
		is.Equal(obj.List("metadata", "managedFields")[0].(map[string]any)["manager"], "kube-apiserver")
	}
	proxier := c.must("GET", roles+"system:node-proxier", "")
	is.Equal(proxier.Labels(), map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults", "mine": "1"})
	verbs := 0
	for _, r := range before.Objects("rules") {
		verbs += len(r.List("verbs")) * len(r.List("resources")) * len(r.List("apiGroups"))
	}
	is.True(len(proxier.List("rules")) > 1 && len(proxier.List("rules")) <= 1+verbs) // missing rules are added one by one, after the existing ones
	is.Equal(proxier.Objects("rules")[0].Strings("resources"), []string{"y"})
	is.Equal(len(c.must("GET", bindings+"system:node-proxier", "").List("subjects")), 2)
	is.Equal(len(c.must("GET", roles+"system:monitoring", "").List("rules")), 0) // this role has opted out
	is.Equal(c.must("GET", bindings+"system:discovery", "").String("roleRef", "name"), "system:discovery")
	is.Equal(c.must("GET", roles+"view", "").ResourceVersion(), untouched.ResourceVersion())
	code, _ := c.do("GET", roles+"cluster-admin", "")
	is.Equal(code, http.StatusOK)
}

// TestDefaultPoliciesAreSplit checks roles and bindings that were one in older releases and are two now. If the second
// one is missing, it is copied from the first with its changes before the defaults are restored.
func TestDefaultPoliciesAreSplit(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	const roles, bindings = "/apis/rbac.authorization.k8s.io/v1/clusterroles/", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/"
	srv, err := fake.New(fake.Options{Data: dir})
	is.NoErr(err)
	c := client{t, srv}
	c.mergePatch(bindings+"system:discovery", `{"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false","a":"b"},"labels":{"l":"m"}},"subjects":[{"kind":"User","name":"me","apiGroup":"rbac.authorization.k8s.io"}]}`)
	c.must("DELETE", bindings+"system:public-info-viewer", "")
	c.mergePatch(roles+"edit", `{"aggregationRule":null,"metadata":{"labels":{"mine":"1"}},"rules":[{"apiGroups":["x"],"resources":["y"],"verbs":["get"]}]}`)
	edit := c.must("GET", roles+"edit", "")
	for _, name := range []string{"edit", "view"} {
		c.must("DELETE", roles+"system:aggregate-to-"+name, "")
	}
	srv.Close()

	srv, err = fake.New(fake.Options{Data: dir})
	is.NoErr(err)
	defer srv.Close()
	c = client{t, srv}
	viewer := c.must("GET", bindings+"system:public-info-viewer", "")
	is.Equal(viewer.Map("metadata", "annotations"), map[string]any{"rbac.authorization.kubernetes.io/autoupdate": "false", "a": "b"})
	is.Equal(viewer.Labels(), map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults", "l": "m"})
	is.Equal(len(viewer.List("subjects")), 1)
	is.Equal(viewer.String("roleRef", "name"), "system:public-info-viewer")
	rules := c.must("GET", roles+"system:aggregate-to-edit", "")
	is.Equal(rules.Objects("rules")[0].Strings("resources"), []string{"y"}) // before the rules of the default
	is.True(len(rules.List("rules")) > 1 && rules.Labels()["mine"] == "1" && rules.UID() != edit.UID())
	is.Equal(rules.Labels()["rbac.authorization.k8s.io/aggregate-to-edit"], "true")
	view := c.must("GET", roles+"system:aggregate-to-view", "")
	is.True(len(view.List("rules")) > 1 && view.Labels()["mine"] == "") // view was already aggregated
}

// TestDefaultPoliciesArePutBackByARestart checks that a replica that is restarted by the test or by a fault restores
// the default roles, as a real one does at each start.
func TestDefaultPoliciesArePutBackByARestart(t *testing.T) {
	const role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery"
	for name, restart := range map[string]func(*fake.Server){
		"replica": func(srv *fake.Server) { srv.Replica(2).Restart() },
		"fault": func(srv *fake.Server) {
			srv.Faults.Add(fault.On("get", "configmaps").Restart(1))
			client{t, srv}.do("GET", "/api/v1/namespaces/default/configmaps/x", "")
		},
		"restore": func(srv *fake.Server) {
			c := client{t, srv}
			at := c.must("POST", "/api/v1/namespaces", `{"metadata":{"name":"later"}}`).ResourceVersion()
			rev, err := strconv.ParseUint(at, 10, 64)
			is.New(t).NoErr(err)
			is.New(t).NoErr(srv.Restore(rev))
		},
	} {
		t.Run(name, func(t *testing.T) {
			is, srv := is.New(t), fake.RunT(t, fake.Options{Replicas: make([]fake.ReplicaOptions, 2)})
			c := client{t, srv}
			c.must("DELETE", role, "")
			restart(srv)
			is.Equal(c.must("GET", role, "").List("metadata", "managedFields")[0].(map[string]any)["manager"], "kube-apiserver")
		})
	}
}
