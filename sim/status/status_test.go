package status

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

func TestJSONIsObject(t *testing.T) {
	for _, s := range []*Status{
		NotFound(Resource{"apps", "deployments"}, "x"),
		NoResource(),
		Success(Resource{"", "configmaps"}, "a", "u"),
		TooLargeResourceVersion(9, 3, 1),
		Invalid(Resource{"", "Pod"}, "p", field.ErrorList{field.Required(field.Root("spec"), ""), field.Invalid(field.Root("a"), "<b>", "no")}),
		{Code: 410, Reason: ReasonExpired, Message: "m", Continue: "tok"},
		Internal(errors.New("x")),
		Created(),
	} {
		is := is.New(t)
		got, err := object.Parse(s.JSON())
		is.NoErr(err) // the printed form is JSON
		is.Equal(got.String("message"), s.Message)
		is.Equal(got.String("reason"), string(s.Reason))
		is.Equal(got.Int64("code"), int64(s.Code))
		is.Equal(got.Has("details"), s.Details != nil)
	}
}

func TestKeyOrder(t *testing.T) {
	is := is.New(t)
	is.Equal(string(NotFound(Resource{"apps", "deployments"}, "x").JSON()),
		`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"deployments.apps \"x\" not found",`+
			`"reason":"NotFound","details":{"name":"x","group":"apps","kind":"deployments"},"code":404}`) // as the server prints it
}

func TestInvalidTexts(t *testing.T) {
	is := is.New(t)
	kind := Resource{"apps", "Deployment"}
	one := field.ErrorList{field.Invalid(field.Root("spec").Child("replicas"), int64(-1), "must be greater than or equal to 0")}
	is.Equal(Invalid(kind, "d", one).Message,
		`Deployment.apps "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`) // one error stands bare
	two := append(one, one[0], field.Forbidden(field.Root("spec").Child("x"), "no"))
	s := Invalid(kind, "d", two)
	is.Equal(s.Message,
		`Deployment.apps "d" is invalid: [spec.replicas: Invalid value: -1: must be greater than or equal to 0, spec.x: Forbidden: no]`) // repeated texts once
	is.Equal(len(s.Details.Causes), 3) // causes are not deduplicated
}
