package builtin

import "github.com/kubesim/kubesim/sim/resource"

// authenticationKinds are questions to the API server, which it answers from its authenticator.
func authenticationKinds() []kind {
	return []kind{
		{storage: "tokenreviews.authentication.k8s.io", strategy: resource.Strategy{Virtual: true}}, // without a token: 400
		{storage: "selfsubjectreviews.authentication.k8s.io", strategy: resource.Strategy{Virtual: true}},
	}
}
