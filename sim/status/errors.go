package status

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/wire"
)

// Resource names the object of an error: resource[.group] in messages, kind and group in details. For errors about a kind (Invalid)
// Resource holds the kind.
type Resource struct{ Group, Resource string }

func (r Resource) String() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

func (r Resource) details(name string) *Details {
	return &Details{Name: name, Group: r.Group, Kind: r.Resource}
}

// NotFound answers for an object that does not exist.
func NotFound(r Resource, name string) *Status {
	return &Status{Code: wire.StatusNotFound, Reason: ReasonNotFound, Details: r.details(name),
		Message: fmt.Sprintf("%s %q not found", r, name)}
}

// NoResource answers for a path below a served group version that names no resource of it.
func NoResource() *Status {
	return &Status{Code: wire.StatusNotFound, Reason: ReasonNotFound, Details: &Details{},
		Message: "the server could not find the requested resource"}
}

// NoMethod answers for a method that no route of the path has.
func NoMethod() *Status {
	return &Status{Code: wire.StatusMethodNotAllowed, Reason: ReasonMethod, Details: &Details{},
		Message: "the server does not allow this method on the requested resource"}
}

// MethodNotSupported answers for a verb that a resource does not have.
func MethodNotSupported(r Resource, verb string) *Status {
	return &Status{Code: wire.StatusMethodNotAllowed, Reason: ReasonMethod, Details: &Details{Group: r.Group, Kind: r.Resource},
		Message: fmt.Sprintf("%s is not supported on resources of kind %q", verb, r.String())}
}

// AlreadyExists answers for the creation of an object that exists.
func AlreadyExists(r Resource, name string) *Status {
	return &Status{Code: wire.StatusConflict, Reason: ReasonAlreadyExists, Details: r.details(name),
		Message: fmt.Sprintf("%s %q already exists", r, name)}
}

// GenerateNameConflict answers when every generated name was taken: the client may retry after a second.
func GenerateNameConflict(r Resource, name string) *Status {
	d := r.details(name)
	d.RetryAfterSeconds = 1
	return &Status{Code: wire.StatusConflict, Reason: ReasonAlreadyExists, Details: d,
		Message: fmt.Sprintf("%s %q already exists, the server was not able to generate a unique name for the object", r, name)}
}

// Conflict answers for a write that lost against another one.
func Conflict(r Resource, name, why string) *Status {
	return &Status{Code: wire.StatusConflict, Reason: ReasonConflict, Details: r.details(name),
		Message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", r, name, why)}
}

// Overloaded is the answer of a server that accepts no more requests, in plain text.
const Overloaded = "Too many requests, please try again later."

// OptimisticLock is the why of a Conflict between resourceVersions.
const OptimisticLock = "the object has been modified; please apply your changes to the latest version and try again"

// UIDDiffers is the why of a Conflict between the uid that a write asks for and the object's (storage.Preconditions.Check).
func UIDDiffers(want, have string) string {
	return fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", want, have)
}

// VersionDiffers is UIDDiffers for resourceVersions.
func VersionDiffers(want, have string) string {
	return fmt.Sprintf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s", want, have)
}

// InvalidObject returns the text of storage.NewInvalidObjError for a failed precondition. key is the storage key; it is empty in a
// dry run.
func InvalidObject(key, why string) string {
	return fmt.Sprintf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, why)
}

// CorruptObject returns the text of storage.NewCorruptObjError for an object that cannot be decoded.
func CorruptObject(key, why string) string {
	return fmt.Sprintf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, why)
}

// StorageRead answers for a read that came upon objects which cannot be read, each of them a cause.
func StorageRead(r Resource, verb string, causes []Cause) *Status {
	details := r.details(verb)
	message := fmt.Sprintf("failed to read one or more %s from the storage: %s", r, causes[0].Message)
	if len(causes) > 1 {
		message += fmt.Sprintf(" (and %d more)", len(causes)-1)
	}
	for i := range causes {
		causes[i].Reason = "UnexpectedServerResponse"
	}
	details.Causes = causes
	return &Status{Code: wire.StatusInternalServerError, Reason: ReasonStorageRead, Message: message, Details: details}
}

