package admission

import (
	"context"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	hooks "github.com/kubesim/kubesim/sim/webhook"
)

// Server describes the API server that plugins run in.
type Server struct {
	Table   *resource.Table // what it serves
	Decoder *codec.Decoder
	Config  Config
	Host
}

// Host provides the API server, and the cluster around it, to plugins. The Cluster's lock is held.
type Host interface {
	// May answers the authorizer of expressions for a user.
	May(user resource.User, a cel.Access, objects resource.Reader) (allowed bool, reason string)
	// Authorize is an Authorize.
	Authorize(by resource.Author, user resource.User, verb, group, resourceName, name string, objects resource.Reader) bool
	// Write is a Write, of the usage of quotas.
	Write(by resource.Author, storage, namespace, name string, change func(object.Object) *status.Status) (object.Object, *status.Status)
	// Merge merges a configuration into an object of the same kind, as server-side apply does, without owners.
	Merge(d *resource.Definition, live, config object.Object) (object.Object, error)
	// Handler returns what answers the webhook with the name in place of a server, or nil if a server answers it.
	Handler(name string) Handler
	// Call is a webhook.Call.
	Call(ctx context.Context, q *hooks.Request) (*hooks.Answer, error)
	// Unlocked calls f without the Cluster's lock.
	Unlocked(f func())
	// Together calls all functions, at the same time where that is possible, and returns when they have returned.
	Together(calls []func())
	// Run calls f, which may wait, and returns when f has returned or the context has ended, with the context's cause. In the
	// latter case f continues without effect on the write.
	Run(ctx context.Context, f func()) error
	// After calls f after d of the Cluster's time; stop takes that back.
	After(d time.Duration, f func()) (stop func())
	// Waits reports whether the Cluster's time passes by itself, so that a plugin may wait for what controllers and clients do
	// meanwhile.
	Waits() bool
	// Wait returns when d of the Cluster's time has passed, or the context ends. It is called without the Cluster's lock.
	Wait(ctx context.Context, d time.Duration)
}

// authorize and write call the Host's methods. Plugins refer to them, so that their names can be listed without a Host.
func (h *Server) authorize(by resource.Author, user resource.User, verb, group, resourceName, name string, objects resource.Reader) bool {
	return h.Authorize(by, user, verb, group, resourceName, name, objects)
}

func (h *Server) write(by resource.Author, storage, namespace, name string, change func(object.Object) *status.Status) (object.Object, *status.Status) {
	return h.Write(by, storage, namespace, name, change)
}

// version returns obj, in the hub version of the write, as the definition d shows it. Both are versions of one resource.
// obj stays as it is. Empty lists and maps that are not printed are not in it: expressions and webhooks see what a client would.
func (a *Attributes) version(obj object.Object, d *resource.Definition) (object.Object, error) {
	if obj == nil {
		return nil, nil
	}
	obj, err := a.convert(obj, d)
	if t := d.Layout(); err == nil && a.body() == nil && t != nil && d.SkewCodec == nil {
		return codec.Reread(obj, t), nil
	}
	return obj, err
}

// convert is version, but keeps fields that are not printed. If a patch has changed the kind of a custom resource, convert restores
// the kind of d.
func (a *Attributes) convert(obj object.Object, d *resource.Definition) (object.Object, error) {
	obj = obj.Copy()
	switch {
	case a.body() != nil, d == a.Definition.Hub && !d.Custom:
		return obj, nil
	case d.Custom:
		if schema.ParseGVK(obj.APIVersion(), obj.Kind()) == d.GVK {
			return obj, nil
		}
		obj, err := a.toVersion(obj, d.GV())
		if err == nil {
			obj["apiVersion"], obj["kind"] = d.GV(), d.Kind
		}
		return obj, err
	}
	return d.FromStored(obj), nil
}

// convertible returns the error of converting the objects of the write into the version d.
func (a *Attributes) convertible(d *resource.Definition) error {
	if d == a.Definition {
		return nil
	}
	_, _, err := a.texts(d)
	return err
}

