package lesson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Fault is what is wrong with a lesson, and where.
type Fault struct {
	Path string // in lesson.yaml, such as steps[1].check[0]
	Err  error
}

// Error says what is wrong, and in which step.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns what is wrong.
func (f *Fault) Unwrap() error { return f.Err }

// within says that an error is about a part of a field, and puts a name before its text.
func within(field, name string, err error) error {
	path := field
	var inner *Fault
	if errors.As(err, &inner) {
		path += "." + inner.Path
	}
	return &Fault{strings.ReplaceAll(path, ".[", "["), fmt.Errorf("%s: %w", name, err)}
}

// decode reads JSON strictly: a field that v does not have is a mistake.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
