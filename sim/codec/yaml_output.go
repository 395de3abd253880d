package codec

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/sim/status"
)

// Body returns the response body in format f for b, which is compact JSON without a final newline. The body is compact JSON with a
// newline, indented JSON without one, YAML with sorted keys, or CBOR. For protobuf, Body returns b. It does not change b.
func Body(b []byte, f Format) []byte {
	switch {
	case f.Media == Protobuf:
		return b
	case f.Media == YAML:
		return toYAML(b)
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

// In returns the text in the format f, like Body.
func (t Text) In(f Format) Text {
	switch {
	case f.Media == Protobuf:
		return t
	case f.Media == YAML, f.Media == CBOR, f.Pretty:
		return TextOf(Body(t.Bytes(), f))
	}
	return append(t, PieceOf(newline))
}

var newline = []byte{'\n'}

// toYAML converts JSON to YAML. Some strings, such as those with control characters, cannot be converted. The response is then the
// error, as in the real server.
func toYAML(b []byte) []byte {
	out, err := yaml.JSONToYAML(b)
	if err != nil {
		out, _ = yaml.JSONToYAML(status.Plain("%s", err).JSON())
	}
	return out
}
