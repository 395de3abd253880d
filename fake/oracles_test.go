package fake_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/fault"
)

func ownedMap(name, generate, uid string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"generateName":%q,"labels":{"n":%q},"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"o","uid":%q,"controller":true}]}}`,
		name, generate, name, uid)
}

func TestOnePerOwner(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t)
	srv.Never("two of an owner", fake.OnePerOwner("configmaps"))
	good, other, d := watched(t)
	other.Never("two of an owner and a label", fake.OnePerOwner("configmaps", "n"))
	for _, body := range []string{ownedMap("a", "", "1"), ownedMap("b", "", "2"), `{"metadata":{"name":"c"}}`, `{"metadata":{"name":"d"}}`} {
		c.do("POST", mapsPath, body)
	}
	is.Equal(bad.failed, false)
	for _, x := range []client{c, d} {
		x.do("POST", mapsPath, ownedMap("e", "", "1"))
		x.do("POST", mapsPath, ownedMap("f", "", "1"))
	}
	is.True(strings.Contains(bad.log.String(), "never two of an owner: Secret o has two configmaps in namespace default: a and e\n    after"))
	is.Equal(good.log.String(), "")
}

// TestOnePerOwnerAndAnnotation checks that objects of an owner may be distinguished by an annotation.
func TestOnePerOwnerAndAnnotation(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t)
	srv.Never("two of an owner and a time", fake.OnePerOwner("configmaps", "time"))
	post := func(name, at string) {
		c.do("POST", mapsPath, strings.Replace(ownedMap(name, "", "1"), `"labels"`, `"annotations":{"time":"`+at+`"},"labels"`, 1))
	}
	post("a", "10:00")
	post("b", "10:10")
	is.Equal(bad.failed, false)
	post("c", "10:10")
	is.True(strings.Contains(bad.log.String(), "Secret o has two configmaps in namespace default: b and c"))
}

func TestLeftBehind(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t)
	check := srv.LeftBehind("operator", "secrets")
	left := func() string {
		err := srv.Eventually("gone", 0, check)
		if err == nil {
			return ""
		}
		return err.Error()[strings.LastIndex(err.Error(), "0s: ")+4:]
	}
	uid := c.parse(second(c.do("POST", secretsPath, `{"metadata":{"name":"o"}}`))).UID()
	post := func(body string) { c.as("operator/v1", "POST", mapsPath, "application/json", body) }
	post(ownedMap("a", "", uid))
	post(`{"metadata":{"name":"b"}}`)
	c.do("POST", mapsPath, `{"metadata":{"name":"somebody-elses"}}`)
	is.Equal(left(), "Secret o is still there")
	c.do("DELETE", secretsPath+"/o", "")
	is.Equal(left(), "left behind by operator: configmaps default/b") // the garbage collector deletes a
	c.do("DELETE", mapsPath+"/b", "")
	is.Equal(left(), "")
}

func second(_ int, text string) string { return text }

func TestNoHotLoop(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t)
	srv.NoHotLoop("operator", 10)
	get := func() { c.as("operator/v1", "GET", mapsPath+"/a", "", "") }
	for range 10 {
		get()
		c.as("other", "GET", mapsPath+"/a", "", "")
	}
	srv.Clock.Advance(time.Minute)
	for range 10 {
		get()
	}
	is.Equal(bad.failed, false)
	get()
	is.True(strings.Contains(bad.log.String(), "a hot loop: operator/v1 sent 11 requests since 2026-01-01T00:01:00Z; 11 of them get configmaps default/a"))
}

const mergePatch = "application/merge-patch+json"

// lost runs a story of two clients and returns the report of a lost update, if there is one.
func lost(t *testing.T, story func(a, b func(method, contentType, body string) int)) string {
	t.Helper()
	bad, srv, c := watched(t)
	c.do("POST", mapsPath, `{"metadata":{"name":"m"},"data":{"color":"red","size":"1"}}`)
	srv.NoLostUpdates()
	as := func(name string) func(method, contentType, body string) int {
		return func(method, contentType, body string) int {
			code, _ := c.as(name, method, mapsPath+"/m", contentType, body)
			return code
		}
	}
	story(as("a"), as("b"))
	text, _, _ := strings.Cut(bad.log.String(), "\n    after")
	return text
}

