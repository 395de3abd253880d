package sim

import (
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/http"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// webhooks are what answers admission webhooks.
type webhooks struct {
	functions map[string]admission.Handler // by name of the webhook
	transport http.RoundTripper
	together  func(calls []func()) // calls them at the same time; nil: one after the other
}

// Admit registers what answers the admission webhook with the name (webhooks[].name of a configuration) in place of its
// server; nil takes it back. f gets an AdmissionReview as JSON and returns it, or another one, with a response; what the
// response does not repeat of the request is filled in. f is called without the Cluster's lock: it may ask the Cluster.
func (c *Cluster) Admit(webhook string, f func(review map[string]any) map[string]any) {
	c.door.Lock()
	defer c.door.Unlock()
	if c.webhooks.functions == nil {
		c.webhooks.functions = map[string]admission.Handler{}
	}
	delete(c.webhooks.functions, webhook)
	if f != nil {
		c.webhooks.functions[webhook] = f
	}
}

// AdmitThrough sets what carries requests to admission webhooks. It is called without the Cluster's lock.
func (c *Cluster) AdmitThrough(transport http.RoundTripper) {
	c.door.Lock()
	defer c.door.Unlock()
	c.webhooks.transport = transport
}

// AdmitTogether sets what asks several validating webhooks at the same time: it calls all functions and returns when they
// have returned. nil: one after the other, which is what a Cluster that has to be replayed needs. Functions set with Admit
// are called one after the other in any case.
func (c *Cluster) AdmitTogether(call func(calls []func())) {
	c.door.Lock()
	defer c.door.Unlock()
	c.webhooks.together = call
}

// RoundTrip carries a request to an admission webhook.
func (w *webhooks) RoundTrip(q *http.Request) (*http.Response, error) {
	if w.transport == nil {
		return nil, admission.ErrNoTransport
	}
	return w.transport.RoundTrip(q)
}

// callAll is an admission.Host's Together.
func (w *webhooks) callAll(calls []func()) {
	if w.together != nil {
		w.together(calls)
		return
	}
	for _, call := range calls {
		call()
	}
}

// admit gives a replica's registry its admission plugins.
func (r *Replica) admit(reg *registry.Registry, table *resource.Table, who *auth.Auth, decoder *codec.Decoder) {
	c := r.cluster
	h := &admission.Host{Table: table, Patch: patch.Operations, Merge: reg.Fields.Merge, After: c.schedule.After,
		Handlers: func(name string) admission.Handler { return c.webhooks.functions[name] }, Transport: &c.webhooks}
	h.May = func(user resource.User, a cel.Access, objects resource.Reader) (bool, string) {
		return who.Authorize(auth.Attributes{User: user, Verb: a.Verb, IsResource: a.Path == "", Path: a.Path, Group: a.Group,
			Version: "*", Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name}, objects)
	}
	h.Decode = func(d *resource.Definition, data []byte) (object.Object, error) {
		obj, _, err := decoder.Decode(data, d.GVK, d.Layout())
		return obj, err
	}
	h.Write = r.writeStatus
	h.Outside = c.door.Outside
	h.Together = c.webhooks.callAll
	h.Wait = c.door.Wait
	reg.Admission = admission.New(h, may(who), c.options.Plugins, c.options.WithoutPlugins)
}

// writeStatus is an admission.Host's Write: a request of the server to itself.
func (r *Replica) writeStatus(storage, namespace, name string, change func(object.Object) *status.Status) (object.Object, *status.Status) {
	q := r.cluster.loopback(backend{r}.Definition(storage), namespace, name)
	q.Subresource = "status"
	result, s := r.inner.Update(q, registry.Change{Kind: registry.Put, Make: func(current object.Object) (object.Object, *status.Status) {
		obj := current.Copy()
		return obj, change(obj)
	}})
	if s != nil {
		return nil, s
	}
	return result.Item.Object(), nil
}
