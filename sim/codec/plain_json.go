package codec

import (
	"bytes"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// PlainJSON decodes an object from text that has the same meaning as JSON and as YAML. Most clients send such text as applied
// configurations, which the server parses as YAML. If text might have a different meaning as YAML, or has repeated keys, PlainJSON
// returns false. The caller must then use YAMLToJSON or DecodeYAML, which decode any text but take about twenty times as long.
//
// Plain text is an object on one line of ASCII, with integers that fit int64, and without escapes that YAML does not have.
func PlainJSON(data []byte) (obj object.Object, ok bool) {
	text := string(bytes.TrimSuffix(data, []byte("\n")))
	if !strings.HasPrefix(text, "{") || strings.ContainsFunc(text, isOdd) {
		return nil, false
	}
	for _, s := range yamlOnly {
		if strings.Contains(text, s) {
			return nil, false
		}
	}
	obj, strict, err := decode(text, nil)
	return obj, err == nil && len(strict) == 0 && isPlain(map[string]any(obj))
}

// isOdd reports whether a character is not printable ASCII.
func isOdd(c rune) bool { return c < ' ' || c > '~' }

// yamlOnly are strings that YAML may parse differently from JSON: escaped slashes, escaped halves of surrogate pairs, and the key
// that merges objects.
var yamlOnly = []string{`\/`, `\ud`, `\uD`, `"<<"`}

// keyMax limits the length of keys. Even if all its characters are escaped, such a key is shorter than YAML's limit of 1024 bytes.
const keyMax = 160

// integerMax is the largest number of 18 digits. All numbers up to it are integers in both JSON and YAML.
const integerMax = 999_999_999_999_999_999

// isPlain reports whether a value is written in the same way in JSON and in YAML.
func isPlain(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v { // order does not matter
			if len(key) > keyMax || !isPlain(x) {
				return false
			}
		}
	case []any:
		for _, x := range v {
			if !isPlain(x) {
				return false
			}
		}
	case int64:
		return -integerMax <= v && v <= integerMax
	case float64:
		return false
	}
	return true
}
