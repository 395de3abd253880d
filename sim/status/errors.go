package status

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/wire"
)

// Resource identifies the object of an error. Messages contain resource[.group], and details contain the kind and the group. For
// errors about a kind (Invalid), the field Resource contains the kind.
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

// NotFound returns the error for an object that does not exist.
func NotFound(r Resource, name string) *Status {
	return &Status{Code: wire.StatusNotFound, Reason: ReasonNotFound, Details: r.details(name),
		Message: fmt.Sprintf("%s %q not found", r, name)}
}

// NoResource returns the error for a path below a served group version if none of its resources has that path.
func NoResource() *Status {
	return &Status{Code: wire.StatusNotFound, Reason: ReasonNotFound, Details: &Details{},
		Message: "the server could not find the requested resource"}
}

// NoMethod returns the error for a method that the path does not support.
func NoMethod() *Status {
	return &Status{Code: wire.StatusMethodNotAllowed, Reason: ReasonMethod, Details: &Details{},
		Message: "the server does not allow this method on the requested resource"}
}

// MethodNotSupported returns the error for a verb that a resource does not support.
func MethodNotSupported(r Resource, verb string) *Status {
	return &Status{Code: wire.StatusMethodNotAllowed, Reason: ReasonMethod, Details: &Details{Group: r.Group, Kind: r.Resource},
		Message: fmt.Sprintf("%s is not supported on resources of kind %q", verb, r.String())}
}

// AlreadyExists returns the error for a create if the object already exists.
func AlreadyExists(r Resource, name string) *Status {
	return &Status{Code: wire.StatusConflict, Reason: ReasonAlreadyExists, Details: r.details(name),
		Message: fmt.Sprintf("%s %q already exists", r, name)}
}

// GenerateNameConflict returns the error for a create if all generated names are taken. The client may retry after a second.
func GenerateNameConflict(r Resource, name string) *Status {
	d := r.details(name)
	d.RetryAfterSeconds = 1
	return &Status{Code: wire.StatusConflict, Reason: ReasonAlreadyExists, Details: d,
		Message: fmt.Sprintf("%s %q already exists, the server was not able to generate a unique name for the object", r, name)}
}

// Conflict returns the error for a write that conflicts with another one.
func Conflict(r Resource, name, why string) *Status {
	return &Status{Code: wire.StatusConflict, Reason: ReasonConflict, Details: r.details(name),
		Message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", r, name, why)}
}

// Overloaded is the plain-text response of a server that does not accept any more requests.
const Overloaded = "Too many requests, please try again later."

// OptimisticLock is the reason for a Conflict between resourceVersions.
const OptimisticLock = "the object has been modified; please apply your changes to the latest version and try again"

// UIDDiffers returns the reason for a Conflict if the object's uid is not the one that a write requires
// (storage.Preconditions.Check).
func UIDDiffers(want, have string) string {
	return fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", want, have)
}

// VersionDiffers is like UIDDiffers, but for the resourceVersion.
func VersionDiffers(want, have string) string {
	return fmt.Sprintf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s", want, have)
}

// InvalidObject returns the text of storage.NewInvalidObjError for a failed precondition. key is the storage key, or "" in a dry
// run.
func InvalidObject(key, why string) string {
	return fmt.Sprintf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, why)
}

// CorruptObject returns the text of storage.NewCorruptObjError for an object that cannot be decoded.
func CorruptObject(key, why string) string {
	return fmt.Sprintf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, why)
}

// StorageRead returns the error for a read if some of the objects cannot be decoded. Each of these is a cause.
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

// ApplyConflict returns the error for an apply that would change fields of other managers.
func ApplyConflict(message string, causes []Cause) *Status {
	return &Status{Code: wire.StatusConflict, Reason: ReasonConflict, Message: message, Details: &Details{Causes: causes}}
}

// Invalid returns the error for an object that fails validation. kind contains the kind and its group.
func Invalid(kind Resource, name string, errs field.ErrorList) *Status {
	d := kind.details(name)
	d.Causes = causes(errs)
	message := fmt.Sprintf("%s %q is invalid", kind, name)
	if len(errs) > 0 {
		message += ": " + errs.Text()
	}
	return &Status{Code: wire.StatusUnprocessableEntity, Reason: ReasonInvalid, Details: d, Message: message}
}

// Unprocessable returns the error for a patch that cannot be applied. Like the real server's error, it does not contain the reason.
func Unprocessable() *Status {
	return &Status{Code: wire.StatusUnprocessableEntity, Reason: ReasonInvalid, Details: &Details{},
		Message: "the server rejected our request due to an error in our request"}
}

// BadRequest returns the error for a malformed request.
func BadRequest(format string, args ...any) *Status {
	return &Status{Code: wire.StatusBadRequest, Reason: ReasonBadRequest, Message: sprintf(format, args)}
}

// NameParameter returns an error if a name cannot be part of a storage key (registry/generic/registry.NoNamespaceKeyFunc).
func NameParameter(name string) *Status {
	if name == "" {
		return BadRequest("Name parameter required.")
	}
	if msgs := field.PathSegment(name); len(msgs) > 0 {
		return BadRequest("Name parameter invalid: %q: %s", name, strings.Join(msgs, ";"))
	}
	return nil
}

// Forbidden returns the error for a write that a rule of the server does not allow.
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

// Unauthorized returns the error for invalid credentials.
func Unauthorized() *Status {
	return &Status{Code: wire.StatusUnauthorized, Reason: ReasonUnauthorized, Message: "Unauthorized"}
}

