// Package field implements errors of single fields of an object, in the wording of the API server, and the rules for
// names, labels and other formats that many fields share.
//
//	Error{Invalid, spec.replicas, -1, "must be greater than or equal to 0"}
//	  Error()      spec.replicas: Invalid value: -1: must be greater than or equal to 0
//	  ErrorBody()  Invalid value: -1: must be greater than or equal to 0          (the message of a Status cause)
//	  Type         FieldValueInvalid                                              (the reason of a Status cause)
//
// The texts are exactly those of k8s.io/apimachinery's validation/field of v1.36.
package field

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ErrorType is the machine-readable type of an Error, which is the reason of a cause in Status.details.
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

// Omit is a special value of an Error: the error text then contains no value.
var Omit = omit{}

type omit struct{}

// Raw is a value that is printed unchanged, without quotes or JSON encoding.
type Raw string

// Named is a string that has a named type in the real server. It is printed as JSON, which differs from a quoted Go string in
// control characters and in <, > and &.
type Named string

// Error is a problem with a field.
type Error struct {
	Type   ErrorType
	Field  Path
	Value  any
	Detail string

	// Declared marks an error of a rule that the real server declares as a tag on a type (declarative validation). Such errors
	// follow all others.
	Declared bool
	// Around marks an error of a rule on the enclosing struct; see Cursor.Discriminated.
	Around bool
}

// Error returns the complete text, which contains the field, the type of the error, the value and the detail.
func (e *Error) Error() string { return e.Field.String() + ": " + e.ErrorBody() }

// ErrorBody returns the text without the field, which is the message of a cause in Status.details.
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

// valueText formats an invalid value: a string like a quoted Go string, a number or boolean without quotes, and anything else as
// JSON.
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
	if err := enc.Encode(v); err != nil { // only values that are not from JSON, such as functions
		return fmt.Sprintf("%#v", v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// tag marks the errors of a rule with Error.Declared and Error.Around.
type tag struct{ declared, around bool }

// word changes an error to the wording of a tag: a required error has no detail, an immutable error has no value, and the length of a
// name is in bytes (k8s.io/apimachinery/pkg/api/validate/content.MaxLenError).
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
	case strings.HasPrefix(strings.TrimPrefix(e.Detail, "prefix: "), noMoreThan):
		e.Detail = strings.Replace(e.Detail, inCharacters, inBytes, 1)
	}
	return e
}

// ErrorList contains the errors of an object, in the order in which they were found.
type ErrorList []*Error

// NotFound returns the error for a value that refers to something that does not exist.
func NotFound(p Path, value any) *Error { return &Error{Type: TypeNotFound, Field: p, Value: value} }

// Required returns the error for a missing value.
func Required(p Path, detail string) *Error {
	return &Error{Type: TypeRequired, Field: p, Detail: detail}
}

// Duplicate returns the error for a value that occurs more than once.
func Duplicate(p Path, value any) *Error { return &Error{Type: TypeDuplicate, Field: p, Value: value} }

// Invalid returns the error for a value that breaks a rule. The detail states the rule.
func Invalid(p Path, value any, detail string) *Error {
	return &Error{Type: TypeInvalidValue, Field: p, Value: value, Detail: detail}
}

// TypeInvalid returns the error for a value of the wrong type.
func TypeInvalid(p Path, value any, detail string) *Error {
	return &Error{Type: TypeTypeInvalid, Field: p, Value: value, Detail: detail}
}

// NotSupported returns the error for a value that is not in the list of allowed values. They are printed in the given
// order.
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

// Forbidden returns the error for a field that must not be set or changed.
func Forbidden(p Path, detail string) *Error {
	return &Error{Type: TypeForbidden, Field: p, Detail: detail}
}

// TooLong returns the error for a string of more than limit bytes.
func TooLong(p Path, limit int) *Error {
	if limit < 0 { // the limit in a schema may be negative
		return &Error{Type: TypeTooLong, Field: p, Detail: "value is too long"}
	}
	return &Error{Type: TypeTooLong, Field: p, Detail: "may not be more than " + count(limit, "byte")}
}

// TooLongCharacters is like TooLong, but counts characters.
func TooLongCharacters(p Path, limit int) *Error {
	return &Error{Type: TypeTooLong, Field: p, Detail: "may not be more than " + count(limit, "character")}
}

// TooMany returns the error for a list that has actual items although at most limit items are allowed.
func TooMany(p Path, actual, limit int) *Error {
	if limit < 0 {
		return &Error{Type: TypeTooMany, Field: p, Value: actual, Detail: "has too many items"}
	}
	return &Error{Type: TypeTooMany, Field: p, Value: actual, Detail: "must have at most " + count(limit, "item")}
}

// Internal returns the error for an internal error that occurred while the field was being checked.
func Internal(p Path, err error) *Error {
	return &Error{Type: TypeInternal, Field: p, Detail: err.Error()}
}

func count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

// Text returns the errors as one message. A single error is returned unchanged, and several are formatted as [e1, e2] without
// repeated texts. Status messages with the reason Invalid end with this text.
func (l ErrorList) Text() string {
	texts := make([]string, len(l))
	for i, e := range l {
		texts[i] = e.Error()
	}
	return Aggregate(texts)
}

// Aggregate combines several error texts. A single text is returned unchanged, and several are formatted as [e1, e2] without
// repetitions (k8s.io/apimachinery/pkg/util/errors.Aggregate).
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
