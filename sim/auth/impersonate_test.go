package auth

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

func TestImpersonate(t *testing.T) {
	s := store{}
	s.put(clusterRolesKey, `{"metadata":{"name":"imp"},"rules":[
		{"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["bob"]},
		{"verbs":["impersonate"],"apiGroups":["authentication.k8s.io"],"resources":["userextras/scopes"],"resourceNames":["view"]},
		{"verbs":["impersonate:serviceaccount"],"apiGroups":["authentication.k8s.io"],"resources":["serviceaccounts"]},
		{"verbs":["impersonate-on:serviceaccount:get"],"apiGroups":[""],"resources":["pods"]}]}`)
	s.put(clusterRoleBindingsKey, `{"metadata":{"name":"imp"},"roleRef":{"kind":"ClusterRole","name":"imp"},"subjects":[{"kind":"User","name":"alice"}]}`)
	for _, c := range []struct {
		name   string
		by     resource.User
		header wire.Header
		want   resource.User
		text   string
	}{
		{"nobody", alice, nil, alice, ""},
		{"the administrator as anybody", admin, wire.Header{"Impersonate-User": {"x"}, "Impersonate-Group": {"g"}, "Impersonate-Uid": {"1"}},
			resource.User{Name: "x", UID: "1", Groups: []string{"g", authenticated}}, ""},
		{"the administrator as administrator", admin, wire.Header{"Impersonate-User": {"x"}, "Impersonate-Group": {masters}},
			resource.User{Name: "x", Groups: []string{masters, authenticated}}, ""},
		{"as anonymous", admin, wire.Header{"Impersonate-User": {anonymous}}, resource.User{Name: anonymous, Groups: []string{unauthenticated}}, ""},
		{"as a service account", alice, wire.Header{"Impersonate-User": {"system:serviceaccount:ns:bot"}}, resource.User{Name: "system:serviceaccount:ns:bot",
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns", authenticated}}, ""},
		{"as bob with an extra", alice, wire.Header{"Impersonate-User": {"bob"}, "Impersonate-Extra-Scopes": {"view"}},
			resource.User{Name: "bob", Groups: []string{authenticated}, Extra: map[string][]string{"scopes": {"view"}}}, ""},
		{"as carl", alice, wire.Header{"Impersonate-User": {"carl"}}, resource.User{},
			`pods "p" is forbidden: User "alice" cannot impersonate-on:user-info:get resource "pods" in API group "" in the namespace "ns"`},
		{"as a service account with groups", alice, wire.Header{"Impersonate-User": {"system:serviceaccount:ns:bot"}, "Impersonate-Group": {"g"}}, resource.User{},
			`serviceaccounts "bot" is forbidden: User "alice" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"`},
		{"without a name", alice, wire.Header{"Impersonate-Group": {"g"}}, resource.User{},
			`requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)} without impersonating a user name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			u, _, st := New(Options{Mode: RBAC}).Impersonate(get(c.by, "pods", "p"), c.header, s)
			if c.text != "" {
				is.True(st != nil)
				is.Equal(st.Message, c.text) // why not
				return
			}
			is.Equal(st, nil)
			is.Equal(u, c.want)
		})
	}
}

// An error names the impersonation mode that the user was last granted.
func TestImpersonationIsRemembered(t *testing.T) {
	is := is.New(t)
	s := store{}
	s.put(clusterRolesKey, `{"metadata":{"name":"imp"},"rules":[{"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["bob"]}]}`)
	s.put(clusterRoleBindingsKey, `{"metadata":{"name":"imp"},"roleRef":{"kind":"ClusterRole","name":"imp"},"subjects":[{"kind":"User","name":"alice"}]}`)
	a := New(Options{Mode: RBAC})
	refused := func() string {
		_, _, st := a.Impersonate(get(alice, "pods", "p"), wire.Header{"Impersonate-User": {"carl"}}, s)
		return st.Message
	}
	is.Equal(refused(), `pods "p" is forbidden: User "alice" cannot impersonate-on:user-info:get resource "pods" in API group "" in the namespace "ns"`)
	_, verb, st := a.Impersonate(get(alice, "pods", "p"), wire.Header{"Impersonate-User": {"bob"}}, s)
	is.Equal(verb, LegacyVerb)
	is.Equal(st, nil)
	is.Equal(refused(), `users "carl" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope`)
}

func TestEscalation(t *testing.T) {
	s := fresh(t)
	s.put(clusterRolesKey, `{"metadata":{"name":"editor"},"rules":[
		{"verbs":["*"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["*"],"resourceNames":["free"]},
		{"verbs":["get","list"],"apiGroups":["apps"],"resources":["deployments","*/scale"]}]}`)
	s.put(clusterRoleBindingsKey, `{"metadata":{"name":"editor"},"roleRef":{"kind":"ClusterRole","name":"editor"},"subjects":[{"kind":"User","name":"alice"}]}`)
	a := New(Options{Mode: RBAC})
	role := func(rules string) string {
		return `{"metadata":{"name":"r","namespace":"ns"},"rules":` + rules + `}`
	}
	for _, c := range []struct {
		name, resource, object string
		user                   resource.User
		want                   string
	}{
		{"rights that are held", "roles", role(`[{"apiGroups":["apps"],"resources":["deployments","statefulsets/scale"],"verbs":["get"]}]`), alice, ""},
		{"rights that are not", "roles", role(`[{"apiGroups":["apps"],"resources":["deployments","pods"],"verbs":["get","patch","delete"]}]`), alice,
			"roles.rbac.authorization.k8s.io \"r\" is forbidden: user \"alice\" (groups=[\"dev\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n" +
				"{APIGroups:[\"apps\"], Resources:[\"deployments\"], Verbs:[\"patch\" \"delete\"]}\n" +
				"{APIGroups:[\"apps\"], Resources:[\"pods\"], Verbs:[\"get\" \"patch\" \"delete\"]}"},
		{"the administrator", "roles", role(`[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]`), admin, ""},
		{"aggregation", "clusterroles", `{"metadata":{"name":"r"},"aggregationRule":{"clusterRoleSelectors":[{}]}}`, alice,
			`clusterroles.rbac.authorization.k8s.io "r" is forbidden: must have cluster-admin privileges to use the aggregationRule`},
		{"a binding to a free role", "rolebindings", `{"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"free"}}`, alice, ""},
		{"a binding to a stronger role", "rolebindings", `{"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"}}`, alice,
			"rolebindings.rbac.authorization.k8s.io \"b\" is forbidden: user \"alice\" (groups=[\"dev\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n" +
				"{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}"},
		{"a binding to no role", "rolebindings", `{"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"none"}}`, alice,
			`rolebindings.rbac.authorization.k8s.io "none" not found`},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			o, err := object.Parse([]byte(c.object))
			is.NoErr(err)
			at := Attributes{User: c.user, Verb: "create", Group: rbacGroup, Version: "v1", Resource: c.resource, Namespace: "ns", IsResource: true}
			st := a.Escalation(at, o, nil, s)
			if c.want == "" {
				is.Equal(st, nil)
				return
			}
			is.True(st != nil)
			is.Equal(st.Message, c.want)
			released := o.Copy()
			released.SetFinalizers([]string{"x.io/f"})
			is.Equal(a.Escalation(at, released, o, s), nil) // the garbage collector may do its work
		})
	}
}
