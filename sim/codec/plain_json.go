package codec

import (
	"bytes"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// PlainJSON reads an object from a text with the same value as JSON and as YAML. Most clients send such texts as applied
// configurations, which the server parses as YAML. ok is false for every text that might differ, and for one with repeated keys:
// YAMLToJSON and DecodeYAML read those, but take about twenty times as long.
//
// Plain is an object on one line, of ASCII, with integers that fit int64, without the escapes that YAML does not have.
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

// isOdd reports whether a character is not a printable one of ASCII.
func isOdd(c rune) bool { return c < ' ' || c > '~' }

// yamlOnly are parts of texts that YAML may read otherwise than JSON: a slash and halves of surrogate pairs that are escaped, and the
// key that merges objects.
var yamlOnly = []string{`\/`, `\ud`, `\uD`, `"<<"`}

// keyMax is less than the length beyond which YAML does not see a key (1024 bytes of text), be all its characters escaped.
const keyMax = 160

// integerMax has the most digits that are an integer in both.
const integerMax = 999_999_999_999_999_999

// isPlain reports whether a value is written alike in JSON and in YAML.
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
