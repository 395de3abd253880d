// Package field describes errors of single fields of an object, in the words of the API server, and holds the rules for names, labels
// and other formats that many fields share.
//
//	Error{Invalid, spec.replicas, -1, "must be greater than or equal to 0"}
//	  Error()      spec.replicas: Invalid value: -1: must be greater than or equal to 0
//	  ErrorBody()  Invalid value: -1: must be greater than or equal to 0          (the message of a Status cause)
//	  Type         FieldValueInvalid                                              (the reason of a Status cause)
//
// The texts follow k8s.io/apimachinery's validation/field of v1.36 to the letter.
package field

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ErrorType is the machine-readable kind of an Error: the reason of a cause in Status.details.
type ErrorType string

const (
	TypeNotFound     ErrorType = "FieldValueNotFound"
	TypeRequired     ErrorType = "FieldValueRequired"
	TypeDuplicate    ErrorType = "FieldValueDuplicate"
	TypeInvalidValue ErrorType = "FieldValueInvalid"
	TypeNotSupported ErrorType = "FieldValueNotSupported"
	TypeForbidden    ErrorType = "FieldValueForbidden"
	TypeTooLong      ErrorType = "FieldValueTooLong"
	TypeTooMany      ErrorType = "FieldValueTooMany"
	TypeInternal     ErrorType = "InternalError"
	TypeTypeInvalid  ErrorType = "FieldValueTypeInvalid"
)

var typeText = map[ErrorType]string{
	TypeNotFound:     "Not found",
	TypeRequired:     "Required value",
	TypeDuplicate:    "Duplicate value",
	TypeInvalidValue: "Invalid value",
	TypeNotSupported: "Unsupported value",
	TypeForbidden:    "Forbidden",
	TypeTooLong:      "Too long",
	TypeTooMany:      "Too many",
	TypeInternal:     "Internal error",
	TypeTypeInvalid:  "Invalid value",
}

// Omit as an Error's value leaves the value out of the text.
var Omit = omit{}

type omit struct{}

// Raw is a value printed as it stands, neither quoted nor turned into JSON.
type Raw string

// Named is a string whose Go type in the real server has a name of its own, as constants have: it is printed as JSON,
// which differs from a quoted string for control characters and for <, > and &.
type Named string

// Error is one thing wrong with one field.
type Error struct {
	Type   ErrorType
	Field  Path
	Value  any
	Detail string

	// Declared marks a rule that is a tag on the types of the real server (declarative validation). Errors of such rules come after
	// all others.
	Declared bool
	// Around marks a rule of the struct around the field: Cursor.Discriminated.
	Around bool
}

// Error returns the whole text: field, type, value and detail.
func (e *Error) Error() string { return e.Field.String() + ": " + e.ErrorBody() }

// ErrorBody returns the text without the field: the message of a cause in Status.details.
func (e *Error) ErrorBody() string {
	text := typeText[e.Type]
	if e.printsValue() {
		text += ": " + valueText(e.Value)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

func (e *Error) printsValue() bool {
	if e.Value == any(Omit) {
		return false
	}
	switch e.Type {
	case TypeRequired, TypeForbidden, TypeTooLong, TypeInternal:
		return false
	}
	return true
}

// valueText prints a bad value: strings quoted as Go does, numbers and booleans bare, everything else as JSON.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case Raw:
		return string(v)
	case string:
		return strconv.Quote(v)
	case bool, int, int32, int64, uint64, float64:
		return fmt.Sprint(v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	if err := enc.Encode(v); err != nil { // only values that never came from JSON, such as functions
		return fmt.Sprintf("%#v", v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// tag marks the errors of a rule: Error.Declared and Error.Around.
type tag struct{ declared, around bool }

// word words a new error as the tag does: without details for required fields, and without the value of immutable ones.
func (t tag) word(e *Error) *Error {
	if !t.declared {
		return e
	}
	e.Declared, e.Around = true, t.around
	switch {
	case e.Type == TypeRequired:
		e.Detail = ""
	case e.Detail == TextImmutable:
		e.Value = nil
	}
	return e
}

// ErrorList is everything wrong with an object, in the order in which it was found.
type ErrorList []*Error

// NotFound reports a value that names something which does not exist.
func NotFound(p Path, value any) *Error { return &Error{Type: TypeNotFound, Field: p, Value: value} }

// Required reports a missing value.
func Required(p Path, detail string) *Error {
	return &Error{Type: TypeRequired, Field: p, Detail: detail}
}

// Duplicate reports a value that may occur only once.
func Duplicate(p Path, value any) *Error { return &Error{Type: TypeDuplicate, Field: p, Value: value} }

// Invalid reports a value that breaks a rule; detail names the rule.
func Invalid(p Path, value any, detail string) *Error {
	return &Error{Type: TypeInvalidValue, Field: p, Value: value, Detail: detail}
}

// TypeInvalid reports a value of the wrong type.
func TypeInvalid(p Path, value any, detail string) *Error {
	return &Error{Type: TypeTypeInvalid, Field: p, Value: value, Detail: detail}
}

// NotSupported reports a value outside a list of allowed values, which are printed in the given order.
func NotSupported(p Path, value any, allowed ...string) *Error {
	detail := ""
	if len(allowed) > 0 {
		quoted := make([]string, len(allowed))
		for i, a := range allowed {
			quoted[i] = strconv.Quote(a)
		}
		detail = "supported values: " + strings.Join(quoted, ", ")
	}
	return &Error{Type: TypeNotSupported, Field: p, Value: value, Detail: detail}
}

// Forbidden reports a value that may not be set, or not be changed, here.
func Forbidden(p Path, detail string) *Error {
	return &Error{Type: TypeForbidden, Field: p, Detail: detail}
}

// TooLong reports a string of more than limit bytes.
func TooLong(p Path, limit int) *Error {
	if limit < 0 { // a schema may have one
		return &Error{Type: TypeTooLong, Field: p, Detail: "value is too long"}
	}
	return &Error{Type: TypeTooLong, Field: p, Detail: "may not be more than " + count(limit, "byte")}
}

// TooLongCharacters is TooLong for a limit that counts characters.
func TooLongCharacters(p Path, limit int) *Error {
	return &Error{Type: TypeTooLong, Field: p, Detail: "may not be more than " + count(limit, "character")}
}

// TooMany reports a list of actual items where limit are allowed.
func TooMany(p Path, actual, limit int) *Error {
	if limit < 0 {
		return &Error{Type: TypeTooMany, Field: p, Value: actual, Detail: "has too many items"}
	}
	return &Error{Type: TypeTooMany, Field: p, Value: actual, Detail: "must have at most " + count(limit, "item")}
}

// Internal reports a failure of the server while it looked at the field.
func Internal(p Path, err error) *Error {
	return &Error{Type: TypeInternal, Field: p, Detail: err.Error()}
}

func count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

// Text returns the list as one text: a single error bare, several as [e1, e2], repeated texts once.
// Status messages of reason Invalid end in it.
func (l ErrorList) Text() string {
	texts := make([]string, len(l))
	for i, e := range l {
		texts[i] = e.Error()
	}
	return Aggregate(texts)
}

// Aggregate prints several errors as one: a single one bare, several as [e1, e2], repeated texts once
// (k8s.io/apimachinery/pkg/util/errors.Aggregate).
func Aggregate(texts []string) string {
	seen := make(map[string]bool, len(texts))
	var unique []string
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			unique = append(unique, text)
		}
	}
	if len(unique) == 1 {
		return unique[0]
	}
	return "[" + strings.Join(unique, ", ") + "]"
}
