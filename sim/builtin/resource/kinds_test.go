package resource

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
)

const claimJSON = `{"metadata":{"name":"c","namespace":"n"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"k"}}]}}}`

// claim returns a patch with the given devices.
func claim(devices string) string { return `{"spec":{"devices":{` + devices + `}}}` }

func TestResourceClaimRules(t *testing.T) {
	const needsRequest = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	rt := kindtest.Rules{Kinds: served, Storage: "resourceclaims.resource.k8s.io", Base: claimJSON}
	rt.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "requests", Patch: claim(`"requests":[{"name":"r"},{"name":"r","exactly":{"deviceClassName":""}},{"name":"s","exactly":{},"firstAvailable":[{}]}]`),
			Want: "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required\n" +
				"spec.devices.requests[1].exactly.deviceClassName: Required value\n" +
				"spec.devices.requests[2]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set\n" +
				`spec.devices.requests[1]: Duplicate value: "r"`},
		{Name: "count", Patch: claim(`"requests":[{"name":"r","exactly":{"deviceClassName":"k","allocationMode":"All","count":1}},{"name":"s","exactly":{"deviceClassName":"k","count":-1}},{"name":"t","exactly":{"deviceClassName":"k","allocationMode":"X"}}]`),
			Want: "spec.devices.requests[0].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'\n" +
				"spec.devices.requests[1].exactly.count: Invalid value: -1: must be greater than zero\n" +
				`spec.devices.requests[2].exactly.allocationMode: Unsupported value: "X": supported values: "All", "ExactCount"`},
		{Name: "tolerations", Patch: claim(`"requests":[{"name":"r","exactly":{"deviceClassName":"k","selectors":[{}],"tolerations":[{"operator":"Exists","value":"x"},{},{"operator":"Equal","effect":"X"}]}}]`),
			Want: "spec.devices.requests[0].exactly.selectors[0].cel: Required value\n" +
				"spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: \"x\": must be empty for operator `Exists`\n" +
				`spec.devices.requests[0].exactly.tolerations[2].effect: Unsupported value: "X": supported values: "NoExecute", "NoSchedule", "None"`},
		{Name: "constraints", Patch: claim(`"constraints":[{"requests":["r","x"],"matchAttribute":"a"},{}],"requests":[{"name":"r","firstAvailable":[{"name":"s","deviceClassName":"k"}]}]`),
			Want: `spec.devices.constraints[0].requests[1]: Invalid value: "x": ` + needsRequest + "\n" +
				`spec.devices.constraints[0].matchAttribute: Invalid value: "a": a fully qualified name must be a domain and a name separated by a slash` + "\n" +
				`spec.devices.constraints[1]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`},
		{Name: "config", Patch: claim(`"config":[{},{"requests":["r/s"],"opaque":{"driver":"x_","parameters":[1]}}]`),
			Want: "spec.devices.config[0].opaque: Required value\n" + `spec.devices.config[1].requests[0]: Invalid value: "r/s": ` + needsRequest + "\n" +
				`spec.devices.config[1].opaque.driver: Invalid value: "x_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')` + "\n" +
				`spec.devices.config[1].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object`},
		{Name: "admin", Patch: claim(`"requests":[{"name":"r","exactly":{"deviceClassName":"k","adminAccess":true}}]`),
			Want: "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace"},
		{Name: "immutable", Old: `{}`, Patch: claim(`"requests":[]`),
			Want: `spec: Invalid value: {"Devices":{"Requests":[],"Constraints":null,"Config":null}}: field is immutable`},
	})
	is := is.New(t)
	rt.Stored = map[string][]object.Object{"namespaces": {kindtest.Parse(t, `{"metadata":{"name":"n","labels":{"resource.kubernetes.io/admin-access":"true"}}}`)}}
	_, errs, _ := rt.Result(t, kindtest.Case{Patch: claim(`"requests":[{"name":"r","exactly":{"deviceClassName":"k","adminAccess":true}}]`)})
	is.Equal(errs, "")                                                                                           // the label of the namespace allows it
	is.Equal(rt.Cells(t, `{"status":{"allocation":{},"reservedFor":[{}]}}`), `["c","allocated,reserved","60s"]`) // same output as the real server
}

