package core

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestServiceAccount(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "serviceaccounts")
	obj, _ := r.Create(`{'metadata':{'annotations':{'kubernetes.io/enforce-mountable-secrets':'true'}},'secrets':[{'name':'s','namespace':'x'}]}`)
	is.Equal(kindtest.Part(obj, "secrets"), "[{'name':'s'}]") // only names are kept
	is.Equal(len(r.Warnings), 1)                              // the annotation is deprecated
	r.Update(obj, `{}`, "")
	is.Equal(len(r.Warnings), 1) // warned once
}
