package registry

import (
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// AdmitConnect runs admission for a stream before it is opened. options is the object of the request; policies and webhooks may
// change it.
func (r *Registry) AdmitConnect(q *Request, options object.Object) *status.Status {
	attrs := &admission.Attributes{Context: r.context(q), Operation: admission.Connect, Object: options}
	if s := r.Admission.Mutate(attrs); s != nil {
		return s
	}
	return r.Admission.Validate(attrs)
}
