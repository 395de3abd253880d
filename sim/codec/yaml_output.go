package codec

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/sim/status"
)

// Body returns the response body in format f for b, which is compact JSON without a final newline. The body is compact JSON with a
// newline, indented JSON without one, YAML with sorted keys, or CBOR. For protobuf, Body returns b. It does not change b. YAML has no
// control characters: if a string contains one, the body is that of the error.
func Body(b []byte, f Format) []byte {
	switch {
	case f.Media == Protobuf:
		return b
	case f.Media == YAML:
		out, _ := toYAML(b)
		return out
	case f.Media == CBOR:
		return f.cbor.FromJSON(b, f.schema)
	case f.Pretty:
		var out bytes.Buffer
		out.Grow(len(b) + len(b)/2)
		if json.Indent(&out, b, "", "  ") == nil {
			return out.Bytes()
		}
	}
	return append(b[:len(b):len(b)], '\n')
}

// In returns the text in the format f, like Body, and the error if its body is that of an error.
func (t Text) In(f Format) (Text, *status.Status) {
	switch {
	case f.Media == Protobuf:
		return t, nil
	case f.Media == YAML:
		out, failed := toYAML(t.Bytes())
		return TextOf(out), failed
	case f.Media == CBOR, f.Pretty:
		return TextOf(Body(t.Bytes(), f)), nil
	}
	return append(t, PieceOf(newline)), nil
}

var newline = []byte{'\n'}

// toYAML converts JSON to YAML, or returns an error and its YAML.
func toYAML(b []byte) (out []byte, failed *status.Status) {
	out, err := yaml.JSONToYAML(b)
	if err != nil {
		failed = status.Plain("%s", err)
		out, _ = yaml.JSONToYAML(failed.JSON())
	}
	return out, failed
}
