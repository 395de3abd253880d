package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Names of the types of authorizers that this package implements.
const (
	alwaysAllow = "AlwaysAllow"
	alwaysDeny  = "AlwaysDeny"
	node        = "Node"
	rbac        = "RBAC"
)

// Decision is the result of one authorizer, or of all of them (k8s.io/apiserver/pkg/authorization/authorizer). If it is neither Allowed
// nor Denied, the authorizer has no opinion, and the next one decides. A request about which none has an opinion is rejected.
type Decision struct {
	Allowed, Denied bool
	Reason          string
	// Err is the error of an authorizer that could not decide. A request that is not allowed then fails with code 500.
	Err error
}

// Link is an authorizer in the chain of an API server.
type Link struct {
	Type string // AlwaysAllow, AlwaysDeny, Node, RBAC, or the type of Authorizer
	Name string // its name in metrics and, for servers since 1.37, in reasons

	Authorizer Authorizer // nil for the types that this package implements
}

// Authorizer is an authorizer outside this package: a policy file or a webhook.
type Authorizer interface {
	// Authorize decides about a request. It is called with the Cluster's lock held. An authorizer that waits calls host.Unlocked.
	Authorize(at Attributes, host Waiter) Decision
	// RulesFor returns the rules that apply to a user in a namespace. incomplete reports whether the user may have further rights.
	RulesFor(u User, namespace string) (rules []Rule, incomplete bool, err error)
	// ForServer returns the authorizer of another API server. It has no cached decisions.
	ForServer() Authorizer
}

// Waiter provides the clock and the lock of the Cluster. Its methods are called with the lock held, unless stated otherwise.
type Waiter interface {
	Now() time.Time
	// After calls f after d of the Cluster's time. The function stop cancels the call.
	After(d time.Duration, f func()) (stop func())
	// Unlocked calls f without the lock. Other requests may write meanwhile, so the caller has to check again what it read before.
	Unlocked(f func())
	// Wait returns when d of the Cluster's time has passed or the context is done. It is called without the lock.
	Wait(ctx context.Context, d time.Duration)
}

// checkAuthorizers returns an error if the names of the authorizers are invalid.
func (o *Options) checkAuthorizers() error {
	if o.Authorizers != nil && len(o.Authorizers) == 0 {
		return errors.New("at least one authorization-mode must be passed")
	}
	for i, name := range o.Authorizers {
		switch name {
		case alwaysAllow, alwaysDeny, node, rbac:
		case "ABAC":
			if o.Chain == nil {
				return errors.New("authorization-mode ABAC's authorization policy file not passed")
			}
		case "Webhook":
			if o.Chain == nil {
				return errors.New("authorization-mode Webhook's authorization config file not passed")
			}
			continue // the file of --authorization-config may have several
		default:
			return fmt.Errorf("authorization-mode %q is not a valid mode", name)
		}
		if slices.Contains(o.Authorizers[:i], name) {
			return fmt.Errorf("authorization-mode %q has mode specified more than once", o.Authorizers)
		}
	}
	return nil
}

// chain returns the authorizers of the options.
func (o *Options) chain() []Link {
	names := o.Authorizers
	switch {
	case o.Chain != nil:
		return o.Chain
	case names == nil:
		names = []string{map[Mode]string{AlwaysAllow: alwaysAllow, RBAC: rbac}[o.Mode]}
	}
	links := make([]Link, len(names))
	for i, name := range names {
		links[i] = Link{Type: name, Name: strings.ToLower(name)}
	}
	return links
}

// SetAuthorizers replaces the authorizers. They must be valid (see Options.Check).
func (a *Auth) SetAuthorizers(chain []Link) {
	a.chain = slices.Clone(chain)
	for i, l := range a.chain {
		if l.Authorizer != nil {
			a.chain[i].Authorizer = l.Authorizer.ForServer()
		}
	}
}

// Authorize returns the decision about a request. Members of system:masters may do everything. For all other users the first
// authorizer with an opinion decides (k8s.io/apiserver/pkg/authorization/union). The reason is that of this authorizer, or those of
// all that have no opinion. If objects is nil, there are no roles.
//
// Authorize may release the Cluster's lock while it waits for a webhook. The caller has to check again what it read before.
func (a *Auth) Authorize(at Attributes, objects resource.Reader) Decision {
	d := a.May(at, objects)
	if host := a.options.Host; host != nil {
		host.Asked(at, d.Allowed)
	}
	return d
}

