package admission

import (
	"github.com/kubesim/kubesim/sim/codec"
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

// review returns the AdmissionReview for a write in version d, encoded like the real server's Go struct.
func (w *webhooks) review(a *Attributes, d *resource.Definition, version, uid string) ([]byte, error) {
	obj, old, err := a.texts(d)
	if err != nil {
		return nil, err
	}
	request := a.reviewRequest(d)
	request["uid"] = uid
	if options := object.As(request["options"]); options != nil {
		request["options"] = object.Raw(codec.Append(nil, options, w.host.Decoder.Schema.Kind(schema.GVK{Version: "v1", Kind: options.Kind()})))
	}
	if obj != nil {
		request["object"] = object.Raw(obj)
	}
	if old != nil {
		request["oldObject"] = object.Raw(old)
	}
	review := object.Object{"kind": "AdmissionReview", "apiVersion": reviewGroup + "/" + version, "request": request}
	return append(codec.AppendStored(nil, review, w.host.reviewType(version)), '\n'), nil
}

const reviewGroup = "admission.k8s.io"

// reviewType returns the type of AdmissionReview in a version of admission.k8s.io.
func (h *Server) reviewType(version string) *schema.Type {
	return h.Decoder.Schema.Kind(schema.GVK{Group: reviewGroup, Version: version, Kind: "AdmissionReview"})
}

// reviewRequest returns the AdmissionRequest (admission.k8s.io/v1) for a write that matches in version d, without uid and
// objects. Expressions access it as the variable request.
func (a *Attributes) reviewRequest(d *resource.Definition) map[string]any {
	requestKind, kind := a.matchedKind(a.Definition).GVK, a.matchedKind(d).GVK
	r := map[string]any{
		"kind": kindOf(kind), "resource": resourceOf(d), "requestKind": kindOf(requestKind), "requestResource": resourceOf(a.Definition),
		"operation": string(a.Operation), "userInfo": a.User.Info(), "dryRun": a.DryRun,
		"options": options(a),
	}
	if a.Operation == Connect {
		r["options"] = nil
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
	return r
}

// options returns the options of the write with their kind and apiVersion.
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
