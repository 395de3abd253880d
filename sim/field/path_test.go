package field

import (
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestPath(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	is.Equal(Root("a").Child("b", "c").Index(3).Key("k").String(), "a.b.c[3][k]")                 // all kinds of steps
	is.Equal(Path{}.Child("a").String(), "a")                                                     // no dot in front
	is.Equal(Path{}.String(), "<nil>")                                                            // the object itself
	is.True(Path{}.IsRoot())                                                                      // which is the root
	is.Equal(Path{}.Key("k").Index(0).Child("c").String(), "[k][0].c")                            // the object may be a map
	is.Equal(Root("a").Index(0).Index(1).Index(2).String(), "a[0][1][2]")                         // lists in lists
	is.Equal(Root("a").Child("").Key("").String(), "a[][]")                                       // a field without a name prints like a key
	is.Equal(Root("a").Child("b", "c", "d", "e", "f", "g").String(), "a.b.c.d.e.f.g")             // more than fits
	is.Equal(Root("a").Key("b").Key("c").Key("d").Key("e").Key("f").String(), "a[b][c][d][e][f]") // also keys
}

// TestPathIsAValue extends one path twice and checks that the first result does not change.
func TestPathIsAValue(t *testing.T) {
	t.Parallel()
	for n := range 2 * maxSteps {
		is := is.New(t)
		p := Root("a")
		for i := range n {
			p = p.Child(strconv.Itoa(i))
		}
		before := p.String()
		b, c := p.Child("b"), p.Child("c")
		is.Equal(p.String(), before)                // adding to p does not change it
		is.Equal(b.String(), before+".b")           // nor the other path that was made from it
		is.Equal(c.String(), before+".c")           // which is a path of its own
		is.Equal(p.Index(7).String(), before+"[7]") // also with an index
		is.Equal(p.String(), before)                // which p does not get
	}
}

// FuzzPath compares a Path with a string that is built step by step.
func FuzzPath(f *testing.F) {
	f.Add("c0i1k2c3c4i5i6k7")
	f.Add("k0kkkkkiiiiiccccc")
	f.Fuzz(func(t *testing.T, steps string) {
		var p Path
		text := ""
		for i, c := range steps {
			name := strings.Repeat("n", i%3)
			switch c % 3 {
			case 0:
				p = p.Child(name)
				switch {
				case text == "":
					text = name
				case name == "":
					text += "[]"
				default:
					text += "." + name
				}
			case 1:
				p, text = p.Key(name), text+"["+name+"]"
			case 2:
				p, text = p.Index(i), text+"["+strconv.Itoa(i)+"]"
			}
		}
		if text == "" {
			text = "<nil>"
		}
		if p.String() != text {
			t.Fatalf("%q prints as %s, want %s", steps, p, text)
		}
	})
}
