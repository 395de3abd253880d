package registry

import (
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// AdmitConnect runs admission for a stream that is about to be opened. Policies and webhooks may change options, which is the
// request's object.
func (r *Registry) AdmitConnect(q *Request, options object.Object) *status.Status {
	attrs := &admission.Attributes{Context: r.context(q), Operation: admission.Connect, Object: options}
	if s := r.Admission.Mutate(attrs); s != nil {
		return s
	}
	return r.Admission.Validate(attrs)
}
