package auth

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// The responses are those of a real server (Kubernetes API reference, SubjectAccessReview and TokenReview).
func TestReview(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a := New(Options{Mode: RBAC})
	for _, c := range []struct {
		name, kind string
		user       resource.User
		body       string
		want       string // the status, or the message of the error
		code       int
	}{
		{"self-access-admin", "SelfSubjectAccessReview", admin, `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods","namespace":"ns"}}}`, `{"allowed":true}`, 0},
		{"self-access-alice", "SelfSubjectAccessReview", alice, `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods","namespace":"ns"}}}`, `{"allowed":false}`, 0},
		{"non-resource", "SelfSubjectAccessReview", alice, `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/version"}}}`,
			`{"allowed":true,"reason":"RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \"system:discovery\" to Group \"system:authenticated\""}`, 0},
		{"subject-access", "SubjectAccessReview", admin, `{"spec":{"user":"bob","groups":["g"],"resourceAttributes":{"verb":"list","group":"apps","resource":"deployments"}}}`, `{"allowed":false}`, 0},
		{"local-access", "LocalSubjectAccessReview", admin, `{"metadata":{"namespace":"ns"},"spec":{"user":"bob","resourceAttributes":{"verb":"list","resource":"pods","namespace":"ns"}}}`, `{"allowed":false}`, 0},
		{"token-good", "TokenReview", admin, `{"spec":{"token":"alicetoken"}}`, `{"audiences":["https://kubernetes.default.svc"],"authenticated":true,` +
			`"user":{"groups":["dev","system:authenticated"],"uid":"alice-uid","username":"alice"}}`, 0},
		{"token-bad", "TokenReview", admin, `{"spec":{"token":"nope"}}`, `{"error":"invalid bearer token","user":{}}`, 0},
		{"token-for-others", "TokenReview", admin, `{"spec":{"token":"alicetoken","audiences":["x"]}}`, `{"error":"invalid bearer token","user":{}}`, 0},
		{"token-empty", "TokenReview", admin, `{"spec":{}}`, `token is required for TokenReview in authentication`, 400},
		{"who-am-i", "SelfSubjectReview", alice, `{}`, `{"userInfo":{"groups":["dev","system:authenticated"],"uid":"alice-uid","username":"alice"}}`, 0},
		{"rules", "SelfSubjectRulesReview", resource.User{Name: anonymous, Groups: []string{unauthenticated}}, `{"spec":{"namespace":"ns"}}`,
			`{"incomplete":false,"nonResourceRules":[{"nonResourceURLs":["/healthz","/livez","/readyz","/version","/version/"],"verbs":["get"]}],"resourceRules":[]}`, 0},
		{"rules-nowhere", "SelfSubjectRulesReview", alice, `{}`, `no namespace on request`, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			o, err := object.Parse([]byte(c.body))
			is.NoErr(err)
			s := a.Review(c.kind, &resource.Context{Now: now, User: c.user, Objects: fresh(t)}, o)
			if c.code != 0 {
				is.True(s != nil)
				is.Equal(s.Code, c.code)
				is.Equal(s.Message, c.want)
				return
			}
			is.Equal(s, nil)
			is.Equal(string(object.JSON(o["status"])), c.want)
		})
	}
}

func TestRulesUnderAlwaysAllow(t *testing.T) {
	is := is.New(t)
	rules, _, problem := New(Options{}).Rules(alice, "ns", nil)
	is.Equal(problem, "")
	is.Equal(len(rules), 2) // all resources and all paths
}
