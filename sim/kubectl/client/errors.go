package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// StatusError is an answer of 400 and above.
type StatusError struct {
	Code    int
	Reason  string
	Message string

	kind   string // in its details
	name   string
	causes []object.Object
}

// Error implements error.
func (e *StatusError) Error() string { return e.Message }

// NotFound returns the error about an object that is not there.
func NotFound(message string) error { return &StatusError{Reason: "NotFound", Message: message} }

// IsNotFound reports whether an error says that something is not there.
func IsNotFound(err error) bool {
	e, ok := err.(*StatusError)
	return ok && e.Reason == "NotFound"
}

// Wrap returns an error with more in front of its message (cmdutil.AddSourceToErr).
func Wrap(err error, format string, args ...any) error {
	before := fmt.Sprintf(format, args...)
	if e, ok := err.(*StatusError); ok {
		made := *e
		made.Message = before + ": " + e.Message
		return &made
	}
	return fmt.Errorf("%s: %w", before, err)
}

// statusError returns the error that an answer is.
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

// Text returns the text that kubectl prints for the error.
func (e *StatusError) Text() string {
	switch e.Reason {
	case "Invalid":
		return e.invalid()
	case "Unauthorized":
		return "error: You must be logged in to the server (" + e.Message + ")"
	case "":
		return "Error from server: " + e.Message
	}
	return "Error from server (" + e.Reason + "): " + e.Message
}

// invalid returns the text that kubectl prints for an invalid object: its causes, each once.
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

// PlainError is an error that kubectl prints without "error: " in front.
type PlainError string

// Error implements error.
func (e PlainError) Error() string { return string(e) }
