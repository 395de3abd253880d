package sim

import (
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/status"
)

// who is what the options say about those who ask.
func (o *Options) who() []any {
	return []any{o.Auth, o.Tokens, o.Authorizers, o.NoAnonymous, o.RequestHeader, o.ServiceAccounts}
}

// authentication is how the API servers find out who asks.
func (o *Options) authentication(tokens *token.Authority) auth.Options {
	return auth.Options{Mode: o.Auth, Tokens: o.Tokens, Authorizers: o.Authorizers, NoAnonymous: o.NoAnonymous,
		RequestHeader: o.RequestHeader, Audiences: tokens.Audiences()}
}

// used labels the Secret of a token with the day of its use, as the API server does before it carries out the request
// (pkg/serviceaccount.legacyValidator). That the label could not be written is nobody's concern.
func (c *Cluster) used(use token.Use) {
	if use == (token.Use{}) {
		return
	}
	own := c.own()
	_, _ = own.Update(c.loopback(c.hub("secrets"), use.Namespace, use.Name), registry.Change{Kind: registry.Patch,
		Make: func(live object.Object) (object.Object, *status.Status) {
			live.Set(use.Day, "metadata", "labels", token.LastUsedLabel)
			return live, nil
		}})
}
