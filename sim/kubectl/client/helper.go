package client

import (
	"fmt"
	"net/url"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// applyPatch is the content type of an apply.
const applyPatch = "application/apply-patch+yaml"

// Helper writes objects (resource.Helper of cli-runtime).
type Helper struct {
	*Client
	FieldManager    string
	FieldValidation string // of whole objects
	ServerDryRun    bool
}

// Create sends a new object and keeps the answer in info.
func (h *Helper) Create(info *Info) error {
	obj, err := h.write(wire.MethodPost, info.Mapping.Path(info.Namespace, ""), "application/json", info.Object, nil)
	if err == nil {
		info.Object, info.Name = obj, obj.Name()
	}
	return err
}

// Replace sends an object in the place of the one that is there and keeps the answer in info.
func (h *Helper) Replace(info *Info) error {
	obj, err := h.write(wire.MethodPut, info.Path(), "application/json", info.Object, nil)
	if err == nil {
		info.Object = obj
	}
	return err
}

// Apply sends an object for a server-side apply. With force, it takes over fields that others own.
func (h *Helper) Apply(info *Info, obj object.Object, force bool) (object.Object, error) {
	return h.write(wire.MethodPatch, info.Path(), applyPatch, obj, Query("force", fmt.Sprint(force)))
}

// write sends a whole object.
func (h *Helper) write(method, path, contentType string, obj object.Object, more url.Values) (object.Object, error) {
	q := h.query(more)
	if h.FieldValidation != "" {
		q.Set("fieldValidation", h.FieldValidation)
	}
	return h.Ask(h.Request(method, path, q, contentType, object.JSON(map[string]any(obj))))
}

// Patch sends a patch of an object, or of a subresource such as scale.
func (h *Helper) Patch(info *Info, subresource, contentType string, body []byte) (object.Object, error) {
	path := info.Path()
	if subresource != "" {
		path += "/" + subresource
	}
	return h.Ask(h.Request(wire.MethodPatch, path, h.query(nil), contentType, body))
}

// query returns the parameters of a write.
func (h *Helper) query(q url.Values) url.Values {
	if q == nil {
		q = url.Values{}
	}
	if h.FieldManager != "" {
		q.Set("fieldManager", h.FieldManager)
	}
	if h.ServerDryRun {
		q.Set("dryRun", "All")
	}
	return q
}
