package field

import (
	"errors"
	"testing"

	"github.com/matryer/is"
)

func TestErrorText(t *testing.T) {
	p := Root("spec").Child("containers").Index(0).Child("name")
	tests := []struct {
		err  *Error
		want string
	}{
		{Required(p, ""), "spec.containers[0].name: Required value"},
		{Required(p, "why"), "spec.containers[0].name: Required value: why"},
		{Invalid(p, "a\"b", "bad"), `spec.containers[0].name: Invalid value: "a\"b": bad`},
		{Invalid(p, int64(-1), "bad"), "spec.containers[0].name: Invalid value: -1: bad"},
		{Invalid(p, nil, "bad"), "spec.containers[0].name: Invalid value: null: bad"},
		{Invalid(p, Omit, "bad"), "spec.containers[0].name: Invalid value: bad"},
		{Invalid(p, Raw(`{"b":1,"a":2}`), "bad"), `spec.containers[0].name: Invalid value: {"b":1,"a":2}: bad`},
		{Invalid(p, Enum("<"), "bad"), `spec.containers[0].name: Invalid value: "\u003c": bad`},
		{Invalid(p, []string{"a"}, "bad"), `spec.containers[0].name: Invalid value: ["a"]: bad`},
		{NotSupported(p, "x", "a", "b"), `spec.containers[0].name: Unsupported value: "x": supported values: "a", "b"`},
		{Duplicate(p, "x"), `spec.containers[0].name: Duplicate value: "x"`},
		{NotFound(p, "x"), `spec.containers[0].name: Not found: "x"`},
		{Forbidden(p, "no"), "spec.containers[0].name: Forbidden: no"},
		{TooLong(p, 1), "spec.containers[0].name: Too long: may not be more than 1 byte"},
		{TooMany(p, 3, 2), "spec.containers[0].name: Too many: 3: must have at most 2 items"},
		{Internal(p, errors.New("oops")), "spec.containers[0].name: Internal error: oops"},
		{Invalid(Path{}, "x", "bad"), `<nil>: Invalid value: "x": bad`},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			is := is.New(t)
			is.Equal(tt.err.Error(), tt.want) // the exact text
		})
	}
}

func TestErrorListText(t *testing.T) {
	is := is.New(t)
	a, b := Required(Root("a"), ""), Required(Root("b"), "")
	is.Equal(ErrorList{a}.Text(), "a: Required value")                            // one error is bare
	is.Equal(ErrorList{a, b, a}.Text(), "[a: Required value, b: Required value]") // without repeated texts
}
