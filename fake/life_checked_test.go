package fake_test

import (
	"testing"

	"github.com/matryer/is"
)

// TestPolicyIsChecked checks that the expressions of a policy are type-checked against the kinds that the policy
// matches, including custom kinds. Warnings do not prevent the evaluation of the expressions.
func TestPolicyIsChecked(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"sets.example.com"},"spec":{"group":"example.com",
			"scope":"Namespaced","names":{"plural":"sets","singular":"set","kind":"Set","listKind":"SetList"},"versions":[{"name":"v1","served":true,"storage":true,
			"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}]}}`)
		const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
		c.must("POST", policies, `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[
			{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["sets"]},
			{"apiGroups":["apps"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["deployments","deployments/scale"]}]},
			"validations":[{"expression":"object.spec.replicas > 1"},{"expression":"object.metadata.name != 'x'","messageExpression":"object.metadata.none + '!'"}]}}`)
		status := c.must("GET", policies+"/p", "").At("status")
		is.Equal(status.Int64("observedGeneration"), int64(1))
		warnings := status.Objects("typeChecking", "expressionWarnings")
		is.Equal(len(warnings), 2)
		is.Equal(warnings[0].String("fieldRef"), "spec.validations[0].expression")
		is.Equal(warnings[0].String("warning"), "example.com/v1, Kind=Set: ERROR: <input>:1:12: undefined field 'replicas'\n | object.spec.replicas > 1\n | ...........^\n")
		is.Equal(warnings[1].String("fieldRef"), "spec.validations[1].messageExpression")
		c.mergePatch(policies+"/p", `{"spec":{"validations":[{"expression":"object.metadata.name != 'x'"}]}}`)
		status = c.must("GET", policies+"/p", "").At("status")
		is.Equal(status.Int64("observedGeneration"), int64(2))
		is.Equal(len(status.Map("typeChecking")), 0)
	})
}
