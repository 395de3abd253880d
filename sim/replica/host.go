package replica

import (
	"cmp"
	"context"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	levels "github.com/kubesim/kubesim/sim/builtin/flowcontrol"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/fieldmanager"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// apiHost implements apiserver.Host for a server.
type apiHost struct{ *Server }

func (r apiHost) Hook() apiserver.Hook {
	if r.n == peerNumber {
		return nil
	}
	return r.set.Listener().Hook(r.n)
}

func (r apiHost) Auditor() apiserver.Auditor { return r.set.auditor }

func (r apiHost) Aggregated(path string) apiserver.Forward {
	return r.set.Aggregator().Aggregated(path)
}

func (r apiHost) Flow() *flowcontrol.Config {
	if r.flow == nil && !r.set.Config.Bare {
		r.flow = flowcontrol.New(r.api.Registry.Reader())
	}
	return r.flow
}

func (r apiHost) Unlocked(f func()) { r.set.Lock.Unlocked(f) }

// Peer returns a random other replica that serves the resource. If there is none, it returns nil.
func (r apiHost) Peer(group, version, name string) *apiserver.Server {
	if !r.profile.proxies {
		return nil
	}
	var able []*apiserver.Server
	for _, x := range r.set.all() {
		if x != r.Server && x.api.Table.Find(group, version, name) != nil {
			able = append(able, x.api)
		}
	}
	if len(able) == 0 {
		return nil
	}
	return able[r.set.Random.Draw("peers", len(able))]
}

// authHost implements auth.Host for a server.
type authHost struct{ *Server }

func (r authHost) Account(text string, wanted []string) (*token.Holder, error) {
	h, use, err := r.set.Tokens.Check(text, wanted, r.set.Schedule.Now(), r.Reader())
	r.set.labelTokenUse(use)
	return h, err
}

func (r authHost) Bootstrap(text string) *token.Holder {
	if !r.set.Config.BootstrapTokens {
		return nil
	}
	return token.Bootstrap(text, r.set.Schedule.Now(), r.Reader())
}

func (r authHost) Issued(text string) (*auth.User, error) {
	if issuers := r.set.Config.Authentication.Issuers; issuers != nil {
		return issuers.AuthenticateToken(text, r.set.Schedule.Now())
	}
	return nil, nil
}

func (r authHost) Indexed(storage, value string, yield func(*resource.Item) bool) {
	d := r.Definition(storage)
	r.cache(storage).Select(d, value, "", func(kv *mvcc.KV) bool { return yield(resource.ItemOf(d, kv)) })
}

func (r authHost) Now() time.Time { return r.set.Schedule.Now() }

func (r authHost) After(d time.Duration, f func()) (stop func()) { return r.set.Schedule.After(d, f) }

func (r authHost) Unlocked(f func()) { r.set.Lock.Unlocked(f) }

func (r authHost) Wait(ctx context.Context, d time.Duration) { r.set.Lock.Wait(ctx, d) }

func (r authHost) Asked(at auth.Attributes, allowed bool) {
	if r.n != peerNumber {
		r.set.Listener().Asked(r.n, at, allowed)
	}
}

// authorizer implements registry.Authorizer with an auth.Auth.
type authorizer struct{ *auth.Auth }

func (a authorizer) May(q *registry.Request, access resource.Access, objects resource.Reader) *status.Status {
	at := auth.Attributes{By: q.By, User: q.User, Verb: access.Verb, IsResource: true, Group: q.Definition.Group, Version: q.Definition.Version,
		Resource: cmp.Or(access.Resource, q.Definition.Resource), Subresource: access.Subresource, Namespace: access.Namespace, Name: access.Name}
	if d := a.Authorize(at, objects); !d.Allowed {
		return auth.Forbidden(at, d.Reason)
	}
	return nil
}

func (a authorizer) Escalation(q *registry.Request, obj, old object.Object, objects resource.Reader) *status.Status {
	d := q.Definition
	at := auth.Attributes{By: q.By, User: q.User, Verb: "update", IsResource: true, Group: d.Group, Version: d.Version,
		Resource: d.Resource, Subresource: q.Subresource, Namespace: q.Namespace, Name: q.Name} // Name is that of the path, which is empty for a create
	if old == nil {
		at.Verb = "create"
	}
	return a.Auth.Escalation(at, obj, old, objects)
}

// pluginHost implements admission.Host for a server.
type pluginHost struct {
	r      *Server
	auth   *auth.Auth
	fields *fieldmanager.Manager
	*Webhooks
}

func (h pluginHost) May(by resource.Author, user resource.User, a expr.Access, objects resource.Reader) expr.Decision {
	d := h.auth.May(auth.Attributes{By: by, User: user, Verb: a.Verb, IsResource: a.Path == "", Path: a.Path, Group: a.Group,
		Version: "*", Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name,
		FieldSelector: a.FieldSelector, LabelSelector: a.LabelSelector}, objects)
	answer := expr.Decision{Allowed: d.Allowed, Reason: d.Reason}
	if d.Err != nil {
		answer.Error = d.Err.Error()
	}
	return answer
}

func (h pluginHost) Authorize(by resource.Author, user resource.User, verb, group, name, called string, objects resource.Reader) bool {
	return h.auth.Authorize(auth.Attributes{By: by, User: user, Verb: verb, IsResource: true, Group: group, Version: "*",
		Resource: name, Name: called}, objects).Allowed
}

// Write implements admission.Host. It applies change to the status of the stored object as the user system:apiserver, without
// further admission.
func (h pluginHost) Write(by resource.Author, storage, namespace, name string, change func(object.Object) *status.Status) (object.Object, *status.Status) {
	q := registry.Loopback(by, h.r.Definition(storage), namespace, name)
	q.Subresource = "status"
	result, s := h.r.inner.Update(q, registry.Change{Kind: registry.Put, Make: func(current object.Object) (object.Object, *status.Status) {
		obj := current.Copy()
		return obj, change(obj)
	}})
	if s != nil {
		return nil, s
	}
	return result.Item.Object(), nil
}

func (h pluginHost) Merge(d *resource.Definition, live, config object.Object) (object.Object, error) {
	return h.fields.Merge(d, live, config)
}

func (h pluginHost) Unlocked(f func()) { h.r.set.Lock.Unlocked(f) }

func (h pluginHost) After(d time.Duration, f func()) (stop func()) {
	return h.r.set.Schedule.After(d, f)
}

func (h pluginHost) Wait(ctx context.Context, d time.Duration) { h.r.set.Lock.Wait(ctx, d) }

// customHost implements crd.Host for a server.
type customHost struct {
	r *Server
	*Conversions
}

func (h customHost) NewUID() string { return h.r.api.Registry.NewAuditID() }

func (h customHost) After(d time.Duration, f func()) (stop func()) {
	return h.r.set.Schedule.After(d, f)
}

func (h customHost) Wait(ctx context.Context, d time.Duration) { h.r.set.Lock.Wait(ctx, d) }

// discoveryHost implements discovery.Host for a server.
type discoveryHost struct{ r *Server }

func (h discoveryHost) Now() time.Time { return h.r.set.Schedule.Now() }

func (h discoveryHost) Checks() []string {
	if values := h.r.set.Config.Encryption.Values; values != nil {
		return values.Checks()
	}
	return nil
}

func (h discoveryHost) Check(name string) error {
	if values := h.r.set.Config.Encryption.Values; values != nil {
		return values.Check(name)
	}
	return nil
}

func (h discoveryHost) Remotes() []discovery.Remote { return h.r.set.Aggregator().Remotes() }

func (h discoveryHost) Priorities() map[string]int64 { return h.r.set.Aggregator().Priorities() }

func (h discoveryHost) Seats() map[string]int { return levels.NominalSeats(h.r.Reader()) }

func (h discoveryHost) Metrics() string {
	meter, ok := h.r.set.auditor.(apiserver.Meter)
	if !ok {
		return ""
	}
	return h.r.api.Auth.Metrics() + meter.Metrics(func(yield func(*resource.Definition, int) bool) {
		view := h.r.set.Log().Newest()
		for _, d := range h.r.api.Table.All() {
			if d.Hub == d && d.Allows("list") && !d.Strategy.Virtual && !yield(d, view.Count(d.Key("", ""), "")) {
				return
			}
		}
	})
}

func (h discoveryHost) CustomSchema(d *resource.Definition) object.Object {
	return h.r.custom.Published(d)
}

func (h discoveryHost) Peers() []*discovery.Documents {
	if !h.r.profile.proxies {
		return nil
	}
	return h.r.set.documents()
}