func TestResourceClaimStatusRules(t *testing.T) {
	const result = `{"request":"r","driver":"d.io","pool":"p","device":"x"}`
	const allocated = `"allocation":{"devices":{"results":[` + result + `]}}`
	rt := kindtest.Rules{Kinds: served, Storage: "resourceclaims.resource.k8s.io", Base: claimJSON}
	rt.Run(t, []kindtest.Case{
		{Name: "allocate", Sub: "status", Old: `{}`, Patch: `{"status":{` + allocated + `,"reservedFor":[{"resource":"pods","name":"a","uid":"u"}]}}`},
		{Name: "reserve", Sub: "status", Old: `{}`, Patch: `{"status":{"reservedFor":[{"resource":"pods","name":"a","uid":"u"},{"uid":"u"}]}}`,
			Want: "status.reservedFor[1].resource: Required value\nstatus.reservedFor[1].name: Required value\n" + `status.reservedFor[1]: Duplicate value: "u"` + "\n" +
				"status.reservedFor: Forbidden: may not be specified when `allocated` is not set"},
		{Name: "reallocate", Sub: "status", Old: `{"status":{` + allocated + `}}`, Patch: `{"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d.io","pool":"q","device":"x"}]}}}}`,
			Want: `status.allocation: Invalid value: {"Devices":{"Results":[{"Request":"r","Driver":"d.io","Pool":"q","Device":"x","AdminAccess":null,"Tolerations":null,"BindingConditions":null,"BindingFailureConditions":null,"ShareID":null,"ConsumedCapacity":null}],"Config":null},"NodeSelector":null,"AllocationTimestamp":null}: field is immutable`},
		{Name: "result", Sub: "status", Old: `{}`, Patch: `{"status":{"allocation":{"devices":{"results":[{"request":"x","driver":"","pool":"","device":"d"}],"config":[{"source":"X","opaque":{"driver":"d","parameters":{}}}]}}}}`,
			Want: `status.allocation.devices.results[0].request: Invalid value: "x": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'` + "\n" +
				"status.allocation.devices.results[0].driver: Required value\nstatus.allocation.devices.results[0].pool: Required value\n" +
				`status.allocation.devices.config[0].source: Unsupported value: "X": supported values: "FromClaim", "FromClass"`},
		{Name: "device", Sub: "status", Old: `{}`, Patch: `{"status":{` + allocated + `,"devices":[{"driver":"d.io","pool":"p","device":"y","networkData":{"ips":["1.2.3.4"]}}]}}`,
			Want: `status.devices[0]: Invalid value: {"Driver":"d.io","Pool":"p","Device":"y","ShareID":""}: must be an allocated device in the claim` + "\n" +
				`status.devices[0].networkData.ips[0]: Invalid value: "1.2.3.4": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)`},
	})
	is := is.New(t)
	obj, _, _ := rt.Result(t, kindtest.Case{Sub: "status", Old: `{"status":{` + allocated + `,"devices":[` + result + `]}}`, Patch: `{"status":{"devices":[` + result + `]}}`})
	is.True(!obj.Has("status", "devices")) // the status is removed with the device
}

func TestResourceClaimTemplateRules(t *testing.T) {
	kindtest.Rules{Kinds: served, Storage: "resourceclaimtemplates.resource.k8s.io", Base: `{"metadata":{"name":"t","namespace":"n"},"spec":` + claimJSON + `}`}.Run(t, []kindtest.Case{
		{Name: "metadata", Want: "spec.metadata.name: Forbidden: cannot be set\nspec.metadata.namespace: Forbidden: cannot be set"},
		{Name: "claim", Patch: `{"spec":{"metadata":{"name":null,"namespace":null,"labels":{"a":"-"}},"spec":{"devices":{"requests":[{"name":"r"}]}}}}`,
			Want: `spec.metadata.labels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')` + "\n" +
				"spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"},
	})
}

func TestDeviceClassRules(t *testing.T) {
	kindtest.Rules{Kinds: served, Storage: "deviceclasses.resource.k8s.io", Base: `{"metadata":{"name":"c"},"spec":{}}`}.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "parts", Patch: `{"spec":{"selectors":[{}],"config":[{}],"extendedResourceName":"cpu"}}`,
			Want: "spec.selectors[0].cel: Required value\nspec.config[0].opaque: Required value\n" +
				`spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name`},
	})
}

