package codec

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// DecodeYAML decodes the first document of a YAML stream like DecodeJSON. The first strict error contains all repeated keys, in the
// wording of the YAML library. StrictError uses it unchanged; Warnings splits it into lines.
func DecodeYAML(data []byte, t *schema.Type) (obj object.Object, strict []string, err error) {
	text, err := YAMLToJSON(data)
	if err != nil {
		return nil, nil, err
	}
	obj, strict, err = DecodeJSON(text, t)
	if err != nil {
		return nil, nil, err
	}
	return obj, append(repeatedKeys(data), strict...), nil
}

// YAMLToJSON converts the first document of a YAML stream to JSON. If a key is repeated, the last value is used.
func YAMLToJSON(data []byte) ([]byte, error) { return yaml.YAMLToJSON(data) }

// YAMLToJSONStrict is like YAMLToJSON, but returns an error for a repeated key.
func YAMLToJSONStrict(data []byte) ([]byte, error) { return yaml.YAMLToJSONStrict(data) }

// Answered decodes an object in another server's response. The response is JSON, or YAML if it does not begin with "{". Answered
// validates only kind and apiVersion; other fields may have any type. It decodes null as an empty object.
func Answered(data []byte) (object.Object, error) {
	data, _, err := answerJSON(data)
	if err != nil {
		return nil, err
	}
	v, err := object.ParseValue(data)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok { // the response is null
		m = map[string]any{}
	}
	return m, nil
}

// answerJSON converts a response to JSON and returns the JSON and the kind in it.
func answerJSON(data []byte) ([]byte, schema.GVK, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		text, err := YAMLToJSON(data)
		if err != nil {
			return nil, schema.GVK{}, err
		}
		data = text
	}
	gvk, err := typeMeta(string(data))
	return data, gvk, err
}

// A typed client can decode the kinds in everywhere in every group and version, and the kinds in inEachVersion in each version of a
// group that it supports (apimachinery, meta/v1.AddToGroupVersion).
var (
	everywhere    = []string{"Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"}
	inEachVersion = []string{"WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions"}
)

// AnsweredAs decodes a response as kind want with structure t, like a typed client. If the response has no kind, it is assumed to
// be want; any other kind is an error. versions are the versions of the kind that the client supports. They only determine the
// message: a response in a version other than want's is always an error.
func AnsweredAs(data []byte, want schema.GVK, t *schema.Type, versions ...string) (object.Object, error) {
	text, gvk, err := answerJSON(data)
	if err != nil {
		return nil, err
	}
	gvk = withDefaults(gvk, want)
	other := ""
	switch ours := gvk.Group == want.Group && slices.Contains(versions, gvk.Version); {
	case ours && gvk.Kind == want.Kind:
		other = gvk.Version + "." + gvk.Kind
	case slices.Contains(everywhere, gvk.Kind), ours && slices.Contains(inEachVersion, gvk.Kind):
		other = "v1." + gvk.Kind
	}
	switch {
	case gvk.Version == "":
		return nil, errors.New("Object 'apiVersion' is missing in '" + string(data) + "'")
	case gvk != want && other == "":
		return nil, noKind(gvk)
	}
	if gvk != want && gvk.Kind != want.Kind {
		t = schema.NewStruct("", other, nil)
	}
	obj, _, err := DecodeJSON(text, t)
	if err == nil && gvk != want {
		err = fmt.Errorf("converting (%s) to (%s.%s): unknown conversion", other, want.Version, want.Kind)
	}
	return obj, err
}

// repeatedKeys returns the YAML library's error about repeated keys as a strict error, or nil if no key is repeated.
func repeatedKeys(data []byte) []string {
	if _, err := yaml.YAMLToJSONStrict(data); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// StrictError returns the error message for strict errors under fieldValidation=Strict.
func StrictError(strict []string) string {
	return "strict decoding error: " + strings.Join(strict, ", ")
}

// Warnings returns the warnings for strict errors under fieldValidation=Warn: one for each error, and one for each line of the YAML
// library's error.
func Warnings(strict []string) []string {
	var out []string
	for _, s := range strict {
		lines, ok := strings.CutPrefix(s, "yaml: unmarshal errors:\n")
		if !ok {
			lines, ok = strings.CutPrefix(s, "error converting YAML to JSON: yaml: unmarshal errors:\n")
		}
		if !ok {
			out = append(out, s)
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// Level determines how unknown and repeated fields are treated: the fieldValidation parameter.
type Level int

const (
	Ignore Level = iota // fields are dropped without a warning
	Warn                // fields are dropped with a warning for each
	Strict              // the request is rejected
)

// ParseLevel parses the parameter fieldValidation. An empty value is Warn. It returns false for an invalid value.
func ParseLevel(s string) (Level, bool) {
	switch s {
	case "Ignore":
		return Ignore, true
	case "", "Warn":
		return Warn, true
	case "Strict":
		return Strict, true
	}
	return Warn, false
}

// JSONToYAML converts JSON to YAML, with fields sorted by name.
func JSONToYAML(data []byte) ([]byte, error) { return yaml.JSONToYAML(data) }