func TestNoLostUpdates(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	is.Equal(lost(t, func(a, b func(method, contentType, body string) int) {
		a("GET", "", "")
		is.Equal(b("PATCH", mergePatch, `{"data":{"color":"blue"}}`), 200)
		is.Equal(a("PATCH", mergePatch, `{"data":{"color":"green"}}`), 200)
	}), "kubesim: a lost update: a has read revision 4005 of configmaps default/m and overwrites a later write by b, without a resourceVersion:\n"+
		`    lost: data.color: "red" → "blue"`)
	is.True(lost(t, func(a, b func(method, contentType, body string) int) {
		a("GET", "", "")
		b("PATCH", mergePatch, `{"data":{"color":"blue"}}`)
		a("PUT", "application/json", `{"metadata":{"name":"m"},"data":{"color":"red","size":"2"}}`)
	}) != "")
	for name, story := range map[string]func(a, b func(method, contentType, body string) int){
		"another field": func(a, b func(method, contentType, body string) int) {
			a("GET", "", "")
			b("PATCH", mergePatch, `{"data":{"color":"blue"}}`)
			a("PATCH", mergePatch, `{"data":{"size":"2"}}`)
		},
		"it has looked again": func(a, b func(method, contentType, body string) int) {
			a("GET", "", "")
			b("PATCH", mergePatch, `{"data":{"color":"blue"}}`)
			a("GET", "", "")
			a("PATCH", mergePatch, `{"data":{"color":"red"}}`)
		},
		"with a resourceVersion it is refused": func(a, b func(method, contentType, body string) int) {
			a("GET", "", "")
			b("PATCH", mergePatch, `{"data":{"color":"blue"}}`)
			is.Equal(a("PATCH", mergePatch, `{"metadata":{"resourceVersion":"4005"},"data":{"color":"red"}}`), http.StatusConflict)
		},
		"its own": func(a, _ func(method, contentType, body string) int) {
			a("GET", "", "")
			a("PATCH", mergePatch, `{"data":{"color":"blue"}}`)
			a("PATCH", mergePatch, `{"data":{"color":"red"}}`)
		},
		"the same value": func(a, b func(method, contentType, body string) int) {
			a("GET", "", "")
			b("PATCH", mergePatch, `{"data":{"color":"blue"}}`)
			a("PATCH", mergePatch, `{"data":{"color":"blue","size":"2"}}`)
		},
		"it never read": func(a, b func(method, contentType, body string) int) {
			b("PATCH", mergePatch, `{"data":{"color":"blue"}}`)
			a("PATCH", mergePatch, `{"data":{"color":"red"}}`)
		},
		"apply": func(a, b func(method, contentType, body string) int) {
			a("GET", "", "")
			b("PATCH", mergePatch, `{"data":{"color":"blue"}}`)
			a("PATCH", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"color":"red"}}`)
		},
	} {
		if text := lost(t, story); text != "" {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestNoLostUpdatesBehindAWatch checks that NoLostUpdates takes a stale cache into account: a client does not know
// about a change that its watch has not delivered.
func TestNoLostUpdatesBehindAWatch(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for _, released := range []bool{false, true} {
		bad, srv, c := watched(t)
		c.do("POST", mapsPath, `{"metadata":{"name":"m"},"data":{"color":"red"}}`)
		srv.NoLostUpdates("operator")
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL()+mapsPath+"?watch=1", nil)
		is.NoErr(err)
		req.Header.Set("User-Agent", "operator")
		res, err := srv.Transport().RoundTrip(req)
		is.NoErr(err)
		defer res.Body.Close()
		c.mergePatch(mapsPath+"/m", `{"data":{"color":"blue"}}`)
		c.as("operator", "PATCH", mapsPath+"/m", mergePatch, `{"data":{"color":"black"}}`) // the event has been sent
		is.Equal(bad.log.String(), "")
		srv.Hold("operator")
		c.mergePatch(mapsPath+"/m", `{"data":{"color":"white"}}`)
		if released {
			srv.Release("operator")
		}
		c.as("operator", "PATCH", mapsPath+"/m", mergePatch, `{"data":{"color":"red"}}`)
		is.Equal(strings.Contains(bad.log.String(), `lost: data.color: "black" → "white"`), !released)
	}
}

func TestWithinRBAC(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t)
	c.do("POST", rolesPath, `{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}`)
	c.do("POST", bindingsPath, `{"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"},"subjects":[{"kind":"User","name":"jane","apiGroup":"rbac.authorization.k8s.io"}]}`)
	srv.WithinRBAC("jane")
	jane := srv.As("jane")
	ask := func(method, body string) int {
		code, _ := sendThrough(t, jane.Transport(), jane.URL(), "x", method, mapsPath, "application/json", body)
		return code
	}
	sendThrough(t, jane.Transport(), jane.URL(), "x", "GET", mapsPath+"/a", "", "")
	sendThrough(t, jane.Transport(), jane.URL(), "x", "GET", "/version", "", "")
	c.do("GET", mapsPath, "") // a request of another client
	is.Equal(bad.log.String(), "")
	is.Equal(ask("POST", `{"metadata":{"name":"a"}}`), 201) // the server allows every request
	is.Equal(bad.log.String(), `kubesim: RBAC would refuse: jane may not create configmaps in namespace default; the missing rule: `+
		`{APIGroups:[""], Resources:["configmaps"], Verbs:["create"]}`+"\n")
}

const (
	rolesPath    = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	bindingsPath = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
)

// TestPermissions checks that the report lists the missing and the superfluous rules of a role, unless the role is
// sufficient and minimal.
func TestPermissions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Auth: auth.RBAC})
	admin := srv.As("root", "system:masters")
	post := func(path, body string) {
		code, text := sendThrough(t, admin.Transport(), admin.URL(), "x", "POST", path, "application/json", body)
		if code != http.StatusCreated {
			t.Fatal(code, text)
		}
	}
	post("/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	post(rolesPath, `{"metadata":{"name":"r"},"rules":[
		{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","watch","delete"]},
		{"apiGroups":["apps"],"resources":["*"],"verbs":["get"]}]}`)
	post(bindingsPath, `{"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"},
		"subjects":[{"kind":"ServiceAccount","name":"op","namespace":"shop"}]}`)
	post("/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings", `{"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},
		"subjects":[{"kind":"ServiceAccount","name":"nobody","namespace":"shop"}]}`)
	const who = "system:serviceaccount:shop:op"
	op := srv.As(who)
	do := func(method, path, contentType, body string) int {
		code, _ := sendThrough(t, op.Transport(), op.URL(), "op", method, path, contentType, body)
		return code
	}
	is.Equal(do("GET", "/apis", "", ""), 200) // every user may send this
	is.Equal(do("GET", mapsPath, "", ""), 200)
	is.Equal(do("POST", mapsPath, "application/json", `{"metadata":{"name":"a"}}`), 403)
	is.Equal(do("GET", "/apis/apps/v1/namespaces/default/deployments/web", "", ""), 404)
	is.Equal(do("PATCH", "/apis/apps/v1/namespaces/default/deployments/web/status", mergePatch, `{}`), 403)

	p := srv.Permissions(who)
	is.Equal(fmt.Sprint(p.Used), `[{APIGroups:[""], Resources:["configmaps"], Verbs:["create" "list" "watch"]} `+
		`{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]} {APIGroups:["apps"], Resources:["deployments/status"], Verbs:["patch"]}]`)
	is.Equal(fmt.Sprint(p.Missing), `[{APIGroups:[""], Resources:["configmaps"], Verbs:["create"]} `+
		`{APIGroups:["apps"], Resources:["deployments/status"], Verbs:["patch"]}]`)
	is.Equal(fmt.Sprint(p.Unused), `[{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]} {APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]} `+
		`{APIGroups:["apps"], Resources:["*"], Verbs:["get"]}]`)
	is.Equal(p.ClusterRole(), `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: op
