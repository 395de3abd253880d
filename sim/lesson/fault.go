package lesson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Fault is an error in a lesson, with its place.
type Fault struct {
	Path string // in lesson.yaml, such as steps[1].check[0]
	Err  error
}

// Error implements error. The text names the step.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the underlying error.
func (f *Fault) Unwrap() error { return f.Err }

// within adds a field to the path of an error, and a name before its text.
func within(field, name string, err error) error {
	path := field
	var inner *Fault
	if errors.As(err, &inner) {
		path += "." + inner.Path
	}
	return &Fault{strings.ReplaceAll(path, ".[", "["), fmt.Errorf("%s: %w", name, err)}
}

// decode parses JSON strictly: a field that v does not have is an error.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
