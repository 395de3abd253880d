package selector

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestParseFields(t *testing.T) {
	tests := []struct{ text, want, err string }{
		{"", "", ""},
		{",,", "", ""},
		{"=", "", ""},
		{"b=1,a==2,c!=3", "a=2,b=1,c!=3", ""},
		{"a=", "a=", ""},
		{`a=x\,y\=z\\`, `a=x\,y\=z\\`, ""},
		{"foo", "", "invalid selector: 'foo'; can't understand 'foo'"},
		{"a=1,foo", "", "invalid selector: 'a=1,foo'; can't understand 'foo'"},
		{"a=b=c", "", "invalid field selector: unescaped character in value: 61"},
		{`a=\b`, "", `invalid field selector: invalid escape sequence: \b`},
		{`a=b\`, "", `invalid field selector: invalid escape sequence: \`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			is := is.New(t)
			f, err := ParseFields(tt.text)
			if tt.err != "" {
				is.True(err != nil)           // is refused
				is.Equal(err.Error(), tt.err) // error to the letter
				return
			}
			is.NoErr(err)                      // can be read
			is.Equal(f.String(), tt.want)      // sorted
			is.Equal(f.Empty(), tt.want == "") // empty selects everything
		})
	}
}

// TestFieldsMatchNaively enumerates pairs of terms over two fields and all small objects.
func TestFieldsMatchNaively(t *testing.T) {
	is := is.New(t)
	values := []string{"", "x", "a,b", "c=d", `e\`}
	escape := func(s string) string {
		var b strings.Builder
		for _, c := range s {
			if strings.ContainsRune(`\,=`, c) {
				b.WriteByte('\\')
			}
			b.WriteRune(c)
		}
		return b.String()
	}
	type term struct {
		label, op, value string
	}
	var terms []term
	for _, label := range []string{"a", "b"} {
		for _, op := range []string{"=", "==", "!="} {
			for _, v := range values {
				terms = append(terms, term{label, op, v})
			}
		}
	}
	for _, x := range terms {
		for _, y := range terms {
			f, err := ParseFields(x.label + x.op + escape(x.value) + "," + y.label + y.op + escape(y.value))
			is.NoErr(err) // can be read
			for _, a := range values {
				for _, b := range values {
					object := map[string]string{"a": a, "b": b}
					want := (object[x.label] == x.value) == (x.op != "!=") && (object[y.label] == y.value) == (y.op != "!=")
					if f.Matches(func(label string) string { return object[label] }) != want {
						t.Fatalf("%s on %q %q: %v", f, a, b, !want)
					}
				}
			}
		}
	}
}

func TestFieldsTransform(t *testing.T) {
	is := is.New(t)
	f, err := ParseFields("drop=1,old!=2,keep=3")
	is.NoErr(err) // can be read
	got, err := f.Transform(func(label, value string) (string, string, error) {
		switch label {
		case "drop":
			return "", "", nil
		case "old":
			return "new", value, nil
		}
		return label, value, nil
	})
	is.NoErr(err)                                // all labels are known
	is.Equal(got.String(), "keep=3,new!=2")      // renamed and dropped
	is.Equal(f.String(), "drop=1,keep=3,old!=2") // f is as it was
	unknown := errors.New("field label not supported: drop")
	_, err = f.Transform(func(string, string) (string, string, error) { return "", "", unknown })
	is.Equal(err, unknown) // the error of the resource
}

func TestFieldsRequiresExact(t *testing.T) {
	is := is.New(t)
	f, err := ParseFields("a!=0,a=1,b!=2")
	is.NoErr(err) // can be read
	value, ok := f.RequiresExact("a")
	is.True(ok)          // one term asks for a value
	is.Equal(value, "1") // this one
	_, ok = f.RequiresExact("b")
	is.True(!ok) // another value than 2 is not one value
}

func FuzzFields(f *testing.F) {
	for _, s := range []string{"", "a=b", "a!=b,c==d", `a=\,\=\\`, "=,!=", "a!b=c", `\,=x`, "a=b=c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		is := is.New(t)
		s, err := ParseFields(text)
		if err != nil {
			return
		}
		again, err := ParseFields(s.String())
		is.NoErr(err) // printed selectors can be parsed
		order := func(a, b FieldRequirement) int { return strings.Compare(a.String(), b.String()) }
		want := slices.SortedFunc(slices.Values(s.requirements), order)
		got := slices.SortedFunc(slices.Values(again.requirements), order)
		is.True(slices.Equal(got, want)) // and means the same
	})
}