# Without get, because these are read from a cache, which lists and watches: configmaps.
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [create, list, watch]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get]
- apiGroups: [apps]
  resources: [deployments/status]
  verbs: [patch]
`)

	// The role that ClusterRole returns is sufficient and minimal.
	admined := func(method, path, contentType, body string) {
		if code, text := sendThrough(t, admin.Transport(), admin.URL(), "x", method, path, contentType, body); code >= 300 {
			t.Fatal(code, text)
		}
	}
	admined("PATCH", rolesPath+"/op?fieldManager=x", "application/apply-patch+yaml", p.ClusterRole())
	admined("DELETE", bindingsPath+"/r", "", "")
	post(bindingsPath, `{"metadata":{"name":"op"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"op"},
		"subjects":[{"kind":"ServiceAccount","name":"op","namespace":"shop"}]}`)
	p = srv.Permissions(who)
	is.Equal(len(p.Missing), 0)
	is.Equal(len(p.Unused), 0)
	is.Equal(len(srv.Permissions("nobody").Used), 0)
}

func TestActions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t)
	do := func(method, path, contentType, body string) {
		c.as("operator/v1 (linux)", method, path, contentType, body)
	}
	do("GET", "/apis", "", "")
	do("GET", mapsPath, "", "")
	do("POST", mapsPath, "application/json", `{"metadata":{"generateName":"a-"}}`)
	c.do("POST", mapsPath, `{"metadata":{"name":"b"}}`)
	do("PATCH", podsPath+"/x/status", mergePatch, `{}`)
	do("GET", "/api/v1/nodes", "", "")
	srv.Faults.Add(fault.On("delete", "configmaps").Conflict())
	do("DELETE", mapsPath+"/b", "", "")
	all := srv.Actions("operator")
	name := all.Of("create")[0].Name
	is.True(strings.HasPrefix(name, "a-") && len(name) == 7)
	is.Equal(all.String(), strings.ReplaceAll(`list configmaps default 200
