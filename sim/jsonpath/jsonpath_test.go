package jsonpath

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

const value = `{"name":"web","size":3,"load":2.5,"ok":true,"none":null,"a.b":"dotted","in":{"a":{"b":"deep"}},
	"list":[{"n":"one","v":1},{"n":"two","v":2.5},{"n":"three"}]}`

// TestTemplates compares with the output of client-go v0.36's util/jsonpath. Errors are preceded by "!".
func TestTemplates(t *testing.T) {
	t.Parallel()
	obj, err := object.Parse([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ template, want string }{
		{"no path", "no path"},
		{"{.name}: {.size}", "web: 3"},
		{"{.gone}", ""},
		{"{.none}", "null"},
		{"{.in}", `{"a":{"b":"deep"}}`},
		{"{.list[0].n}", "one"},
		{"{.list[-1].n}", "three"},
		{"{.list[].n}", "one"},
		{"{.list[1:].n}", "two three"},
		{"{.list[:2].n}", "one two"},
		{"{.list[0:3:2].n}", "one three"},
		{"{.list[9].n}", "! array index out of bounds: index 9, length 3"},
		{"{.list[2:1]}", "! starting index 2 is greater than ending index 1"},
		{"{.list[0:2:0]}", "! step must be > 0"},
		{"{.list[*].v}", "1 2.5"},
		{"{.list[0,2].n}", "one three"},
		{"{['name','size']}", "web 3"},
		{`{.a\.b}`, "dotted"},
		{`{['a\.b']}`, "dotted"},
		{"{.in['a.b']}", "deep"},
		{`{["name"]}`, `! parse: invalid array index "name"`},
		{"{..n}", "one two three"},
		{"{range .list[*]}{.n},{end}.", "one,two,three,."},
		{`{range .list[*]}{.n}{"\t"}{.v}{"\n"}{end}`, "one\t1\ntwo\t2.5\nthree\t\n"},
		{"{range .list[*]}{.n}", "onetwothree"},
		{"{end}", "! not in range, nothing to end"},
		{`{.list[?(@.n=="two")].v}`, "2.5"},
		{"{.list[?(@.n!='one')].n}", "two three"},
		{"{.list[?(@.v)].n}", "one two"},
		{"{.list[?(@.v>1)].n}", "! incompatible types for comparison"},
		{"{.list[?(@.v==1)].n}", "! incompatible types for comparison"},
		{"{.list[?(@.v<=1)]}", "! incompatible types for comparison"},
		{`{.list[?(@.n=="x)")].n}`, ""},
		{"{.list[?(@.n===1)]}", "! unrecognized filter operator ==="},
		{"{.name[?(@.a)]}", "! web is not array or slice and cannot be filtered"},
		{"{.name[0]}", "! string is not array or slice"},
		{"{name}", "! unrecognized identifier name"},
		{"{.name", "! parse: unclosed action"},
		{"{.list[}", "! parse: unterminated array"},
		{"{.list[x]}", "! parse: invalid array index x"},
		{"{.list[1:2:3:4]}", "! parse: invalid array index 1:2:3:4"},
		{"{.list[?(@.n}", "! parse: unterminated filter"},
		{"{.list[?(@.n)}", "! parse: unclosed array expect ]"},
		{"{....}", "! parse: invalid multiple recursive descent"},
		{"{(}", "! parse: unrecognized character in action: U+0028 '('"},
		{`{"un}`, "! parse: unterminated quoted string"},
		{"{1.2.3}", "! parse: cannot parse number 1.2.3"},
		{`{"\x"}`, `! parse: unquote string "\x" error invalid syntax`},
		{"{.size .name}", ""},
		{"{.in.a.b 'text'}", "text"},
	} {
		t.Run(x.template, func(t *testing.T) {
			is.New(t).Equal(printed(x.template, map[string]any(obj)), x.want)
		})
	}
}

func printed(template string, value any) (text string) {
	t, err := Parse(template)
	if err != nil {
		return "! parse: " + err.Error()
	}
	parts, err := t.Find(value)
	if err != nil {
		return "! " + err.Error()
	}
	for _, values := range parts {
		text += Join(values)
	}
	return text
}

func TestBounded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var deep any = "x"
	for range 14 {
		deep = []any{deep, deep}
	}
	path, err := Parse("{..[*]..[*]..[*]}")
	is.NoErr(err)
	is.True(len(path.Values(deep)) <= valuesMax) // however often it multiplies
}

func FuzzTemplate(f *testing.F) {
	const pods = `{"items":[{"metadata":{"name":"a","labels":{"x.y/z":"1"}},"spec":{"n":3}},{"metadata":{"name":"b"},"spec":{"n":-1}}]}`
	for _, template := range []string{"{.a}", "{..}", "{.a[0:1:2]}", `{.a[?(@.b=="c")]}`, "{.[", "{[-9223372036854775808]}", `{['\\`, "{.a[?(@..b)]}",
		`{range .items[?(@.spec.n>0)]}{.metadata['name','labels']}{"\n"}{end}`, `{..name} {.items[-1:0:-1]}`,
		`{.items[0].metadata.labels.x\.y/z}{$}`, "{range", "{.items[9223372036854775807]}"} {
		f.Add(template, []byte(pods))
	}
	f.Fuzz(func(_ *testing.T, template string, data []byte) {
		if value, err := object.ParseValue(data); err == nil {
			printed(template, value)
		}
	})
}
