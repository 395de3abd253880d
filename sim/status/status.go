// Package status is metav1.Status, the API server's answer to a request if it is not an object. A *Status is a Go error, and every
// message on the wire that does not belong to a single kind is in this package.
//
//	{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"…","reason":"…","details":{…},"code":404}
//
// Keys are printed in this order; empty strings are left out, metadata is always there. Reasons, codes and texts are
// those of kube-apiserver v1.36 (API concepts, "Response Status Kind").
package status

import (
	"cmp"
	"strconv"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Reason is the machine-readable cause of a failure.
type Reason string

// The reasons an API server gives. Unknown is the empty reason of errors that were not translated (HTTP 500).
const (
	Unknown               Reason = ""
	ReasonUnauthorized    Reason = "Unauthorized"
	ReasonForbidden       Reason = "Forbidden"
	ReasonNotFound        Reason = "NotFound"
	ReasonAlreadyExists   Reason = "AlreadyExists"
	ReasonConflict        Reason = "Conflict"
	ReasonGone            Reason = "Gone"
	ReasonInvalid         Reason = "Invalid"
	ReasonServerTimeout   Reason = "ServerTimeout"
	ReasonTimeout         Reason = "Timeout"
	ReasonTooManyRequests Reason = "TooManyRequests"
	ReasonBadRequest      Reason = "BadRequest"
	ReasonMethod          Reason = "MethodNotAllowed"
	ReasonNotAcceptable   Reason = "NotAcceptable"
	ReasonTooLarge        Reason = "RequestEntityTooLarge"
	ReasonMediaType       Reason = "UnsupportedMediaType"
	ReasonInternal        Reason = "InternalError"
	ReasonStorageRead     Reason = "StorageReadError"
	ReasonExpired         Reason = "Expired"
	ReasonUnavailable     Reason = "ServiceUnavailable"
)

// Status is one answer of kind Status. A nil Details is left out of the answer; an empty one is printed as {}.
type Status struct {
	Code     int
	Reason   Reason
	Message  string
	Continue string // metadata.continue: the token that carries on after an expired one
	Success  bool   // "Success" instead of "Failure"
	Details  *Details

	// Sent is what an admission webhook that refuses a write may say beside the rest. If nil, it said nothing.
	Sent *Sent
}

// Sent are the parts of a Status that only webhooks set: its status, if that is a word of their own, and its metadata.
type Sent struct {
	Word                      string
	SelfLink, ResourceVersion string
	RemainingItemCount        *int64
}

// Details describes the object and the causes of a Status.
type Details struct {
	Name, Group, Kind, UID string
	Causes                 []Cause
	RetryAfterSeconds      int
}

// Cause is one of several reasons of a failure.
type Cause struct {
	Reason  string
	Message string
	Field   string
}

// Error returns the message.
func (s *Status) Error() string { return s.Message }

// JSON returns s as printed on the wire, without the final newline.
func (s *Status) JSON() []byte {
	b := append([]byte(nil), `{"kind":"Status","apiVersion":"v1","metadata":{`...)
	sent := cmp.Or(s.Sent, &Sent{})
	start := len(b)
	b = object.AppendMember(b, "selfLink", sent.SelfLink)
	b = object.AppendMember(b, "resourceVersion", sent.ResourceVersion)
	b = object.AppendMember(b, "continue", s.Continue)
	if n := sent.RemainingItemCount; n != nil {
		b = strconv.AppendInt(append(b, `,"remainingItemCount":`...), *n, 10)
	}
	b = dropComma(b, start)
	word := cmp.Or(sent.Word, "Failure")
	if s.Success {
		word = "Success"
	}
	b = object.AppendString(append(b, `},"status":`...), word)
	b = object.AppendMember(b, "message", s.Message)
	b = object.AppendMember(b, "reason", string(s.Reason))
	if s.Details != nil {
		b = s.Details.appendJSON(append(b, `,"details":`...))
	}
	if s.Code != 0 {
		b = strconv.AppendInt(append(b, `,"code":`...), int64(s.Code), 10)
	}
	return append(b, '}')
}

func (d *Details) appendJSON(b []byte) []byte {
	b = append(b, '{')
	start := len(b)
	b = object.AppendMember(b, "name", d.Name)
	b = object.AppendMember(b, "group", d.Group)
	b = object.AppendMember(b, "kind", d.Kind)
	b = object.AppendMember(b, "uid", d.UID)
	if len(d.Causes) > 0 {
		b = append(b, `,"causes":[`...)
		for i, c := range d.Causes {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '{')
			at := len(b)
			b = object.AppendMember(b, "reason", c.Reason)
			b = object.AppendMember(b, "message", c.Message)
			b = dropComma(object.AppendMember(b, "field", c.Field), at)
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	if d.RetryAfterSeconds != 0 {
		b = strconv.AppendInt(append(b, `,"retryAfterSeconds":`...), int64(d.RetryAfterSeconds), 10)
	}
	return append(dropComma(b, start), '}')
}

// dropComma removes the comma that the first key of an object was given.
func dropComma(b []byte, at int) []byte {
	if len(b) > at {
		return append(b[:at], b[at+1:]...)
	}
	return b
}

// causes turns field errors into causes.
func causes(errs field.ErrorList) []Cause {
	list := make([]Cause, len(errs))
	for i, e := range errs {
		list[i] = Cause{Reason: string(e.Type), Message: e.ErrorBody(), Field: e.Field.String()}
	}
	return list
}