// Expired returns the error for a compacted revision.
func Expired(message string) *Status {
	return &Status{Code: wire.StatusGone, Reason: ReasonExpired, Message: message}
}

// The messages of Expired (API concepts, "410 Gone responses").
const (
	ExpiredList     = "The resourceVersion for the provided list is too old."
	ExpiredWatch    = "The resourceVersion for the provided watch is too old."
	ExpiredContinue = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
)

// TooOldResourceVersion returns the error that a watch sends if its revision is no longer in the watch cache.
func TooOldResourceVersion(rev, oldest uint64) *Status {
	return Expired(fmt.Sprintf("too old resource version: %d (%d)", rev, oldest))
}

// TooLargeResourceVersion returns the error for a revision that the server has not reached in time. retryAfter is in seconds.
func TooLargeResourceVersion(want, have uint64, retryAfter int) *Status {
	s := Timeout(fmt.Sprintf("Too large resource version: %d, current: %d", want, have), retryAfter)
	s.Details.Causes = []Cause{{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}}
	return s
}

// Timeout returns the error for a request that took too long. retryAfter is in seconds; 0 is omitted.
func Timeout(message string, retryAfter int) *Status {
	return &Status{Code: wire.StatusGatewayTimeout, Reason: ReasonTimeout, Message: "Timeout: " + message,
		Details: &Details{RetryAfterSeconds: retryAfter}}
}

// ServerTimeout returns the error for a request during which the store was unreachable.
func ServerTimeout(r Resource, operation string, retryAfter int) *Status {
	d := r.details(operation)
	d.RetryAfterSeconds = retryAfter
	return &Status{Code: wire.StatusInternalServerError, Reason: ReasonServerTimeout, Details: d,
		Message: fmt.Sprintf("The %s operation against %s could not be completed at this time, please try again.", operation, r)}
}

// TooManyRequests returns the error that makes a client slow down. retryAfter is in seconds.
func TooManyRequests(message string, retryAfter int) *Status {
	return &Status{Code: wire.StatusTooManyRequests, Reason: ReasonTooManyRequests, Message: message,
		Details: &Details{RetryAfterSeconds: retryAfter}}
}

// Unavailable returns the error for a request that the server cannot serve at present.
func Unavailable(message string) *Status {
	return &Status{Code: wire.StatusServiceUnavailable, Reason: ReasonUnavailable, Message: message}
}

// TooLarge returns the error for a request that exceeds a limit.
func TooLarge(message string) *Status {
	return &Status{Code: wire.StatusRequestEntityTooLarge, Reason: ReasonTooLarge,
		Message: "Request entity too large: " + message}
}

// BodyTooLarge returns the error for a body of more than limit bytes.
func BodyTooLarge(limit int) *Status { return TooLarge(fmt.Sprintf("limit is %d", limit)) }

// NotAcceptable returns the error for an Accept header that the server cannot satisfy.
func NotAcceptable(message string) *Status {
	return &Status{Code: wire.StatusNotAcceptable, Reason: ReasonNotAcceptable, Message: message}
}

// NotNegotiable returns the error for an Accept header that does not allow any media type of an endpoint.
func NotNegotiable(mediaTypes []string) *Status {
	return NotAcceptable("only the following media types are accepted: " + strings.Join(mediaTypes, ", "))
}

// UnsupportedMediaType returns the error for a Content-Type that the server cannot decode.
func UnsupportedMediaType(mediaTypes []string) *Status {
	return &Status{Code: wire.StatusUnsupportedMediaType, Reason: ReasonMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(mediaTypes, ", ")}
}

// NotConsumed returns go-restful's error for a Content-Type that no route for the path consumes.
func NotConsumed() *Status {
	return &Status{Code: wire.StatusUnsupportedMediaType, Reason: ReasonMediaType, Message: "415: Unsupported Media Type", Details: &Details{}}
}

// Internal returns the error for an internal failure of the server.
func Internal(err error) *Status {
	return &Status{Code: wire.StatusInternalServerError, Reason: ReasonInternal,
		Message: "Internal error occurred: " + err.Error(), Details: &Details{Causes: []Cause{{Message: err.Error()}}}}
}

// Plain returns an error that the real server does not translate to a more specific one: code 500 without a reason.
func Plain(format string, args ...any) *Status {
	return &Status{Code: wire.StatusInternalServerError, Message: sprintf(format, args)}
}

// InvalidVersion returns the error for a resourceVersion that is not a number, for requests in which the real server does not
// translate that error (get, watch).
func InvalidVersion(rv string) *Status {
	return Plain("%s", BadVersion(rv))
}

// BadVersion returns the reason why rv is not a valid revision: it is not a number, or it is too large.
func BadVersion(rv string) string {
	why := strconv.ErrSyntax
	if _, err := strconv.ParseUint(rv, 10, 64); errors.Is(err, strconv.ErrRange) {
		why = strconv.ErrRange
	}
	return sprintf(`resourceVersion: Invalid value: %q: strconv.ParseUint: parsing %q: %s`, []any{rv, rv, why})
}

// Success returns the response to a deletion that does not return an object.
func Success(r Resource, name, uid string) *Status {
	d := r.details(name)
	d.UID = uid
	return &Status{Success: true, Details: d}
}

// Created returns the response of a subresource that performs an action. The code in the body is 201, as in the header.
func Created() *Status { return &Status{Code: wire.StatusCreated, Success: true} }

func sprintf(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}
