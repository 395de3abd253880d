package auth_test

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/wire"
)

func ExampleNew() {
	a := auth.New(auth.Options{Mode: auth.RBAC})
	user, _, _ := a.Authenticate("", wire.Header{"Authorization": {"Bearer alicetoken"}}, nil)
	at := auth.Attributes{User: user, Verb: "list", Version: "v1", Resource: "pods", Namespace: "default", IsResource: true}
	d := a.Authorize(at, nil)
	fmt.Println(d.Allowed)
	fmt.Println(auth.Forbidden(at, d.Reason).Message)
	// Output:
	// false
	// pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"
}

// Needed returns the smallest rule that allows a request.
func ExampleNeeded() {
	rule := auth.Needed(auth.Attributes{Verb: "patch", Group: "apps", Version: "v1", Resource: "deployments", Subresource: "scale", Name: "web", Namespace: "default", IsResource: true})
	fmt.Println(rule.Verbs, rule.APIGroups, rule.Resources)
	// Output: [patch] [apps] [deployments/scale]
}