func TestResourceSliceRules(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "resourceslices.resource.k8s.io", Base: `{"metadata":{"name":"s"},"spec":{"driver":"d.io","nodeName":"n","pool":{"name":"p","resourceSliceCount":1},"devices":[{"name":"x"}]}}`}
	device := func(d string) string { return `{"spec":{"devices":[` + d + `]}}` }
	rt.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "pool", Patch: `{"spec":{"driver":"","pool":{"name":"","resourceSliceCount":0,"generation":-1}}}`,
			Want: "spec.driver: Required value\nspec.pool.name: Required value\nspec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero\n" +
				"spec.pool.generation: Invalid value: -1: must be greater than or equal to zero"},
		{Name: "no nodes", Patch: `{"spec":{"nodeName":null,"allNodes":false}}`,
			Want: "spec.allNodes: Invalid value: false: must be either unset or set to true\n" +
				"spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"},
		{Name: "two nodes", Patch: `{"spec":{"allNodes":true}}`,
			Want: "spec: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set"},
		{Name: "immutable", Old: `{}`, Patch: `{"spec":{"driver":"e.io","pool":{"name":"q"},"nodeName":"m"}}`,
			Want: `spec.pool.name: Invalid value: "q": field is immutable` + "\n" + `spec.driver: Invalid value: "e.io": field is immutable` + "\n" + `spec.nodeName: Invalid value: "m": field is immutable`},
		{Name: "attributes", Patch: device(`{"name":"x","attributes":{"a":{},"b":{"int":1,"bool":true},"c-":{"version":"1.0"},"d.io/e":{"string":"s"}}}`),
			Want: `spec.devices[0].attributes[a]: Invalid value: "": exactly one value must be specified` + "\n" +
				`spec.devices[0].attributes[b]: Invalid value: {"IntValue":1,"BoolValue":true,"StringValue":null,"VersionValue":null,"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly one value must be specified` + "\n" +
				`spec.devices[0].attributes: Invalid value: "c-": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')` + "\n" +
				`spec.devices[0].attributes[c-].version: Invalid value: "1.0": must be a string compatible with semver.org spec 2.0.0`},
		{Name: "taints", Patch: device(`{"name":"x","taints":[{"key":"","effect":"X"}],"consumesCounters":[{"counterSet":"c"}],"nodeName":"n"}`),
			Want: `spec.devices[0].taints[0].key: Invalid value: "": name part must be non-empty` + "\n" +
				`spec.devices[0].taints[0].key: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')` + "\n" +
				`spec.devices[0].taints[0].effect: Unsupported value: "X": supported values: "NoExecute", "NoSchedule", "None"` + "\n" +
				"spec.devices[0].consumesCounters[0].counters: Required value\n" +
				"spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"},
		{Name: "bindings", Patch: device(`{"name":"x","bindingConditions":["a"]},{"name":"x"}`),
			Want: "spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions\n" +
				`spec.devices[1]: Duplicate value: "x"`},
		{Name: "capacity", Patch: device(`{"name":"x","allowMultipleAllocations":true,"capacity":{"m":{"value":"10","requestPolicy":{"default":"3","validRange":{"min":"2","step":"2","max":"11"}}}}},{"name":"y","capacity":{"m":{"value":"1","requestPolicy":{}}}}`),
			Want: `spec.devices[0].capacity[m].requestPolicy.validRange.max: Invalid value: "11": max is larger than capacity value: 10` + "\n" +
				`spec.devices[0].capacity[m].requestPolicy.validRange.step: Invalid value: "3": value is not a multiple of a given step (2) from (2)` + "\n" +
				`spec.devices[0].capacity[m].requestPolicy.validRange.step: Invalid value: "11": value is not a multiple of a given step (2) from (2)` + "\n" +
				"spec.devices[1].capacity[m].requestPolicy: Forbidden: allowMultipleAllocations must be true"},
		{Name: "values", Patch: device(`{"name":"x","allowMultipleAllocations":true,"capacity":{"m":{"value":"10","requestPolicy":{"default":"3","validValues":["4","2","2"]}}}}`),
			Want: `spec.devices[0].capacity[m].requestPolicy.validValues[1]: Invalid value: "2": values must be sorted in ascending order` + "\n" +
				`spec.devices[0].capacity[m].requestPolicy.validValues[2]: Duplicate value: "2"` + "\n" +
				`spec.devices[0].capacity[m].requestPolicy.validValues: Invalid value: "3": default value is not valid according to the requestPolicy`},
	})
	rt.Warns(t, []kindtest.Case{{Name: "case", Patch: `{"spec":{"driver":"D.io"}}`, Want: `spec.driver: driver names should be lowercase; "D.io" contains uppercase characters`}})
	is := is.New(t)
	is.Equal(rt.Cells(t, `{}`), `["s","n","d.io","p","60s"]`) // same output as the real server
	obj, _, _ := rt.Result(t, kindtest.Case{Patch: device(`{"name":"x","taints":[{"key":"k","effect":"None"}],"nodeAllocatableResourceMappings":{"cpu":{}},"attributes":{"a":{"ints":[1],"int":2}}}`)})
	is.Equal(string(object.JSON(obj.List("spec", "devices"))), // gated fields are dropped, and taints get a time
		`[{"attributes":{"a":{"int":2}},"name":"x","taints":[{"effect":"None","key":"k","timeAdded":"2026-01-02T03:04:05Z"}]}]`)
}

