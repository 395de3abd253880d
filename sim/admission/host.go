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

// Host is what policies, webhooks and quotas need of the API server they run in.
type Host struct {
	// Table is what the server serves.
	Table *resource.Table
	// May answers the authorizer of expressions for a user.
	May func(user resource.User, a cel.Access, objects resource.Reader) (allowed bool, reason string)
	// Decode reads an object that a webhook has mutated.
	Decode func(d *resource.Definition, data []byte) (object.Object, error)
	// DecodeStrictly reads an object that the JSON patch of a policy has mutated. Unknown fields are errors; a kind and version that
	// the patch removed are those of d.
	DecodeStrictly func(d *resource.Definition, data []byte) (object.Object, error)
	// Kinds returns the structure of a kind, nil for one that the server does not have.
	Kinds func(schema.GVK) *schema.Type
	// Coerce reads the metadata of a custom resource that mutations have changed, and drops invalid fields.
	Coerce func(obj object.Object)
	// Merge merges a configuration into an object of the same kind, as server-side apply does, without owners.
	Merge func(d *resource.Definition, live, config object.Object) (object.Object, error)
	// Config is what plugins are configured with.
	Config Config
	// Write stores the usage of quotas.
	Write Write
	// Handlers answer webhooks in place of a server, by the name of the webhook: nil for one that a server answers.
	Handlers func(name string) Handler
	// Call calls webhooks.
	Call hooks.Call
	// Outside calls f without the Cluster's lock.
	Outside func(f func())
	// Together calls all functions, at the same time where that is possible, and returns when they have returned.
	Together func(calls []func())
	// Run calls f, which may wait, and returns when f has returned or the context has ended, with the context's cause. What f does
	// after that has no effect on the write.
	Run func(ctx context.Context, f func()) error
	// After calls f after d of the Cluster's time; stop takes that back.
	After func(d time.Duration, f func()) (stop func())
	// Waits reports whether the Cluster's time passes by itself, so that a plugin may wait for what controllers and clients do
	// meanwhile. If nil, plugins do not wait.
	Waits func() bool
	// Wait returns when d of the Cluster's time has passed, or the context ends. It is called without the Cluster's lock.
	Wait func(ctx context.Context, d time.Duration)
}

// version returns obj, in the hub version of the write, as the definition d shows it. Both are versions of one resource.
// obj stays as it is. Empty lists and maps that are not printed are not in it: expressions and webhooks see what a client would.
func (a *Attributes) version(obj object.Object, d *resource.Definition) object.Object {
	if obj == nil {
		return nil
	}
	obj = a.convert(obj, d)
	if t := d.Layout(); a.body() == nil && t != nil && d.SkewCodec == nil {
		return codec.Reread(obj, t)
	}
	return obj
}

// convert is version with what is not printed.
func (a *Attributes) convert(obj object.Object, d *resource.Definition) object.Object {
	obj = obj.Copy()
	switch {
	case a.body() != nil, d == a.Definition.Hub, d == a.Definition && a.Definition.StorageCodec != nil:
		return obj
	case d.StorageCodec != nil:
		if a.Definition.StorageCodec == nil || a.Definition.StorageCodec.Convert == nil {
			return obj
		}
		if converted, err := a.Definition.StorageCodec.Convert(obj, d.GV()); err == nil {
			return converted
		}
		return obj
	}
	return d.FromStored(obj)
}

// shown returns obj as the definition d shows it to an expression: with the empty structs that are always printed.
func (a *Attributes) shown(obj object.Object, d *resource.Definition) any {
	if obj == nil {
		return nil
	}
	text := a.printed(obj, d)
	if printed, err := object.Parse(text); err == nil {
		return map[string]any(printed)
	}
	return map[string]any(obj)
}

// printed prints obj, in the hub version of the write, as the definition d does for webhooks: a built-in kind as
// encoding/json prints its Go struct, with what is always printed, such as resources {} of a container or status {} of a pod
// that has none; a custom resource as it is.
//
// Whatever kind a patch has made of a custom resource, it is shown as one of d, but for the webhooks that are asked in the
// same round. There a patched Scale of a custom resource is one itself.
func (a *Attributes) printed(obj object.Object, d *resource.Definition) []byte {
	obj, d = a.convert(obj, d), a.shownAs(d)
	switch {
	case !a.patched && d.Custom:
		obj["apiVersion"], obj["kind"] = d.GV(), d.Kind
	case a.patched && a.Definition.Custom:
		return object.JSON(map[string]any(obj))
	}
	return codec.AppendSent(nil, obj, d.Layout())
}

// body defines the kind of the write's object where that is one of the subresource: Scale, Eviction. nil: it is that of
// the resource.
func (a *Attributes) body() *resource.Definition {
	if sub := a.Definition.Sub(a.Subresource); sub != nil {
		return sub.Body
	}
	return nil
}

// shownAs returns the kind in which a write that matches the version d is shown.
func (a *Attributes) shownAs(d *resource.Definition) *resource.Definition {
	if own := a.body(); own != nil {
		return own
	}
	return d
}

// replace puts a changed object of the version d in the place of the write's. Plugins share a.Object with the registry:
// it is changed in place.
func (a *Attributes) replace(obj object.Object, d *resource.Definition) *status.Status {
	if err := a.put(obj, d); err != nil {
		return status.Internal(err)
	}
	return nil
}

// put is replace with the error of the conversion.
func (a *Attributes) put(obj object.Object, d *resource.Definition) error {
	if d.Default != nil {
		d.Default(obj)
	}
	hub := obj
	var err error
	switch {
	case d == a.body():
	case d == a.Definition.Hub:
	case d.StorageCodec != nil:
		if d != a.Definition && d.StorageCodec.Convert != nil {
			hub, err = d.StorageCodec.Convert(obj, a.Definition.GV())
		}
	case d.ToHub != nil:
		hub, err = d.ToHub(obj)
	default:
		hub["apiVersion"] = d.Hub.GV()
	}
	if err != nil {
		return err
	}
	put(a.Object, hub)
	return nil
}

// equivalents returns the other served versions of the write's resource, in the table's order.
func (h *Host) equivalents(d *resource.Definition) []*resource.Definition {
	var out []*resource.Definition
	for _, other := range h.Table.All() {
		if other != d && other.Storage == d.Storage && other.Resource == d.Resource {
			out = append(out, other)
		}
	}
	return out
}

// policyResources are the resources that no policy applies to, and policyResources and webhookResources those that no webhook is
// called for: otherwise a mistake in one of them could not be undone.
var (
	policyResources = []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies",
		"mutatingadmissionpolicybindings"}
	webhookResources = []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"}
)

// isOneOf reports whether the write is about one of the resources of admissionregistration.k8s.io.
func (a *Attributes) isOneOf(resources []string) bool {
	return a.Definition.Group == "admissionregistration.k8s.io" && slices.Contains(resources, a.Definition.Resource)
}
