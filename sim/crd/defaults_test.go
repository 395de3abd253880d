package crd_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	reader, _ := decoder(t)
	strategy := crd.Strategy(reader.ReadMeta)
	const at = `spec.validation.openAPIV3Schema.properties[spec]`
	for _, x := range []struct{ name, schema, want string }{
		{"a rule", `{"type":"integer","default":3,"x-kubernetes-validations":[{"rule":"self > 5","message":"too small"}]}`,
			at + `.default: Invalid value: 3: too small`},
		{"a rule that holds", `{"type":"integer","default":7,"x-kubernetes-validations":[{"rule":"self > 5"}]}`, ``},
		{"a rule below", `{"type":"object","default":{"a":{"b":1}},"properties":{"a":{"type":"object","properties":{
			"b":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 5"}]}}}}}`,
			at + `.default.a.b: Invalid value: 1: failed rule: self > 5`},
		{"as a value that stays", `{"type":"integer","default":3,"x-kubernetes-validations":[{"rule":"self > oldSelf"}]}`,
			at + `.default: Invalid value: 3: failed rule: self > oldSelf`},
		{"as a new value", `{"type":"integer","default":3,"x-kubernetes-validations":[{"rule":"oldSelf.hasValue()","optionalOldSelf":true}]}`,
			at + `.default: Invalid value: 3: failed rule: oldSelf.hasValue()`},
		{"a rule that does not compile", `{"type":"integer","default":3,"x-kubernetes-validations":[{"rule":"self + 1"}]}`,
			at + `.default: Invalid value: "integer": rule compile error: cel expression must evaluate to a bool`},
		{"a name", `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","default":"a/b"}}}}}`,
			at + `.properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain '/'`},
		{"a kind is not looked at", `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"kind":{"type":"string","default":"A_B"}}}`, ``},
		{"metadata that is none", `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{"labels":{"type":"array","items":{"type":"string"},"default":["a"]}}}}}`,
			at + `.properties[metadata].properties[labels].default: Invalid value: ["a"]: must result in valid metadata: metadata: Invalid value: {"labels":["a"]}: ` +
				`json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string`},
		{"int or string, said twice", `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer","nullable":false},{"type":"string"}],"default":"a"}`, ``},
		{"not int or string", `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer","nullable":true},{"type":"string"}]}`,
			at + `.anyOf[0].nullable: Forbidden: must be false to be structural; ` + at + `.anyOf[0].type: Forbidden: must be empty to be structural; ` +
				at + `.anyOf[1].type: Forbidden: must be empty to be structural`},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			obj := widgets(t, func(obj object.Object) {
				version(obj).Map("schema", "openAPIV3Schema", "properties")["spec"] = map[string]any(parse(t, x.schema))
			})
			strategy.PrepareForCreate(&resource.Context{Now: now}, obj)
			is.New(t).Equal(texts(strategy.Validate(&resource.Context{}, obj)), x.want)
		})
	}
}
