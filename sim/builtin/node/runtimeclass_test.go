package node

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestRuntimeClass(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "runtimeclasses.node.k8s.io")
	obj, errs := r.Create(`{'handler':'h','scheduling':{'nodeSelector':{'beta.kubernetes.io/os':'x'}}}`)
	is.Equal(errs, "")
	is.Equal(r.Warnings, []string{`scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead`})
	_, errs = r.Update(obj, `{'handler':'i'}`, "")
	is.Equal(errs, `handler: Invalid value: "i": field is immutable`)
	_, errs = r.Create(`{'handler':'','scheduling':{'tolerations':[{'key':'a','operator':'Exists'},{'key':'a','operator':'Exists'}]}}`)
	is.True(strings.HasPrefix(errs, "handler: Required value\nscheduling.tolerations[1]: Duplicate value: {"))
}