create configmaps default/NAME 201
patch pods/status default/x 404: pods "x" not found
list nodes 200
delete configmaps default/b 409: Operation cannot be fulfilled on configmaps "b": the object has been modified; please apply your changes to the latest version and try again
`, "NAME", name))
	is.Equal(len(all.Writes()), 3)
	is.Equal(all[0].Namespace+"/"+all[0].Name, "default/")
	is.Equal(len(srv.Actions("")), 6)
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	run := func(same *fake.Outcome, o fake.Options, faults []fault.Fault, names ...string) string {
		bad, srv, c := watched(t, o)
		srv.Faults.Add(faults...)
		for _, name := range names {
			c.do("POST", mapsPath, ownedMap("", name, "0000"))
			c.mergePatch("/api/v1/namespaces/default", fmt.Sprintf(`{"metadata":{"annotations":{"last":%q}}}`, name))
		}
		same.Compare(bad, srv)
		return bad.log.String()
	}
	same := &fake.Outcome{}
	none := []fault.Fault{fault.On("list", "*").Conflict()}
	is.True(strings.Contains(run(same, fake.Options{}, none, "a-", "b-"), "the first run must be without faults"))
	is.Equal(run(same, fake.Options{}, nil, "a-", "b-"), "")
	is.Equal(run(same, fake.Options{Seed: 7}, none, "a-", "b-"), "") // other names and other uids
	text := run(same, fake.Options{}, none, "a-", "a-", "b-")
	is.True(strings.Contains(text, "the outcome differs from the one without faults (-):\n+ configmaps {"))
	is.True(strings.Contains(text, `"name":"a-*"`))
	is.Equal(strings.Count(text, "\n"), 3)
	is.True(strings.Contains(run(same, fake.Options{}, none, "b-", "a-"), "± namespaces default\n      metadata.annotations.last: \"b-\" → \"a-\"\n"))
}

// TestConfig checks that Config sets the fields of rest.Config.
func TestConfig(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t)
	type config struct {
		Host      string
		UserAgent string
		Transport http.RoundTripper
		QPS       float32
	}
	cfg := fake.Config[config](srv.As("jane"), "me")
	is.Equal(cfg.Host, srv.URL())
	is.Equal(cfg.UserAgent, "me")
	is.Equal(cfg.QPS, float32(-1))
	code, text := sendThrough(t, cfg.Transport, cfg.Host, "me", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "application/json", `{}`)
	is.Equal(code, 201)
	is.True(strings.Contains(text, `"username":"jane"`))
	defer func() { is.True(strings.Contains(fmt.Sprint(recover()), "want rest.Config of k8s.io/client-go")) }()
	fake.Config[struct{ Host int }](srv, "")
}