// TestShapesOfResource runs every rule on objects with missing values.
func TestShapesOfResource(t *testing.T) {
	for _, rt := range []kindtest.Rules{
		{Kinds: served, Storage: "resourceclaims.resource.k8s.io", Base: claimJSON},
		{Kinds: served, Storage: "resourceclaimtemplates.resource.k8s.io", Base: `{"metadata":{"name":"t"},"spec":` + claimJSON + `}`},
		{Kinds: served, Storage: "resourceslices.resource.k8s.io", Base: `{"metadata":{"name":"s"},"spec":{"pool":{"name":"p"},"devices":[{"name":"x","attributes":{"a":{"int":1}},"capacity":{"m":{"value":"1","requestPolicy":{"validRange":{"min":"1","step":"0"}}}},"taints":[{}],"consumesCounters":[{}]}],"nodeSelector":{"nodeSelectorTerms":[{}]}}}`},
		{Kinds: served, Storage: "deviceclasses.resource.k8s.io", Base: `{"metadata":{"name":"c"},"spec":{"selectors":[{}],"config":[{}]}}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}

// TestDriverNamesByTags checks names that the tags of 1.37 accept and the handwritten validation rejects.
func TestDriverNamesByTags(t *testing.T) {
	rt := kindtest.On("1.37", nil, Kinds)
	rt.Storage, rt.Base = "resourceclaims.resource.k8s.io", claimJSON
	const at, capitals = "spec.devices.config[0].opaque.driver: ", " subdomain must consist of "
	config := func(driver string) string {
		return claim(`"config":[{"opaque":{"driver":"` + driver + `","parameters":{}}}]`)
	}
	found := func(driver string) string {
		_, errs, _ := rt.Result(t, kindtest.Case{Patch: config(driver)})
		return errs
	}
	is := is.New(t)
	is.Equal(found("\u212a.io"), "")                                                                        // the Kelvin sign counts as a k for both rules
	is.True(strings.HasPrefix(found("ſ.io"), at+`Invalid value: "ſ.io": a lowercase RFC 1123`+capitals))    // the tag takes it for an s
	is.True(strings.HasPrefix(found("İ.io"), at+`Invalid value: "İ.io": an RFC 1123`+capitals))             // the tag does not take it for an i
	is.Equal(found(strings.Repeat("\u212a", 22)), at+"Too long: may not be more than 63 bytes")             // of 22 characters
	is.Equal(found(strings.Repeat("A", 64)), at+"Too long: may not be more than 63 characters")             // one complaint
	is.Equal(strings.Count(found(strings.Repeat("é", 40)), at), 2)                                          // bytes, and letters
	is.True(strings.Contains(found(strings.Repeat("é", 40)), at+"Too long: may not be more than 63 bytes")) // by the handwritten rule
}
