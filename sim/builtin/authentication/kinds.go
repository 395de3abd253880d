// Package authentication defines TokenReview and SelfSubjectReview, and issues the tokens of service accounts.
package authentication

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/resource"
)

// Kinds returns the kinds of authentication.k8s.io. The API server computes the results of these reviews with its authenticator.
func Kinds() []kind.Kind {
	return []kind.Kind{
		{Storage: "tokenreviews.authentication.k8s.io", Strategy: resource.Strategy{Virtual: true}}, // a request without a token gets a 400
		{Storage: "selfsubjectreviews.authentication.k8s.io", Strategy: resource.Strategy{Virtual: true}},
	}
}