// ApplyConflict answers for an apply that would change fields of other managers.
func ApplyConflict(message string, causes []Cause) *Status {
	return &Status{Code: wire.StatusConflict, Reason: ReasonConflict, Message: message, Details: &Details{Causes: causes}}
}

// Invalid answers for an object that breaks rules; kind holds the kind and its group.
func Invalid(kind Resource, name string, errs field.ErrorList) *Status {
	d := kind.details(name)
	d.Causes = causes(errs)
	message := fmt.Sprintf("%s %q is invalid", kind, name)
	if len(errs) > 0 {
		message += ": " + errs.Text()
	}
	return &Status{Code: wire.StatusUnprocessableEntity, Reason: ReasonInvalid, Details: d, Message: message}
}

// Unprocessable answers for a patch that cannot be applied; the real server hides why.
func Unprocessable() *Status {
	return &Status{Code: wire.StatusUnprocessableEntity, Reason: ReasonInvalid, Details: &Details{},
		Message: "the server rejected our request due to an error in our request"}
}

// BadRequest answers for a request that cannot be understood.
func BadRequest(format string, args ...any) *Status {
	return &Status{Code: wire.StatusBadRequest, Reason: ReasonBadRequest, Message: sprintf(format, args)}
}

// NameParameter refuses a name that storage has no key for (registry/generic/registry.NoNamespaceKeyFunc). If nil, it has one.
func NameParameter(name string) *Status {
	if name == "" {
		return BadRequest("Name parameter required.")
	}
	if msgs := field.PathSegment(name); len(msgs) > 0 {
		return BadRequest("Name parameter invalid: %q: %s", name, strings.Join(msgs, ";"))
	}
	return nil
}

// Forbidden answers for a write that a rule of the server refuses.
func Forbidden(r Resource, name, why string) *Status {
	s := &Status{Code: wire.StatusForbidden, Reason: ReasonForbidden, Details: r.details(name)}
	switch {
	case r == Resource{}:
		s.Message = "forbidden: " + why
	case name == "":
		s.Message = fmt.Sprintf("%s is forbidden: %s", r, why)
	default:
		s.Message = fmt.Sprintf("%s %q is forbidden: %s", r, name, why)
	}
	return s
}

// Unauthorized answers for unknown credentials.
func Unauthorized() *Status {
	return &Status{Code: wire.StatusUnauthorized, Reason: ReasonUnauthorized, Message: "Unauthorized"}
}

// Expired answers for a revision that was compacted away.
func Expired(message string) *Status {
	return &Status{Code: wire.StatusGone, Reason: ReasonExpired, Message: message}
}

// The texts of Expired (API concepts, "410 Gone responses").
const (
	ExpiredList     = "The resourceVersion for the provided list is too old."
	ExpiredWatch    = "The resourceVersion for the provided watch is too old."
	ExpiredContinue = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
)

// TooOldResourceVersion answers, inside a watch, for a revision that the watch cache has forgotten.
func TooOldResourceVersion(rev, oldest uint64) *Status {
	return Expired(fmt.Sprintf("too old resource version: %d (%d)", rev, oldest))
}

// TooLargeResourceVersion answers for a revision that the server did not reach in time. retryAfter is in seconds.
func TooLargeResourceVersion(want, have uint64, retryAfter int) *Status {
	s := Timeout(fmt.Sprintf("Too large resource version: %d, current: %d", want, have), retryAfter)
	s.Details.Causes = []Cause{{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}}
	return s
}

