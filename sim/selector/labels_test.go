package selector

import (
	"slices"
	"strconv"
	"testing"

	"github.com/matryer/is"
)

func TestParseLabels(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{" ", ""},
		{"b=1,a", "a,b=1"},
		{"a==1", "a==1"},
		{"a=", "a="},
		{"a!=1,!b", "a!=1,!b"},
		{"x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"},
		{"in in (in,notin,in)", "in in (in,notin)"},
		{"n>4,n<9", "n>4,n<9"},
		{"a\tin\n( b )", "a in (b)"},
		{"a=1,a=2", "a=1,a=2"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			is := is.New(t)
			s, err := ParseLabels(tt.text)
			is.NoErr(err)                      // can be read
			is.Equal(s.String(), tt.want)      // sorted by key, values sorted
			is.Equal(s.Empty(), tt.want == "") // empty selects everything
		})
	}
}

func TestParseLabelsErrors(t *testing.T) {
	const value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	tests := []struct{ text, want string }{
		{"a=b=c", "found '=', expected: ',' or 'end of string'"},
		{"a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
		{"a,", "found '', expected: identifier after ','"},
		{",a", "found ',', expected: !, identifier, or 'end of string'"},
		{"!", "unable to parse requirement: found '', expected: identifier"},
		{"!a in (b)", "found 'in', expected: ',' or 'end of string'"},
		{"a in b", "unable to parse requirement: found 'b' expected: '('"},
		{"a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"},
		{"a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
		{"a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"},
		{"a=(", "unable to parse requirement: found '(', expected: identifier"},
		{"a>b", "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer"},
		{"a=-", "unable to parse requirement: values[0][a]: Invalid value: \"-\": " + value},
		{"/a", "unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be non-empty"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			is := is.New(t)
			_, err := ParseLabels(tt.text)
			is.True(err != nil)            // is refused
			is.Equal(err.Error(), tt.want) // error to the letter
		})
	}
}

// condition is a requirement as text, and as a naive function that evaluates it for a label's value and presence.
type condition struct {
	text string
	ok   func(value string, present bool) bool
}

func conditions(key string) []condition {
	list := []condition{
		{key, func(_ string, present bool) bool { return present }},
		{"!" + key, func(_ string, present bool) bool { return !present }},
	}
	for _, want := range []string{"", "x", "5"} {
		list = append(list,
			condition{key + "=" + want, func(v string, present bool) bool { return present && v == want }},
			condition{key + "==" + want, func(v string, present bool) bool { return present && v == want }},
			condition{key + "!=" + want, func(v string, present bool) bool { return !present || v != want }},
			condition{key + " in (" + want + ",9)", func(v string, present bool) bool { return present && (v == want || v == "9") }},
			condition{key + " notin (9," + want + ")", func(v string, present bool) bool { return !present || v != want && v != "9" }},
		)
	}
	return append(list,
		condition{key + ">5", func(v string, _ bool) bool { n, err := strconv.Atoi(v); return err == nil && n > 5 }},
		condition{key + "<9", func(v string, _ bool) bool { n, err := strconv.Atoi(v); return err == nil && n < 9 }},
	)
}

// TestLabelsMatchNaively enumerates pairs of requirements over two labels and all small sets of labels.
func TestLabelsMatchNaively(t *testing.T) {
	is := is.New(t)
	var sets []map[string]string
	values := []string{"absent", "", "x", "5", "7", "9"}
	for _, a := range values {
		for _, b := range values {
			set := map[string]string{"a": a, "b": b}
			for k, v := range set { // order does not matter
				if v == "absent" {
					delete(set, k)
				}
			}
			sets = append(sets, set)
		}
	}
	all := append(conditions("a"), conditions("b")...)
	half := len(all) / 2
	for i, first := range all {
		for j, second := range all {
			s, err := ParseLabels(first.text + "," + second.text)
			is.NoErr(err) // can be read
			for _, set := range sets {
				keys := []string{"a", "b"}
				v, ok := set[keys[i/half]]
				w, ok2 := set[keys[j/half]]
				if want := first.ok(v, ok) && second.ok(w, ok2); s.Matches(set) != want {
					t.Fatalf("%s on %v: %v", s, set, !want)
				}
			}
		}
	}
}

func TestFromSet(t *testing.T) {
	is := is.New(t)
	is.Equal(FromSet(map[string]string{"b": "2", "a": "1"}).String(), "a=1,b=2") // sorted
	is.True(FromSet(nil).Empty())                                                // everything
}

func TestNothing(t *testing.T) {
	is := is.New(t)
	is.True(!Nothing().Matches(nil)) // selects no object
	is.True(!Nothing().Empty())      // not everything
	is.Equal(Nothing().String(), "") // prints like everything
	is.True(Labels{}.Matches(nil))   // the zero value selects everything
}

func FuzzLabels(f *testing.F) {
	for _, s := range []string{"", "a=b", "a in (b,c),!d", "x notin (,)", "n>4,n<9", "a==b==c", "in in (in)", "!a in (b)", "a in ("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		is := is.New(t)
		s, err := ParseLabels(text)
		if err != nil {
			return
		}
		again, err := ParseLabels(s.String())
		is.NoErr(err)                                                // printed selectors can be parsed
		is.Equal(again.String(), s.String())                         // and prints the same
		is.True(slices.EqualFunc(again.requirements, s.requirements, // and means the same
			func(a, b Requirement) bool {
				return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
			}))
	})
}
