package printer

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/matryer/is"
	library "sigs.k8s.io/yaml/kyaml"
)

// kyamlWords are keys and strings that YAML could read as something else, or that need escapes.
var kyamlWords = []string{"a", "", "x y", "no", "Yes", "1", "1e3", "0x1f", "11:00", "2024-01-02", "2024-1-2T3:4:5Z", ".inf", "a.b/c-d", "-a", "a-", "multi\nline",
	"multi\n  line\n", "\n", "tab\tx", "\n\tz", "é", "\x07\x1b\x00\"\\", "~", "null", "_1", "1_000", "T", "t", "f", "日本", "a\r\nb", "\u00a0x", "\n\u00a0x", "😀", "\ufeff",
	"off", "1.5", "<>&"}

// kyamlValue returns a random JSON value.
func kyamlValue(r *rand.Rand, depth int) any {
	word := func() string { return kyamlWords[r.IntN(len(kyamlWords))] }
	switch n := r.IntN(9); {
	case n < 2 && depth < 5:
		m := map[string]any{}
		for range r.IntN(5) {
			m[word()] = kyamlValue(r, depth+1)
		}
		return m
	case n < 4 && depth < 5:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, kyamlValue(r, depth+1))
		}
		return list
	case n == 4:
		return nil
	case n == 5:
		return r.IntN(2) == 0
	case n == 6:
		return r.IntN(100000)
	}
	return word()
}

// TestKYAML compares with the library that kubectl uses. kubectl of kubesim does without it, because it has another parser of YAML.
func TestKYAML(t *testing.T) {
	is, r := is.New(t), rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		value := map[string]any{"k": kyamlValue(r, 0), "l": []any{kyamlValue(r, 1), map[string]any{"m": kyamlValue(r, 2)}}}
		text, err := json.Marshal(value)
		is.NoErr(err)
		var want bytes.Buffer
		is.NoErr((&library.Encoder{}).FromObject(value, &want))
		is.Equal(KYAML(text), want.String())
	}
}
