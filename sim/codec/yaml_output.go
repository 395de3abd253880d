package codec

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/sim/status"
)

// Body returns a whole answer from b, which is compact JSON without a final newline: as it is with a newline, indented
// without one, or as YAML with sorted keys. It keeps b, and gives it back unchanged for protobuf.
func Body(b []byte, f Format) []byte {
	switch {
	case f.Media == Protobuf:
		return b
	case f.Media == YAML:
		return toYAML(b)
	case f.Pretty:
		var out bytes.Buffer
		out.Grow(len(b) + len(b)/2)
		if json.Indent(&out, b, "", "  ") == nil {
			return out.Bytes()
		}
	}
	return append(b[:len(b):len(b)], '\n')
}

// In returns the answer in the format f, as Body does.
func (t Text) In(f Format) Text {
	switch {
	case f.Media == Protobuf:
		return t
	case f.Media == YAML || f.Pretty:
		return Text{Body(t.Bytes(), f)}
	}
	return append(t, newline)
}

var newline = []byte{'\n'}

// toYAML turns JSON into YAML. Some strings, such as those with control characters, cannot be turned; the real server
// then fails to answer and prints the reason instead.
func toYAML(b []byte) []byte {
	out, err := yaml.JSONToYAML(b)
	if err != nil {
		out, _ = yaml.JSONToYAML(status.Plain("%s", err).JSON())
	}
	return out
}