// Timeout answers for a request that took too long. retryAfter is in seconds; 0 omits it.
func Timeout(message string, retryAfter int) *Status {
	return &Status{Code: wire.StatusGatewayTimeout, Reason: ReasonTimeout, Message: "Timeout: " + message,
		Details: &Details{RetryAfterSeconds: retryAfter}}
}

// ServerTimeout answers when the store cannot be reached.
func ServerTimeout(r Resource, operation string, retryAfter int) *Status {
	d := r.details(operation)
	d.RetryAfterSeconds = retryAfter
	return &Status{Code: wire.StatusInternalServerError, Reason: ReasonServerTimeout, Details: d,
		Message: fmt.Sprintf("The %s operation against %s could not be completed at this time, please try again.", operation, r)}
}

// TooManyRequests answers when the server asks a client to slow down. retryAfter is in seconds.
func TooManyRequests(message string, retryAfter int) *Status {
	return &Status{Code: wire.StatusTooManyRequests, Reason: ReasonTooManyRequests, Message: message,
		Details: &Details{RetryAfterSeconds: retryAfter}}
}

// Unavailable answers when the server cannot serve the request now.
func Unavailable(message string) *Status {
	return &Status{Code: wire.StatusServiceUnavailable, Reason: ReasonUnavailable, Message: message}
}

// TooLarge answers for a request that passes a limit.
func TooLarge(message string) *Status {
	return &Status{Code: wire.StatusRequestEntityTooLarge, Reason: ReasonTooLarge,
		Message: "Request entity too large: " + message}
}

// BodyTooLarge answers for a body of more than limit bytes.
func BodyTooLarge(limit int) *Status { return TooLarge(fmt.Sprintf("limit is %d", limit)) }

// NotAcceptable answers for an Accept header that the server cannot serve.
func NotAcceptable(message string) *Status {
	return &Status{Code: wire.StatusNotAcceptable, Reason: ReasonNotAcceptable, Message: message}
}

// NotNegotiable answers for an Accept header that names none of the media types of an endpoint.
func NotNegotiable(mediaTypes []string) *Status {
	return NotAcceptable("only the following media types are accepted: " + strings.Join(mediaTypes, ", "))
}

// UnsupportedMediaType answers for a Content-Type that the server cannot read.
func UnsupportedMediaType(mediaTypes []string) *Status {
	return &Status{Code: wire.StatusUnsupportedMediaType, Reason: ReasonMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(mediaTypes, ", ")}
}

// Internal answers for a failure inside the server.
func Internal(err error) *Status {
	return &Status{Code: wire.StatusInternalServerError, Reason: ReasonInternal,
		Message: "Internal error occurred: " + err.Error(), Details: &Details{Causes: []Cause{{Message: err.Error()}}}}
}

// Plain answers for an error that the real server does not translate: 500 without a reason.
func Plain(format string, args ...any) *Status {
	return &Status{Code: wire.StatusInternalServerError, Message: sprintf(format, args)}
}

// InvalidVersion answers for a resourceVersion that is no number, on paths that do not translate the error (get, watch).
func InvalidVersion(rv string) *Status {
	return Plain("%s", BadVersion(rv))
}

// BadVersion says why rv is no revision: what follows its text is a sign that it is no number or one that is too large.
func BadVersion(rv string) string {
	why := strconv.ErrSyntax
	if _, err := strconv.ParseUint(rv, 10, 64); errors.Is(err, strconv.ErrRange) {
		why = strconv.ErrRange
	}
	return sprintf(`resourceVersion: Invalid value: %q: strconv.ParseUint: parsing %q: %s`, []any{rv, rv, why})
}

// Success answers for a deletion that left nothing to show.
func Success(r Resource, name, uid string) *Status {
	d := r.details(name)
	d.UID = uid
	return &Status{Success: true, Details: d}
}

// Created answers for a subresource that makes something happen: 201 in the body as in the header.
func Created() *Status { return &Status{Code: wire.StatusCreated, Success: true} }

func sprintf(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}
