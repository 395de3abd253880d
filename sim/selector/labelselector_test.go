package selector

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

func TestFromLabelSelector(t *testing.T) {
	tests := []struct{ json, want, err string }{
		{`{}`, "<none>", ""},
		{`{"matchLabels":{"b":"2","a":"1"}}`, "a=1,b=2", ""},
		{`{"matchLabels":{"b":"2"},"matchExpressions":[{"key":"a","operator":"In","values":["y","x"]},{"key":"c","operator":"DoesNotExist"},{"key":"d","operator":"Exists"},{"key":"e","operator":"NotIn","values":["z"]}]}`, "a in (x,y),b=2,!c,d,e notin (z)", ""},
		{`{"matchExpressions":[{"key":"a","operator":"Like"}]}`, "<error>", `"Like" is not a valid label selector operator`},
		{`{"matchExpressions":[{"key":"a","operator":"In"}]}`, "<error>", `values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty`},
		{`{"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]}`, "<error>", `values: Invalid value: ["x"]: values set must be empty for exists and does not exist`},
	}
	for _, tt := range tests {
		t.Run(tt.json, func(t *testing.T) {
			is := is.New(t)
			selector := parse(t, tt.json)
			is.Equal(FormatLabelSelector(selector), tt.want) // as printed in a column
			s, err := FromLabelSelector(selector)
			if tt.err != "" {
				is.Equal(err.Error(), tt.err) // error to the letter
				return
			}
			is.NoErr(err)                            // is valid
			is.Equal(s.Empty(), tt.want == "<none>") // {} selects everything
		})
	}
}

func TestNullLabelSelector(t *testing.T) {
	is := is.New(t)
	s, err := FromLabelSelector(nil)
	is.NoErr(err)                                                                 // is valid
	is.True(!s.Matches(nil) && !s.Empty())                                        // selects nothing
	is.Equal(FormatLabelSelector(nil), "<none>")                                  // prints like everything
	is.Equal(ValidateLabelSelector(field.Root("a"), nil, ValidateOptions{}), nil) // nothing to check
}

func TestValidateLabelSelector(t *testing.T) {
	is := is.New(t)
	selector := parse(t, `{"matchLabels":{"a":"-"},"matchExpressions":[
		{"key":"a","operator":"Like"},{"key":"b","operator":"In"},{"key":"c","operator":"Exists","values":["-"]}]}`)
	const value = `Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
	want := []string{
		"s.matchLabels: " + value,
		`s.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator`,
		"s.matchExpressions[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
		"s.matchExpressions[2].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
		"s.matchExpressions[2].values[0]: " + value,
	}
	var got []string
	for _, e := range ValidateLabelSelector(field.Root("s"), selector, ValidateOptions{}) {
		got = append(got, e.Error())
	}
	is.Equal(got, want) // errors to the letter, in order
	loose := ValidateOptions{AllowInvalidValues: true, AllowUnknownOperators: true}
	is.Equal(len(ValidateLabelSelector(field.Root("s"), selector, loose)), 3) // operator and last value pass
	is.True(HasInvalidValue(selector))                                        // the value "-"
}

func parse(t *testing.T, json string) map[string]any {
	t.Helper()
	o, err := object.Parse([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return o
}