// May is like Authorize, but for a hypothetical request: it does not call Host.Asked.
func (a *Auth) May(at Attributes, objects resource.Reader) Decision {
	if slices.Contains(at.User.Groups, masters) {
		return Decision{Allowed: true}
	}
	var reasons, errs []string
	for _, l := range a.chain { // a reload replaces the slice
		d := a.ask(&l, at, objects)
		if d.Allowed || d.Denied {
			a.decisions[decided{l.Type, l.Name, d.Allowed}]++
			return d
		}
		if d.Reason != "" && a.options.Named {
			d.Reason = l.Name + ": " + d.Reason
		}
		if d.Reason != "" {
			reasons = append(reasons, d.Reason)
		}
		if d.Err != nil {
			errs = append(errs, d.Err.Error())
		}
	}
	d := Decision{Reason: strings.Join(reasons, "\n")}
	if len(errs) > 0 {
		d.Err = errors.New(field.Aggregate(errs))
	}
	return d
}

// ask returns the decision of one authorizer.
func (a *Auth) ask(l *Link, at Attributes, objects resource.Reader) (d Decision) {
	switch {
	case l.Authorizer != nil:
		return l.Authorizer.Authorize(at, a.options.Host)
	case l.Type == alwaysAllow:
		d.Allowed = true
	case l.Type == alwaysDeny:
		d.Reason = "Everything is forbidden."
	case l.Type == node:
		d.Allowed, d.Reason = a.byNode(at, objects)
	case l.Type == rbac:
		d.Allowed, d.Reason = a.byRoles(at, objects)
	}
	return d
}

// Rules returns the rules that apply to the user in the namespace. incomplete reports whether the user may have further rights.
// problem describes the authorizers that have no rules and the bindings that could not be resolved; it is "" if there are none.
func (a *Auth) Rules(user resource.User, namespace string, objects resource.Reader) (rules []Rule, incomplete bool, problem string) {
	var errs []string
	for _, l := range a.chain {
		switch {
		case l.Authorizer != nil:
			more, partly, err := l.Authorizer.RulesFor(user, namespace)
			rules, incomplete = append(rules, more...), incomplete || partly
			if err != nil {
				errs = append(errs, err.Error())
			}
		case l.Type == alwaysAllow:
			all := []string{"*"}
			rules = append(rules, Rule{Verbs: all, APIGroups: all, Resources: all}, Rule{Verbs: all, NonResourceURLs: all})
		case l.Type == node && isNode(user):
			incomplete = true
			errs = append(errs, "node authorizer does not support user rule resolution")
		case l.Type == rbac:
			more, wrong := a.rulesOf(user, namespace, objects)
			rules = append(rules, more...)
			for _, none := range wrong {
				errs = append(errs, none.decided())
			}
		}
	}
	if len(errs) > 0 {
		problem = field.Aggregate(errs)
	}
	return rules, incomplete, problem
}

// decided are the labels of a final decision in the metrics.
type decided struct {
	kind, name string
	allowed    bool
}

// Metrics returns the number of final decisions of each authorizer in the text format of Prometheus
// (k8s.io/apiserver/pkg/authorization/metrics). Decisions about members of system:masters are not counted.
func (a *Auth) Metrics() string {
	if len(a.decisions) == 0 {
		return ""
	}
	samples := map[string]int{}
	for d, n := range a.decisions {
		word := "denied"
		if d.allowed {
			word = "allowed"
		}
		samples[fmt.Sprintf("decision=%q,name=%q,type=%q", word, d.name, d.kind)] = n
	}
	const name = "apiserver_authorization_decisions_total"
	text := "# HELP " + name + " [ALPHA] Total number of terminal decisions made by an authorizer split by authorizer type, name, and " +
		"decision.\n# TYPE " + name + " counter\n"
	for _, labels := range object.SortedKeys(samples) {
		text += fmt.Sprintf("%s{%s} %d\n", name, labels, samples[labels])
	}
	return text
}
