package trouble

import (
	"strings"
	"testing"
)

// FuzzParse checks that the text form of a parsed disturbance is parsed to the same disturbance.
func FuzzParse(f *testing.F) {
	for _, k := range Kinds {
		f.Add(k.Example)
	}
	f.Add("unready 1 -5m")
	f.Add("lag 99999999999999999999 pods")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Fields(line)
		if len(words) == 0 {
			return
		}
		k := Find(words[0])
		if k == nil {
			return
		}
		x, err := k.Parse(words[1:])
		if err != nil {
			return
		}
		again, err := parse(x.String())
		if err != nil || again.String() != x.String() {
			t.Fatalf("%q is printed as %q, which is read as %q, %v", line, x, again, err)
		}
	})
}
