package replica

import (
	"context"
	"fmt"
	"maps"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/webhook"
)

// Webhooks are what answers admission webhooks.
type Webhooks struct {
	functions map[string]admission.Handler // by name of the webhook
	call      webhook.Call
	together  func(calls []func())                      // calls functions at the same time; if nil, they are called one by one
	run       func(ctx context.Context, f func()) error // calls a function, and waits for it as long as the context lasts
	waits     bool                                      // the Cluster's time passes by itself
}

// Register sets what answers the admission webhook with the name; nil takes it back.
func (w *Webhooks) Register(webhook string, f admission.Handler) {
	if w.functions == nil {
		w.functions = map[string]admission.Handler{}
	}
	delete(w.functions, webhook)
	if f != nil {
		w.functions[webhook] = f
	}
}

// Through sets what calls admission webhooks; nil: nobody does.
func (w *Webhooks) Through(call webhook.Call) { w.call = call }

// Together sets what asks several validating webhooks at the same time; nil: one is asked after the other.
func (w *Webhooks) Together(call func(calls []func())) { w.together = call }

// Running sets what calls functions that answer webhooks: it returns when the function does or the context ends. If it is nil, a
// function that takes too long is waited for nevertheless.
func (w *Webhooks) Running(run func(ctx context.Context, f func()) error) { w.run = run }

// Wait sets whether admission plugins may wait, because the Cluster's time passes by itself.
func (w *Webhooks) Wait(may bool) { w.waits = may }

// adopt takes over what was registered with another.
func (w *Webhooks) adopt(other *Webhooks) {
	w.functions, w.call, w.together, w.run, w.waits = maps.Clone(other.functions), other.call, other.together, other.run, other.waits
}

// callFunction is an admission.Host's Run.
func (w *Webhooks) callFunction(ctx context.Context, f func()) error {
	if w.run != nil {
		return w.run(ctx, f)
	}
	f()
	return context.Cause(ctx)
}

// callOut is an admission.Host's Call.
func (w *Webhooks) callOut(ctx context.Context, q *webhook.Request) (*webhook.Answer, error) {
	if w.call == nil {
		return nil, fmt.Errorf("Post %q: %w", q.URL, admission.ErrNoCall)
	}
	return w.call(ctx, q)
}

// callAll is an admission.Host's Together.
func (w *Webhooks) callAll(calls []func()) {
	if w.together != nil {
		w.together(calls)
		return
	}
	for _, call := range calls {
		call()
	}
}

// admit gives a replica's registry its admission plugins.
func (r *Server) admit(reg *registry.Registry, table *resource.Table, who *auth.Auth, decoder *codec.Decoder) {
	set := r.set
	h := &admission.Host{Config: set.Config.Admission, Table: table, Kinds: decoder.Kinds, Merge: reg.Fields.Merge, After: set.Schedule.After,
		Handlers: func(name string) admission.Handler { return set.Webhooks.functions[name] }, Call: set.Webhooks.callOut}
	h.May = func(user resource.User, a cel.Access, objects resource.Reader) (bool, string) {
		return who.May(auth.Attributes{User: user, Verb: a.Verb, IsResource: a.Path == "", Path: a.Path, Group: a.Group,
			Version: "*", Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name}, objects)
	}
	h.Decode = decoder.Mutated
	h.DecodeStrictly = func(d *resource.Definition, data []byte) (object.Object, error) {
		return decoder.MutatedStrictly(data, d.GVK, d.Layout())
	}
	h.Write = r.writeStatus
	h.Unlocked = set.Lock.Unlocked
	h.Together = set.Webhooks.callAll
	h.Run = set.Webhooks.callFunction
	h.Wait = set.Lock.Wait
	h.Waits = func() bool { return set.Webhooks.waits }
	reg.Admission = admission.New(h, may(who), set.Config.Plugins, set.Config.WithoutPlugins)
}

// may asks who's rules for admission plugins.
func may(who *auth.Auth) admission.Authorize {
	return func(by resource.Author, user resource.User, verb, group, name, called string, objects resource.Reader) bool {
		allowed, _ := who.Authorize(auth.Attributes{By: by, User: user, Verb: verb, IsResource: true, Group: group, Version: "*",
			Resource: name, Name: called}, objects)
		return allowed
	}
}
