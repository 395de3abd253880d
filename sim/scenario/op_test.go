package scenario

import (
	"encoding/json"
	"testing"

	"github.com/matryer/is"
)

// TestOpForms checks that the text form and the JSON form are equivalent, and that both can be parsed again.
func TestOpForms(t *testing.T) {
	t.Parallel()
	for line, canonical := range map[string]string{ // order does not matter
		"get  pods a   # the first":                                "get pods a",
		"! create --dry-run -f 'a b.yaml' --as=bob":                "! create --dry-run -f 'a b.yaml' --as bob",
		"?delete cm a":                                             "? delete cm a",
		"!create cm a &":                                           "! create cm a &",
		`patch cm a -p '{"data":{"k":"it''s"}}'`:                   `patch cm a -p '{"data":{"k":"its"}}'`,
		`patch cm a -p "{\"k\":\"it's\"}"`:                         `patch cm a -p "{\"k\":\"it's\"}"`,
		`watch pods -l app=x --rv 0 --name w`:                      `watch pods -l app=x --rv 0 --name w`,
		`request GET '/api/v1/pods?limit=2' -H 'Accept: a/b'`:      `request GET /api/v1/pods?limit=2 -H 'Accept: a/b'`,
		`jump alice -5m`:                                           `jump alice -5m`,
		`expect count pods -l "a in (b)" == 2  # two`:              `expect count pods -l "a in (b)" == 2`,
		`fault on update pods where=spec.x=1 do fail Conflict # x`: `fault on update pods where=spec.x=1 do fail Conflict`,
	} {
		is := is.New(t)
		op, err := Parse(line)
		is.NoErr(err)
		is.Equal(op.String(), canonical) // the canonical form
		op.Files = map[string]string{"b": "2", "a": "1"}
		data, err := json.Marshal(op)
		is.NoErr(err)
		var again Op
		is.NoErr(json.Unmarshal(data, &again))
		is.Equal(again, op) // the JSON form is the same operation
	}
}

// TestOpErrors checks that an error contains the column, the problem and a correction.
func TestOpErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{ // order does not matter
		"":                        "column 1: there is no command; one of get, ",
		"crate cm a":              `column 1: there is no command "crate"; did you mean create?`,
		"gte cm a":                `column 1: there is no command "gte"; did you mean get?`,
		"GET /api":                `column 1: there is no command "GET"; did you mean request GET?`,
		"helm list":               `column 1: there is no command "helm"; there are kubectl, curl, get, list, watch, page, …`,
		"apply -f a --frce":       "column 12: apply has no flag --frce; did you mean --force?",
		"get":                     "column 4: get takes get RESOURCE [NAME]",
		"get pods a b":            "column 12: get takes get RESOURCE [NAME]",
		"get pods -n":             "column 10: -n needs a value: -n NAMESPACE",
		"get pods -o xml":         `column 10: -o cannot be "xml"; it is json, yaml, table, name, protobuf`,
		"get pods -n a -n b":      "column 15: -n is given twice; remove one",
		"get pods 'a":             "column 10: the quote ' has no end; put another one where the text ends",
		"list pods --limit some":  `column 22: --limit takes a number, not "some"`,
		"! tick 5m":               "column 3: !, ? and & are for requests, and tick is not a request",
		"cut two":                 `column 7: cut needs a number above zero, not "two"`,
		"tick soon":               `column 9: tick takes a duration such as 5m, next, quiet or settled; not "soon"`,
		"delete pods":             "column 12: delete needs a name; to delete all of them: --all or -l SELECTOR",
		"expect pods/a":           "column 14: after pods/a comes exists, absent, older or a comparison such as == 2",
		"expect status = 200":     "column 15: to compare, write ==",
		"expect (status 200":      "column 19: a ) is missing here",
		"eventually within x a/b": "column 19: within needs a duration such as 30s, not \"x\"",
		"let 1 = .a":              "column 5: let stores a value under a name: let T = .metadata.continue",
		"once pods/a exists":      "column 6: once needs an operation: once CONDITION do OPERATION",
		"request get /":           `column 13: a method is written in capitals, such as GET, not "get"`,
	} {
		is := is.New(t)
		_, err := Parse(line)
		is.True(err != nil) // the line is invalid
		is.Equal(err.Error()[:min(len(want), len(err.Error()))], want)
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{"get pods a -n x", `! patch cm a -p '{"a":1}' &`, `create "a\"b" --set a.b=3`, "jump a -5m",
		"expect count pods -l a=b where (.a == 1 or not .b exists) >= 2 and watch/w saw ADDED a", "let t = .metadata.continue",
		"once pods/a .metadata.deletionTimestamp exists do crash op", "eventually within 5s every pods .a[0].b[*] contains 'x y'"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		op, err := Parse(line)
		if err != nil {
			if e, ok := err.(*SyntaxError); !ok || e.Column < 1 || e.Text == "" {
				t.Fatalf("%q: an error that says nothing: %v", line, err)
			}
			return
		}
		again, err := Parse(op.String())
		if err != nil {
			t.Fatalf("%q is printed as %q, which is %v", line, op.String(), err)
		}
		if again.String() != op.String() {
			t.Fatalf("%q is printed as %q, then as %q", line, op.String(), again.String())
		}
	})
}
