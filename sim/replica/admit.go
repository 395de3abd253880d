package replica

import (
	"context"
	"fmt"
	"maps"

	"github.com/kubesim/kubesim/sim/admission"
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

// Through sets the function that calls admission webhooks. If call is nil, they are not called.
func (w *Webhooks) Through(call webhook.Call) { w.call = call }

// AskTogether sets the function that calls several validating webhooks in parallel. If it is nil, they are called one after the
// other.
func (w *Webhooks) AskTogether(call func(calls []func())) { w.together = call }

// Running sets the function that runs functions that answer webhooks: it returns when the function does or the context ends. If it
// is nil, a function that exceeds its time is still waited for.
func (w *Webhooks) Running(run func(ctx context.Context, f func()) error) { w.run = run }

// MayWait sets whether admission plugins may wait, because the Cluster's time passes by itself.
func (w *Webhooks) MayWait(may bool) { w.waits = may }

// Waits implements admission.Host.
func (w *Webhooks) Waits() bool { return w.waits }

// Handler implements admission.Host.
func (w *Webhooks) Handler(name string) admission.Handler { return w.functions[name] }

// adopt copies the registered functions of another Webhooks.
func (w *Webhooks) adopt(other *Webhooks) {
	w.functions, w.call, w.together, w.run, w.waits = maps.Clone(other.functions), other.call, other.together, other.run, other.waits
}

// Run implements admission.Host.
func (w *Webhooks) Run(ctx context.Context, f func()) error {
	if w.run != nil {
		return w.run(ctx, f)
	}
	f()
	return context.Cause(ctx)
}

// Call implements admission.Host.
func (w *Webhooks) Call(ctx context.Context, q *webhook.Request) (*webhook.Answer, error) {
	if w.call == nil {
		return nil, fmt.Errorf("Post %q: %w", q.URL, admission.ErrNoCall)
	}
	return w.call(ctx, q)
}

// Together implements admission.Host.
func (w *Webhooks) Together(calls []func()) {
	if w.together != nil {
		w.together(calls)
		return
	}
	for _, call := range calls {
		call()
	}
}
