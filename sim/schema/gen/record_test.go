package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestWithoutProse checks that a property may be named description.
func TestWithoutProse(t *testing.T) {
	is := is.New(t)
	var schemas map[string]any
	is.NoErr(json.NewDecoder(strings.NewReader(`{"X":{"description":"a","properties":{"description":{"description":"b","type":"string"}}}}`)).Decode(&schemas))
	withoutProse(schemas)
	text, err := json.Marshal(schemas)
	is.NoErr(err)
	is.Equal(string(text), `{"X":{"properties":{"description":{"type":"string"}}}}`)
}