// forExpressions returns the objects of the write as the definition d shows them to an expression: with the empty structs that are always
// printed.
func (a *Attributes) forExpressions(d *resource.Definition) (obj, old any, err error) {
	objText, oldText, err := a.texts(d)
	if err != nil {
		return nil, nil, err
	}
	return parsed(objText), parsed(oldText), nil
}

// parsed reads what texts has printed, or nothing.
func parsed(text []byte) any {
	obj, err := object.Parse(text)
	if text == nil || err != nil {
		return nil
	}
	return map[string]any(obj)
}

// texts returns the objects of the write in the version d, as webhooks get them. The text of an object that the write does not have
// is nil. While mutating webhooks run, d is the version of the draft.
func (a *Attributes) texts(d *resource.Definition) (obj, old []byte, err error) {
	if f := a.draft; f != nil {
		return f.print(), f.printOld(), nil
	}
	if a.Old != nil {
		if old, err = a.printed(a.Old, d); err != nil {
			return nil, nil, err
		}
	}
	if a.Object != nil {
		obj, err = a.printed(a.Object, d)
	}
	return obj, old, err
}

// printed prints obj, in the hub version of the write, as the definition d does for webhooks: a built-in kind as encoding/json
// prints its Go struct, with fields that are always printed, such as resources {} of a container or status {} of a pod that has
// none; a custom resource as it is.
func (a *Attributes) printed(obj object.Object, d *resource.Definition) ([]byte, error) {
	obj, err := a.convert(obj, d)
	return codec.AppendSent(nil, obj, a.matchedKind(d).Layout()), err
}

// body returns the definition of the kind of the write's object if the subresource has its own: Scale, Eviction. It returns nil if
// the kind is the resource's.
func (a *Attributes) body() *resource.Definition {
	if sub := a.Definition.Sub(a.Subresource); sub != nil {
		return sub.Body
	}
	return nil
}

// matchedKind returns the kind in which a write that matches the version d is shown.
func (a *Attributes) matchedKind(d *resource.Definition) *resource.Definition {
	if own := a.body(); own != nil {
		return own
	}
	return d
}

// replace puts a changed object of the version d in the place of the write's. Plugins share a.Object with the registry:
// it is changed in place.
func (a *Attributes) replace(obj object.Object, d *resource.Definition) *status.Status {
	if d.Default != nil {
		d.Default(obj)
	}
	hub, err := a.toHub(obj, d)
	if err != nil {
		return status.Internal(err)
	}
	put(a.Object, hub)
	return nil
}

// toHub converts an object of the version d, or of a subresource's kind, into the hub version of the write. It may change obj.
func (a *Attributes) toHub(obj object.Object, d *resource.Definition) (object.Object, error) {
	switch {
	case d == a.body(), d == a.Definition.Hub:
		return obj, nil
	case d.Custom:
		return a.toVersion(obj, a.Definition.GV())
	case d.ToHub != nil:
		return d.ToHub(obj)
	}
	obj["apiVersion"] = d.Hub.GV()
	return obj, nil
}

// equivalents returns the other served versions of the write's resource, in the table's order.
func (h *Server) equivalents(d *resource.Definition) []*resource.Definition {
	var out []*resource.Definition
	for _, other := range h.Table.All() {
		if other != d && other.Storage == d.Storage && other.Resource == d.Resource {
			out = append(out, other)
		}
	}
	return out
}

// policyResources are the resources that no policy applies to. Webhooks are called neither for them nor for webhookResources:
// otherwise a mistake in one of these objects could not be corrected.
var (
	policyResources = []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies",
		"mutatingadmissionpolicybindings"}
	webhookResources = []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"}
)

// isOneOf reports whether the write is about one of the resources of admissionregistration.k8s.io.
func (a *Attributes) isOneOf(resources []string) bool {
	return a.Definition.Group == "admissionregistration.k8s.io" && slices.Contains(resources, a.Definition.Resource)
}
