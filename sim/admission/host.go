package admission

import (
	"context"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	hooks "github.com/kubesim/kubesim/sim/webhook"
)

// Server describes the API server in which plugins run.
type Server struct {
	Table   *resource.Table // the resources that the server serves
	Decoder *codec.Decoder
	Config  Config
	Host

	manifests map[string][]object.Object // see SetManifests
}

// SetManifests sets the webhook configurations, policies or bindings of a storage name that come from files, sorted by name. They
// apply before those of the API, and also to writes of webhook configurations and policies (KEP-5793).
func (h *Server) SetManifests(storage string, objects []object.Object) {
	if h.manifests == nil {
		h.manifests = map[string][]object.Object{}
	}
	h.manifests[storage] = objects
}

// Host gives plugins access to the API server and the cluster. Its methods are called with the Cluster's lock held,
// unless stated otherwise.
type Host interface {
	// May implements the authorizer of CEL expressions for a user, in the request of an author. It may release the Cluster's lock while
	// it waits for an authorizing webhook.
	May(by resource.Author, user resource.User, a expr.Access, objects resource.Reader) expr.Decision
	// Authorize has the signature of the type Authorize.
	Authorize(by resource.Author, user resource.User, verb, group, resourceName, name string, objects resource.Reader) bool
	// Write has the signature of the type Write. Plugins use it to store the usage of quotas.
	Write(by resource.Author, storage, namespace, name string, change func(object.Object) *status.Status) (object.Object, *status.Status)
	// Merge merges a configuration into an object of the same kind, like server-side apply but without field ownership.
	Merge(d *resource.Definition, live, config object.Object) (object.Object, error)
	// Handler returns the function that is registered for the named webhook, or nil if reviews are sent to a server.
	Handler(name string) Handler
	// Call has the signature of webhook.Call.
	Call(ctx context.Context, q *hooks.Request) (*hooks.Answer, error)
	// Unlocked calls f without the Cluster's lock.
	Unlocked(f func())
	// Together runs all functions, concurrently if possible, and waits until they have returned.
	Together(calls []func())
	// Run calls f and waits until it returns. If the context is done earlier, Run returns the cause, and f continues without effect
	// on the write.
	Run(ctx context.Context, f func()) error
	// After calls f after d of the Cluster's time. The function stop cancels the call.
	After(d time.Duration, f func()) (stop func())
	// Waits reports whether the Cluster's time advances by itself, so that a plugin may wait for controllers and clients.
	Waits() bool
	// Wait returns when d of the Cluster's time has passed or the context is done. It is called without the Cluster's lock.
	Wait(ctx context.Context, d time.Duration)
}

// authorize and write call the Host's methods. Plugins refer to them instead of the Host, so that plugin names can be
// listed without a Host.
func (h *Server) authorize(by resource.Author, user resource.User, verb, group, resourceName, name string, objects resource.Reader) bool {
	return h.Authorize(by, user, verb, group, resourceName, name, objects)
}

func (h *Server) write(by resource.Author, storage, namespace, name string, change func(object.Object) *status.Status) (object.Object, *status.Status) {
	return h.Write(by, storage, namespace, name, change)
}

// version converts obj from the hub version of the write to version d. It does not modify obj. It removes empty lists and maps that
// are omitted from JSON, because expressions and webhooks see what a client would see.
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

// convert is like version, but keeps empty fields. If a patch has changed the kind of a custom resource, convert restores
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

// convertible returns an error if the objects of the write cannot be converted to version d.
func (a *Attributes) convertible(d *resource.Definition) error {
	if d == a.Definition {
		return nil
	}
	_, _, err := a.texts(d)
	return err
}

// forExpressions returns the write's new and old object in version d, as expressions see them: with the empty structs that are
// always encoded.
func (a *Attributes) forExpressions(d *resource.Definition) (obj, old any, err error) {
	objText, oldText, err := a.texts(d)
	if err != nil {
		return nil, nil, err
	}
	return parsed(objText), parsed(oldText), nil
}

// parsed decodes the JSON of an object, which texts has returned. It returns nil if text is nil.
func parsed(text []byte) any {
	obj, err := object.Parse(text)
	if text == nil || err != nil {
		return nil
	}
	return map[string]any(obj)
}

// texts returns the write's new and old object as webhooks receive them: as JSON, in version d. An object that the write lacks is
// nil. While mutating webhooks run, d is the version of the draft.
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

// printed converts obj from the hub version to version d, and returns it as JSON, as webhooks receive it. Objects of a
// built-in kind are encoded like the Go struct, with fields that are always present, such as the resources of a container or
// the status of a new pod. Custom resources are encoded unchanged.
func (a *Attributes) printed(obj object.Object, d *resource.Definition) ([]byte, error) {
	obj, err := a.convert(obj, d)
	return codec.AppendSent(nil, obj, a.matchedKind(d).Layout()), err
}

// body returns the definition of the subresource's own kind, such as Scale or Eviction, or nil if it has none.
func (a *Attributes) body() *resource.Definition {
	if sub := a.Definition.Sub(a.Subresource); sub != nil {
		return sub.Body
	}
	return nil
}

// matchedKind returns the definition of the object's kind for a write that matches in version d.
func (a *Attributes) matchedKind(d *resource.Definition) *resource.Definition {
	if own := a.body(); own != nil {
		return own
	}
	return d
}

// replace sets the defaults of obj, which is in version d, and makes it the object of the write. It modifies a.Object in place,
// because the registry shares it.
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

// toHub converts an object, which is in version d or of the subresource's kind, to the hub version of the write. It may modify obj.
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

// equivalents returns the other served versions of the write's resource, in the order of the table.
func (h *Server) equivalents(d *resource.Definition) []*resource.Definition {
	var out []*resource.Definition
	for _, other := range h.Table.All() {
		if other != d && other.Storage == d.Storage && other.Resource == d.Resource {
			out = append(out, other)
		}
	}
	return out
}

// policyResources are the resources to which no policy applies. Webhooks are called neither for them nor for
// webhookResources. Otherwise an error in one of these objects could prevent its own correction.
var (
	policyResources = []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies",
		"mutatingadmissionpolicybindings"}
	webhookResources = []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"}
)

// isOneOf reports whether the write is for one of the given resources of admissionregistration.k8s.io.
func (a *Attributes) isOneOf(resources []string) bool {
	return a.Definition.Group == "admissionregistration.k8s.io" && slices.Contains(resources, a.Definition.Resource)
}
