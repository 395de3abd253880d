package flowcontrol_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// store is a resource.Reader of items by storage name, sorted by name.
type store struct {
	resource.Reader
	items map[string][]*resource.Item
}

func (s store) Items(storage, _ string, yield func(*resource.Item) bool) {
	for _, it := range s.items[storage] {
		if !yield(it) {
			return
		}
	}
}

var plain = func() *resource.Definition {
	d := &resource.Definition{Strategy: &resource.Strategy{}}
	d.Hub = d
	return d
}()

// put stores an object with a uid made of its kind and name.
func (s store) put(storage, text string) {
	o, err := object.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	o.Set(o.Name(), "metadata", "uid")
	s.items[storage] = append(s.items[storage], resource.NewItem(plain, o, 0, object.JSON(map[string]any(o))))
}

// fresh returns the configuration of a newly started server.
func fresh(t *testing.T) store {
	t.Helper()
	made, err := boot.Store(boot.Options{Minor: schema.Default, At: time.Unix(0, 0), Last: 4004})
	if err != nil {
		t.Fatal(err)
	}
	view, err := made.At(0)
	if err != nil {
		t.Fatal(err)
	}
	s := store{items: map[string][]*resource.Item{}}
	for _, storage := range []string{flowcontrol.Schemas, flowcontrol.Levels} {
		view.Range("/registry/"+storage+"/", "", func(kv *mvcc.KV) bool {
			s.put(storage, string(kv.Value()))
			return true
		})
	}
	return s
}

func user(name string, groups ...string) *resource.User {
	return &resource.User{Name: name, Groups: append(groups, "system:authenticated")}
}

// The results are those of a real server.
func TestClassify(t *testing.T) {
	s := fresh(t)
	s.put(flowcontrol.Schemas, `{"metadata":{"name":"dangling"},"spec":{"matchingPrecedence":50,"priorityLevelConfiguration":{"name":"none"},
		"rules":[{"subjects":[{"kind":"User","user":{"name":"*"}}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]}}`)
	s.put(flowcontrol.Schemas, `{"metadata":{"name":"one"},"spec":{"matchingPrecedence":100,"priorityLevelConfiguration":{"name":"workload-low"},
		"rules":[{"subjects":[{"kind":"User","user":{"name":"bob"}},{"kind":"ServiceAccount","serviceAccount":{"namespace":"ns1","name":"*"}},
			{"kind":"ServiceAccount","serviceAccount":{"namespace":"ns2","name":"sa"}}],
		"resourceRules":[{"verbs":["get","list"],"apiGroups":[""],"resources":["pods","pods/status"],"namespaces":["default"]},
			{"verbs":["get"],"apiGroups":["apps"],"resources":["*"],"clusterScope":true}],
		"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/api","/health/*"]}]}]}}`)
	c := flowcontrol.New(s)
	pods := flowcontrol.Digest{User: user("bob"), Verb: "get", IsResource: true, Resource: "pods", Namespace: "default"}
	change := func(f func(*flowcontrol.Digest)) flowcontrol.Digest {
		d := pods
		f(&d)
		return d
	}
	as := func(u *resource.User) flowcontrol.Digest { return change(func(d *flowcontrol.Digest) { d.User = u }) }
	path := func(p string) flowcontrol.Digest { return flowcontrol.Digest{User: user("bob"), Verb: "get", Path: p} }
	for _, x := range []struct {
		name          string
		digest        flowcontrol.Digest
		schema, level string
	}{
		{"a user", pods, "one", "workload-low"},
		{"another", as(user("carl")), "global-default", "global-default"},
		{"an administrator", as(user("carl", "system:masters")), "exempt", "exempt"},
		{"a node", as(user("system:node:n", "system:nodes")), "system-nodes", "system"},
		{"the scheduler", as(user("system:kube-scheduler")), "kube-scheduler", "workload-high"},
		{"a service account", as(user("system:serviceaccount:ns:x", "system:serviceaccounts")), "service-accounts", "workload-low"},
		{"any of a namespace", as(user("system:serviceaccount:ns1:x")), "one", "workload-low"},
		{"of one that begins alike", as(user("system:serviceaccount:ns12:x")), "global-default", "global-default"},
		{"the one that is named", as(user("system:serviceaccount:ns2:sa")), "one", "workload-low"},
		{"not its brother", as(user("system:serviceaccount:ns2:sb")), "global-default", "global-default"},
		{"nobody that is known", as(&resource.User{Name: "x"}), "catch-all", "catch-all"},
		{"a subresource", change(func(d *flowcontrol.Digest) { d.Subresource = "status" }), "one", "workload-low"},
		{"another subresource", change(func(d *flowcontrol.Digest) { d.Subresource = "resize" }), "global-default", "global-default"},
		{"another verb", change(func(d *flowcontrol.Digest) { d.Verb = "create" }), "global-default", "global-default"},
		{"another namespace", change(func(d *flowcontrol.Digest) { d.Namespace = "x" }), "global-default", "global-default"},
		{"all namespaces", change(func(d *flowcontrol.Digest) { d.Namespace = "" }), "global-default", "global-default"},
		{"the cluster", change(func(d *flowcontrol.Digest) { d.Namespace, d.Group, d.Resource = "", "apps", "x" }), "one", "workload-low"},
		{"a path", path("/api"), "one", "workload-low"},
		{"what begins with it", path("/api/v1"), "one", "workload-low"},
		{"a path below", path("/health/x"), "one", "workload-low"},
		{"not the folder itself", path("/health"), "global-default", "global-default"},
		{"a probe", path("/livez"), "probes", "exempt"},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			schema, level := c.Classify(&x.digest)
			is.Equal(schema, []string{x.schema})
			is.Equal(level, []string{x.level})
			is.Equal(testing.AllocsPerRun(10, func() { c.Classify(&x.digest) }), 0.0) // it runs for every request
		})
	}
}

