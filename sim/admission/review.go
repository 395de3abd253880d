package admission

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

func kindOf(k schema.GVK) map[string]any {
	return map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}
}

func resourceOf(d *resource.Definition) map[string]any {
	return map[string]any{"group": d.Group, "version": d.Version, "resource": d.Resource}
}

// reviewRequest is the AdmissionRequest (admission.k8s.io/v1) of a write that is matched as the definition d, without
// uid.
func (a *Attributes) reviewRequest(d *resource.Definition) map[string]any {
	requestKind, kind := a.shownAs(a.Definition).GVK, a.shownAs(d).GVK
	r := map[string]any{
		"kind": kindOf(kind), "resource": resourceOf(d), "requestKind": kindOf(requestKind), "requestResource": resourceOf(a.Definition),
		"operation": string(a.Operation), "userInfo": a.User.Info(), "object": nil, "oldObject": nil, "dryRun": a.DryRun,
		"options": options(a),
	}
	for name, value := range map[string]string{"subResource": a.Subresource, "requestSubResource": a.Subresource, "name": a.Name} {
		if value != "" {
			r[name] = value
		}
	}
	if namespace := a.Namespace; namespace != "" {
		r["namespace"] = namespace
	} else if a.Definition.Storage == namespaces {
		r["namespace"] = a.Name
	}
	if obj := a.version(a.Object, d); obj != nil {
		r["object"] = map[string]any(obj)
	}
	if old := a.version(a.Old, d); old != nil {
		r["oldObject"] = map[string]any(old)
	}
	return r
}

// options returns the options of the write as a kind of their own.
func options(a *Attributes) map[string]any {
	kinds := map[Operation]string{Create: "CreateOptions", Update: "UpdateOptions", Delete: "DeleteOptions"}
	o := a.Options.Copy()
	if o == nil {
		o = object.Object{}
	}
	o["apiVersion"], o["kind"] = "meta.k8s.io/v1", kinds[a.Operation]
	if a.DryRun {
		o.SetDefault([]any{"All"}, "dryRun")
	}
	return o
}
