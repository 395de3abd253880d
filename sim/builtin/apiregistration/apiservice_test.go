package apiregistration

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestAPIService(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "apiservices.apiregistration.k8s.io")
	obj, errs := r.Create(`{'metadata':{'name':'v1.a.b'},'spec':{'group':'a.b','version':'v1','groupPriorityMinimum':10,'versionPriority':10}}`)
	is.Equal(errs, "")
	is.Equal(r.Kind.Row(r.Ctx.Now, obj).Cells, []any{"v1.a.b", "Local", "True", "<unknown>"})
	obj, errs = r.Create(`{'metadata':{'name':'x'},'spec':{'version':'v2','groupPriorityMinimum':0,'versionPriority':2000,'service':{'name':'s'}}}`)
	is.Equal(apiServiceName(nil, obj)("x", false), []string{"must be `spec.version+\".\"+spec.group`: \"v2.\""})
	is.Equal(errs, "spec.group: Required value: only v1 may have an empty group and it better be legacy kube\n"+
		"spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000\n"+
		"spec.versionPriority: Invalid value: 2000: must be positive and less than 1000\nspec.service.namespace: Required value")
	is.Equal(obj.Int64("spec", "service", "port"), int64(443))
}
