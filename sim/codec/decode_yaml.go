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

// DecodeYAML reads the first document of a YAML text like DecodeJSON. Repeated keys are one strict error, the first
// one, with the text of the YAML library: StrictError takes it as it is, Warnings takes it apart.
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

// YAMLToJSON returns the first document of a YAML text as JSON; the last of repeated keys wins.
func YAMLToJSON(data []byte) ([]byte, error) { return yaml.YAMLToJSON(data) }

// Answered reads an object that another server has answered with: JSON, or YAML if it does not begin as an object of
// JSON does. Only its kind and apiVersion are checked.
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
	if !ok { // null
		m = map[string]any{}
	}
	return m, nil
}

// answerJSON returns the text of an answer as JSON, and the kind that it names.
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

// everywhere are the kinds that a typed client knows in every group and version, inEachVersion those in each version that it
// has of a group (apimachinery, meta/v1.AddToGroupVersion).
var (
	everywhere    = []string{"Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"}
	inEachVersion = []string{"WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions"}
)

// AnsweredAs reads an answer as the kind want with the structure t, as a typed client does: an answer without a kind is of the
// kind that was asked for, and one of another kind is an error. versions are the versions that the client knows of the kind;
// the answer may not be of another than want.
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

// repeatedKeys returns the error of the YAML library about repeated keys.
func repeatedKeys(data []byte) []string {
	if _, err := yaml.YAMLToJSONStrict(data); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// StrictError returns the error text for strict errors under fieldValidation=Strict.
func StrictError(strict []string) string {
	return "strict decoding error: " + strings.Join(strict, ", ")
}

// Warnings returns the warnings for strict errors under fieldValidation=Warn: one for each, and one for each line of the YAML
// library.
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

// Level is the treatment of unknown and repeated fields: the fieldValidation parameter.
type Level int

const (
	Ignore Level = iota // dropped in silence
	Warn                // dropped with a warning for each
	Strict              // refused
)

// ParseLevel reads fieldValidation. Empty means Warn.
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

// JSONToYAML turns JSON into YAML, with the fields in the order of their names.
func JSONToYAML(data []byte) ([]byte, error) { return yaml.JSONToYAML(data) }
