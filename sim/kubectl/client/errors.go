package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// StatusError is a response with a code of at least 400.
type StatusError struct {
	Code    int
	Reason  string
	Message string

	kind   string // the kind in the Status's details
	name   string
	causes []object.Object
}

// Error implements error.
func (e *StatusError) Error() string { return e.Message }

// NotFound returns an error with the reason NotFound.
func NotFound(message string) error { return &StatusError{Reason: "NotFound", Message: message} }

// IsNotFound reports whether err is a NotFound error.
func IsNotFound(err error) bool {
	e, ok := err.(*StatusError)
	return ok && e.Reason == "NotFound"
}

// Wrap returns an error with a prefix before its message (cmdutil.AddSourceToErr).
func Wrap(err error, format string, args ...any) error {
	before := fmt.Sprintf(format, args...)
	if e, ok := err.(*StatusError); ok {
		made := *e
		made.Message = before + ": " + e.Message
		return &made
	}
	return fmt.Errorf("%s: %w", before, err)
}

// statusError returns the error for an error response.
func statusError(a *Answer) *StatusError {
	e := &StatusError{Code: a.Code, Message: strings.TrimSpace(string(a.Body))}
	if obj, err := object.Parse(a.Body); err == nil && obj.Kind() == "Status" {
		e.Reason, e.Message = obj.String("reason"), obj.String("message")
		e.kind, e.name = obj.String("details", "kind"), obj.String("details", "name")
		e.causes = obj.Objects("details", "causes")
	} else if a.Code == wire.StatusNotFound {
		e.Reason, e.Message = "NotFound", "the server could not find the requested resource"
	} else if e.Message == "" {
		e.Message = "unknown"
	}
	return e
}

// Text returns the message that kubectl prints for the error.
func (e *StatusError) Text() string {
	switch e.Reason {
	case "Invalid":
		return e.invalid()
	case "Unauthorized":
		return "error: You must be logged in to the server (" + e.Message + ")"
	}
	return e.Plain()
}

// Plain returns the message that kubectl prints for the error if there are other errors (cmdutil.StandardErrorMessage).
func (e *StatusError) Plain() string {
	if e.Reason == "" {
		return "Error from server: " + e.Message
	}
	return "Error from server (" + e.Reason + "): " + e.Message
}

// invalid returns the message that kubectl prints for an invalid object: its causes without duplicates.
func (e *StatusError) invalid() string {
	subject := "request is invalid"
	if e.kind != "" {
		subject = e.kind + " " + fmt.Sprintf("%q", e.name) + " is invalid"
	}
	if len(e.causes) == 0 {
		return "The " + subject + ": " + e.Message
	}
	var lines []string
	for _, cause := range e.causes {
		line := cause.String("message")
		if f := cause.String("field"); f != "" {
			line = f + ": " + line
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 1 {
		return "The " + subject + ": " + lines[0]
	}
	return "The " + subject + ": \n* " + strings.Join(lines, "\n* ")
}

// PlainError is an error that kubectl prints without the prefix "error: ".
type PlainError string

// Error implements error.
func (e PlainError) Error() string { return string(e) }
