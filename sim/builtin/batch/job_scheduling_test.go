package batch

import (
	"testing"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

// TestScheduling compares with responses of a kube-apiserver v1.37.2 with the gate, one rule per case.
func TestScheduling(t *testing.T) {
	t.Parallel()
	rules := kindtest.On("1.37", map[string]bool{"WorkloadWithJob": true}, Kinds)
	rules.Storage, rules.Base = "jobs.batch", storedJobJSON
	scheduling := func(fields string) string { return `{"spec":{"parallelism":2,"scheduling":{` + fields + `}}}` }
	const at, basic, gang = "spec.scheduling.", `"schedulingPolicy":{"basic":{}}`, `"schedulingPolicy":{"gang":{}}`
	rules.Run(t, []kindtest.Case{
		{Name: "a gang", Patch: scheduling(`"schedulingPolicy":{"gang":{"minCount":2}},"disruptionMode":{"all":{}},"resourceClaims":[{"name":"c","resourceClaimName":"c"}],"schedulingConstraints":{"topology":[{"key":"a.io/b"}]}`)},
		{Name: "large gang", Patch: scheduling(`"schedulingPolicy":{"gang":{"minCount":3}}`),
			Want: at + "schedulingPolicy.gang.minCount: Invalid value: 3: must not be greater than parallelism (2)"},
		{Name: "empty gang", Patch: scheduling(`"schedulingPolicy":{"gang":{"minCount":0}}`),
			Want: at + "schedulingPolicy.gang.minCount: Invalid value: 0: must be greater than or equal to 1"},
		{Name: "no policy", Patch: scheduling(`"schedulingPolicy":{}`),
			Want: at + "schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, `gang`"},
		{Name: "two policies", Patch: scheduling(`"schedulingPolicy":{"basic":{},"gang":{}}`),
			Want: at + "schedulingPolicy: Invalid value: \"{basic, gang}\": must specify exactly one of: `basic`, `gang`"},
		{Name: "all of no gang", Patch: scheduling(`"disruptionMode":{"all":{}}`),
			Want: at + "disruptionMode: Invalid value: \"\": the disruptionMode `all` is not supported with the Basic scheduling policy"},
		{Name: "no mode", Patch: scheduling(`"disruptionMode":{}`), Want: at + "disruptionMode: Invalid value: \"\": must specify one of: `single`, `all`"},
		{Name: "no key", Patch: scheduling(`"schedulingConstraints":{"topology":[{}]}`), Want: at + "schedulingConstraints.topology[0].key: Required value"},
		{Name: "two keys", Patch: scheduling(`"schedulingConstraints":{"topology":[{"key":"a"},{"key":"b"}]}`),
			Want: at + "schedulingConstraints.topology: Too many: 2: must have at most 1 item"},
		{Name: "claims", Patch: scheduling(`"resourceClaims":[{"name":"a","resourceClaimName":"x"},{"name":"a","resourceClaimTemplateName":"x"},{}]`),
			Want: at + `resourceClaims[1]: Duplicate value: {"name":"a","resourceClaimTemplateName":"x"}` + "\n" +
				at + "resourceClaims[2]: Invalid value: \"\": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`\n" +
				at + "resourceClaims[2].name: Required value"},
		{Name: "set later", Old: `{"spec":{"parallelism":2}}`, Patch: scheduling(""), Want: "spec.scheduling: Invalid value: null: field cannot be set once created"},
		{Name: "gone", Old: scheduling(""), Patch: `{"spec":{"scheduling":null}}`, Want: "spec.scheduling: Invalid value: null: field cannot be cleared once set"},
		{Name: "policy set later", Old: scheduling(""), Patch: scheduling(basic), Want: at + "schedulingPolicy: Invalid value: null: field cannot be set once created"},
		{Name: "policy gone", Old: scheduling(gang), Patch: `{"spec":{"scheduling":{"schedulingPolicy":null}}}`,
			Want: at + "schedulingPolicy: Invalid value: null: field cannot be cleared once set"},
		{Name: "larger gang", Old: scheduling(`"schedulingPolicy":{"gang":{"minCount":1}}`), Patch: scheduling(`"schedulingPolicy":{"gang":{"minCount":2}}`)},
		{Name: "no gang any more", Old: scheduling(gang), Patch: scheduling(`"schedulingPolicy":{"gang":null,"basic":{}}`),
			Want: at + "schedulingPolicy: Invalid value: null: the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated"},
		{Name: "others kept", Old: scheduling(gang), Patch: scheduling(gang + `,"schedulingConstraints":{},"disruptionMode":{"all":{}},"resourceClaims":[{"name":"a"}]`),
			Want: at + "schedulingConstraints: Invalid value: null: field is immutable\n" + at + "disruptionMode: Invalid value: null: field is immutable\n" +
				at + "resourceClaims: Invalid value: null: field is immutable"},
	})
	off := kindtest.On("1.37", nil, Kinds)
	off.Storage, off.Base = rules.Storage, rules.Base
	off.Run(t, []kindtest.Case{
		{Name: "without the gate", Patch: scheduling(`"schedulingPolicy":{}`)},
		{Name: "kept without the gate", Old: scheduling(gang), Patch: `{"spec":{"suspend":true}}`},
		{Name: "changed without the gate", Old: scheduling(gang), Patch: scheduling(gang + `,"disruptionMode":{"all":{}}`), Want: "spec.scheduling: Forbidden"},
	})
}
