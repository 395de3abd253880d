package discovery

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestEndpointSlice(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "endpointslices.discovery.k8s.io")
	obj, errs := r.Create(`{'addressType':'IPv4','endpoints':[{'addresses':['10.0.0.1'],'deprecatedTopology':{'a':'b'}}],'ports':[{'port':80}]}`)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj), `{'addressType':'IPv4','endpoints':[{'addresses':['10.0.0.1']}],'ports':[{'name':'','port':80,'protocol':'TCP'}]}`)
	is.Equal(r.Kind.Row(r.Ctx.Now, obj).Cells[1:4], []any{"IPv4", "80", "10.0.0.1"})
	_, errs = r.Update(obj, `{'addressType':'IPv6','endpoints':[{'addresses':['10.0.0.1']},{}],'ports':[{},{}]}`, "")
	is.Equal(errs, "ports[1].name: Duplicate value: \"\"\n"+
		"endpoints[0].addresses: Invalid value: \"10.0.0.1\": must be an IPv6 address\n"+
		"endpoints[1].addresses: Required value: must contain at least 1 address\n"+
		"addressType: Invalid value: \"IPv6\": field is immutable")
	_, errs = r.Create(`{'endpoints':[{'addresses':['a.b'],'hints':{'forZones':[{'name':'a'},{'name':'a'}]}}]}`)
	is.Equal(errs, "addressType: Required value\nendpoints[0].hints.forZones[1].name: Duplicate value: \"a\"")
	r.Create(`{'addressType':'FQDN','endpoints':[{'addresses':['a.b']}]}`)
	is.Equal(r.Warnings, []string{"spec.addressType: FQDN endpoints are deprecated"})
}