// If no objects are stored, only the mandatory ones apply, which then have no uid.
func TestNothingStored(t *testing.T) {
	is := is.New(t)
	c := flowcontrol.New(store{})
	for _, u := range []*resource.User{user("a", "system:masters"), user("a")} {
		schema, level := c.Classify(&flowcontrol.Digest{User: u, Verb: "get", Path: "/x"})
		is.Equal(schema, []string{""})
		is.Equal(level, []string{""})
	}
}

func TestRevise(t *testing.T) {
	const made = `{"metadata":{"name":"NAME"},"spec":{"a":1}}`
	for _, c := range []struct {
		name, current, want string // want is the result; "" if it stays as it is
	}{
		{"as it was made", `{"metadata":{"name":"x","annotations":{"apf.kubernetes.io/autoupdate-spec":"true"}},"spec":{"a":1}}`, ""},
		{"changed", `{"metadata":{"name":"x","annotations":{"apf.kubernetes.io/autoupdate-spec":"true"}},"spec":{"a":2}}`,
			`{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"true"},"name":"x"},"spec":{"a":1}}`},
		{"kept", `{"metadata":{"name":"x","annotations":{"apf.kubernetes.io/autoupdate-spec":"false"}},"spec":{"a":2}}`, ""},
		{"mandatory", `{"metadata":{"name":"exempt","annotations":{"apf.kubernetes.io/autoupdate-spec":"false"}},"spec":{"a":2}}`,
			`{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"true"},"name":"exempt"},"spec":{"a":1}}`},
		{"nothing said, untouched", `{"metadata":{"name":"x","generation":1},"spec":{"a":2}}`,
			`{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"true"},"generation":1,"name":"x"},"spec":{"a":1}}`},
		{"nothing said, touched", `{"metadata":{"name":"x","generation":2},"spec":{"a":2}}`,
			`{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"false"},"generation":2,"name":"x"},"spec":{"a":2}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			current, err := object.Parse([]byte(c.current))
			is.NoErr(err)
			was, err := object.Parse([]byte(made))
			is.NoErr(err)
			changed := flowcontrol.Revise(current, was)
			is.Equal(changed, c.want != "")
			if changed {
				is.Equal(string(object.JSON(map[string]any(current))), c.want)
			}
		})
	}
}
