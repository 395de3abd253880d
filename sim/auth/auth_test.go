package auth

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

var (
	alice = resource.User{Name: "alice", UID: "alice-uid", Groups: []string{"dev", authenticated}}
	admin = resource.User{Name: "admin", UID: "admin-uid", Groups: []string{masters, authenticated}}
)

func TestAuthenticate(t *testing.T) {
	a := New(Options{Mode: RBAC})
	for _, c := range []struct {
		header string
		user   string
		code   int
	}{
		{"Bearer alicetoken", "alice", 0},
		{"bearer admintoken", "admin", 0},
		{"Bearer nope", "", 401},
		{"Bearer", anonymous, 0},
		{"Bearer  alicetoken", anonymous, 0}, // the token between the two spaces is empty
		{"Basic YWRtaW46YWRtaW4=", anonymous, 0},
		{"admintoken", anonymous, 0},
		{"", anonymous, 0},
	} {
		t.Run(c.header, func(t *testing.T) {
			is := is.New(t)
			u, _, s := a.Authenticate("", wire.Header{"Authorization": {c.header}}, nil)
			if c.code != 0 {
				is.Equal(string(s.JSON()), `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`+
					`"message":"Unauthorized","reason":"Unauthorized","code":401}`) // the real server's text
				return
			}
			is.Equal(s, nil)
			is.Equal(u.Name, c.user)
		})
	}
}

func TestUsers(t *testing.T) {
	is := is.New(t)
	a := New(Options{Mode: RBAC})
	u, _, _ := a.Authenticate("", wire.Header{"Authorization": {"Bearer alicetoken"}}, nil)
	is.Equal(u, alice) // groups of the token and system:authenticated
	u, _, _ = a.Authenticate("", wire.Header{}, nil)
	is.Equal(u, resource.User{Name: anonymous, Groups: []string{unauthenticated}})
	u, _, s := New(Options{}).Authenticate("", wire.Header{"Authorization": {"Bearer nope"}}, nil)
	is.Equal(s, nil)                                                                               // AlwaysAllow does not check credentials
	is.Equal(u, resource.User{Name: "kubernetes-admin", Groups: []string{masters, authenticated}}) // every user is the administrator
	is.Equal(DefaultTokens()[1].User.Groups, []string{"dev"})                                      // New does not change the given tokens
	own, _, s := New(Options{Mode: RBAC, Tokens: []Token{{"t", resource.User{Name: "u"}}}}).Authenticate("", wire.Header{"Authorization": {"Bearer t"}}, nil)
	is.Equal(s, nil)
	is.Equal(own.Name, "u") // the given tokens replace the default ones
}

func get(user resource.User, resourceName, name string) Attributes {
	return Attributes{User: user, Verb: "get", Version: "v1", Resource: resourceName, Namespace: "ns", Name: name, IsResource: true}
}

