// Package authentication has the token reviews, and issues the tokens of service accounts.
package authentication

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/resource"
)

// Kinds are questions to the API server, which it answers from its authenticator.
func Kinds() []kind.Kind {
	return []kind.Kind{
		{Storage: "tokenreviews.authentication.k8s.io", Strategy: resource.Strategy{Virtual: true}}, // without a token: 400
		{Storage: "selfsubjectreviews.authentication.k8s.io", Strategy: resource.Strategy{Virtual: true}},
	}
}
