package resource

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

// TestListAttributes compares with the responses of a kube-apiserver v1.36.3 with the gate. Without it, the lists are dropped.
func TestListAttributes(t *testing.T) {
	t.Parallel()
	slice := func(attributes string) string {
		return `{"metadata":{"name":"s"},"spec":{"driver":"d.io","nodeName":"n","pool":{"name":"p","resourceSliceCount":1},"devices":[{"name":"a","attributes":{` + attributes + `}}]}}`
	}
	const at, one = "spec.devices[0].attributes", ": exactly one value must be specified"
	on := kindtest.On("1.36", map[string]bool{"DRAListTypeAttributes": true}, Kinds)
	on.Storage, on.Base = "resourceslices.resource.k8s.io", slice("")
	on.Run(t, []kindtest.Case{
		{Name: "lists", Patch: slice(`"a":{"bools":[true,false]},"b":{"ints":[1]},"c":{"strings":["x"]},"d":{"versions":["1.0.0"]}`)},
		{Name: "empty", Patch: slice(`"a":{"ints":[]}`), Want: at + "[a].ints: Invalid value: []: must not be empty if specified"},
		{Name: "version", Patch: slice(`"a":{"versions":["1.0.0","x"]}`),
			Want: at + `[a].versions[1]: Invalid value: "x": must be a string compatible with semver.org spec 2.0.0`},
		{Name: "long", Patch: slice(`"a":{"strings":["0123456789012345678901234567890123456789012345678901234567890123456789"]}`),
			Want: at + "[a].strings[0]: Too long: may not be more than 64 bytes"},
		{Name: "two", Patch: slice(`"a":{"int":1,"ints":[1,2]}`),
			Want: at + `[a]: Invalid value: {"IntValue":1,"BoolValue":null,"StringValue":null,"VersionValue":null,"IntValues":[1,2],"BoolValues":null,"StringValues":null,"VersionValues":null}` + one},
		{Name: "many", Patch: slice(`"a":{"ints":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48]},"b":{"int":1}`),
			Want: "spec.devices[0]: Invalid value: 49: the total number of attribute values must not exceed 48"},
	})
	off := kindtest.On("1.36", nil, Kinds)
	off.Storage, off.Base = on.Storage, on.Base
	off.Run(t, []kindtest.Case{{Name: "off", Patch: slice(`"a":{"ints":[1]}`), Want: at + `[a]: Invalid value: ""` + one}})
}

// TestClaimsWithoutGates checks that a server whose gates are turned off drops fields of claims.
func TestClaimsWithoutGates(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	off := kindtest.On("1.36", map[string]bool{"DRAPrioritizedList": false, "DRAAdminAccess": false, "DRAResourceClaimDeviceStatus": false}, Kinds)
	off.Storage, off.Base = "resourceclaims.resource.k8s.io", claimJSON
	off.Run(t, []kindtest.Case{
		{Name: "alternatives", Patch: claim(`"requests":[{"name":"r","firstAvailable":[{"name":"s","deviceClassName":"k"}]}]`),
			Want: "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"},
	})
	obj, errs, _ := off.Result(t, kindtest.Case{Patch: claim(`"requests":[{"name":"r","exactly":{"deviceClassName":"k","adminAccess":true}}]`)})
	is.Equal(errs, "")
	is.Equal(obj.At("spec", "devices").Objects("requests")[0].Has("exactly", "adminAccess"), false) // no namespace needs the label
}