func TestAuthorize(t *testing.T) {
	s := fresh(t)
	s.put(rolesKey, `{"metadata":{"namespace":"ns","name":"r"},"rules":[
		{"verbs":["get","patch"],"apiGroups":["apps"],"resources":["deployments","*/scale"]},
		{"verbs":["get"],"apiGroups":[""],"resources":["pods/log"]},
		{"verbs":["get"],"apiGroups":["*"],"resources":["secrets"],"resourceNames":["mine"]}]}`)
	s.put(roleBindingsKey, `{"metadata":{"namespace":"ns","name":"b"},"roleRef":{"kind":"Role","name":"r"},
		"subjects":[{"kind":"ServiceAccount","name":"bot"},{"kind":"Group","name":"dev"}]}`)
	s.put(clusterRoleBindingsKey, `{"metadata":{"name":"cb"},"roleRef":{"kind":"ClusterRole","name":"view"},
		"subjects":[{"kind":"User","name":"viewer"}]}`)
	s.put(clusterRoleBindingsKey, `{"metadata":{"name":"broken"},"roleRef":{"kind":"ClusterRole","name":"none"},
		"subjects":[{"kind":"User","name":"broken"}]}`)
	a := New(Options{Mode: RBAC})
	bot := resource.User{Name: "system:serviceaccount:ns:bot"}
	for _, c := range []struct {
		name    string
		at      Attributes
		allowed bool
		reason  string
	}{
		{"masters may do anything", get(admin, "frogs", ""), true, ""},
		{"nobody else may", get(alice, "frogs", ""), false, ""},
		{"a role by group", Attributes{User: alice, Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "ns", Name: "d", IsResource: true},
			true, `RBAC: allowed by RoleBinding "b/ns" of Role "r" to Group "dev"`},
		{"only in its namespace", Attributes{User: alice, Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "other", IsResource: true}, false, ""},
		{"not without a namespace", Attributes{User: alice, Verb: "get", Group: "apps", Resource: "deployments", IsResource: true}, false, ""},
		{"not the subresource", Attributes{User: alice, Verb: "get", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "ns", IsResource: true}, false, ""},
		{"*/scale", Attributes{User: alice, Verb: "get", Group: "apps", Resource: "statefulsets", Subresource: "scale", Namespace: "ns", IsResource: true},
			true, `RBAC: allowed by RoleBinding "b/ns" of Role "r" to Group "dev"`},
		{"a service account of the binding's namespace", Attributes{User: bot, Verb: "get", Resource: "pods", Subresource: "log", Namespace: "ns", IsResource: true},
			true, `RBAC: allowed by RoleBinding "b/ns" of Role "r" to ServiceAccount "bot/ns"`},
		{"but not the pod itself", get(bot, "pods", "p"), false, ""},
		{"a named object", get(alice, "secrets", "mine"), true, `RBAC: allowed by RoleBinding "b/ns" of Role "r" to Group "dev"`},
		{"another object", get(alice, "secrets", "yours"), false, ""},
		{"a list has no name", get(alice, "secrets", ""), false, ""},
		{"a built-in role", get(resource.User{Name: "viewer"}, "pods", "p"), true, `RBAC: allowed by ClusterRoleBinding "cb" of ClusterRole "view" to User "viewer"`},
		{"view sees no secrets", get(resource.User{Name: "viewer"}, "secrets", "p"), false, ""},
		{"a missing role", get(resource.User{Name: "broken"}, "pods", "p"), false, `RBAC: clusterrole.rbac.authorization.k8s.io "none" not found`},
		{"version for everybody", Attributes{User: resource.User{Name: anonymous, Groups: []string{unauthenticated}}, Verb: "get", Path: "/version"},
			true, `RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole "system:public-info-viewer" to Group "system:unauthenticated"`},
		{"discovery for users", Attributes{User: alice, Verb: "get", Path: "/apis/apps/v1"},
			true, `RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"`},
		{"metrics not", Attributes{User: alice, Verb: "get", Path: "/metrics"}, false, ""},
		{"discovery is for reading", Attributes{User: alice, Verb: "post", Path: "/apis"}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d := a.Authorize(c.at, s)
			is.Equal(d.Allowed, c.allowed)
			is.Equal(d.Reason, c.reason)
		})
	}
}

// Only stored objects grant rights: without its binding, discovery is forbidden.
func TestOnlyStoredRolesCount(t *testing.T) {
	is := is.New(t)
	discovery := Attributes{User: alice, Verb: "get", Path: "/apis"}
	s := fresh(t)
	is.True(New(Options{Mode: RBAC}).Authorize(discovery, s).Allowed)
	delete(s, clusterRoleBindingsKey)
	is.True(!New(Options{Mode: RBAC}).Authorize(discovery, s).Allowed)
	is.True(!New(Options{Mode: RBAC}).Authorize(discovery, nil).Allowed)
}

func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		at           Attributes
		reason, want string
	}{
		{get(alice, "configmaps", "a"), "", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"a\" is forbidden: ` +
			`User \"alice\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"ns\"","reason":"Forbidden","details":{"name":"a","kind":"configmaps"},"code":403}`},
		{Attributes{User: alice, Verb: "list", Group: "x.example.com", Resource: "frogs", IsResource: true}, "", `{"kind":"Status","apiVersion":"v1","metadata":{},` +
			`"status":"Failure","message":"frogs.x.example.com is forbidden: User \"alice\" cannot list resource \"frogs\" in API group \"x.example.com\" at the cluster scope",` +
			`"reason":"Forbidden","details":{"group":"x.example.com","kind":"frogs"},"code":403}`},
		{Attributes{User: alice, Verb: "get", Group: "apps", Resource: "deployments", Subresource: "scale", Namespace: "ns", Name: "d", IsResource: true}, "RBAC: x",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"deployments.apps \"d\" is forbidden: User \"alice\" cannot get resource ` +
				`\"deployments/scale\" in API group \"apps\" in the namespace \"ns\": RBAC: x","reason":"Forbidden","details":{"name":"d","group":"apps","kind":"deployments"},"code":403}`},
		{Attributes{User: resource.User{Name: "<b>"}, Verb: "get", Path: "/metrics"}, "", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
			`"message":"forbidden: User \"\u0026lt;b\u0026gt;\" cannot get path \"/metrics\"","reason":"Forbidden","details":{},"code":403}`},
	} {
		is := is.New(t)
		is.Equal(string(Forbidden(c.at, c.reason).JSON()), c.want) // the real server's text
	}
}
