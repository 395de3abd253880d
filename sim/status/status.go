// Package status implements metav1.Status, the response of the API server if it does not return an object. A *Status is a Go error.
// All messages that do not belong to a single kind are in this package.
//
//	{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"…","reason":"…","details":{…},"code":404}
//
// Keys are printed in this order. Empty strings are omitted, but metadata is always present. Reasons, codes and messages are those
// of kube-apiserver v1.36 (API concepts, "Response Status Kind").
package status

import (
	"cmp"
	"strconv"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Reason is the machine-readable reason of a failure.
type Reason string

// The reasons of API servers. Unknown is the empty reason of errors that were not translated (HTTP 500).
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

// Status is a response of kind Status. If Details is nil, it is omitted; if it is empty, it is printed as {}.
type Status struct {
	Code     int
	Reason   Reason
	Message  string
	Continue string // metadata.continue: the token that continues after an expired one
	Success  bool   // "Success" instead of "Failure"
	Details  *Details

	// Sent contains further fields that an admission webhook has set in the status with which it rejected a write. If the webhook
	// set none of them, Sent is nil.
	Sent *Sent
}

// Sent contains those fields of a Status that only webhooks set: metadata, and a custom status (Word).
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

// Cause is one cause of a failure.
type Cause struct {
	Reason  string
	Message string
	Field   string
}

// Error returns the message.
func (s *Status) Error() string { return s.Message }

// JSON returns s in the wire format, without the final newline.
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

// dropComma removes the comma before the first key of an object.
func dropComma(b []byte, at int) []byte {
	if len(b) > at {
		return append(b[:at], b[at+1:]...)
	}
	return b
}

// causes converts field errors to causes.
func causes(errs field.ErrorList) []Cause {
	list := make([]Cause, len(errs))
	for i, e := range errs {
		list[i] = Cause{Reason: string(e.Type), Message: e.ErrorBody(), Field: e.Field.String()}
	}
	return list
}
