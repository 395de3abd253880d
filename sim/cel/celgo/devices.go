package celgo

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"

	"github.com/kubesim/kubesim/sim/cel/expr"
)

// The limits for the attributes of a device, and for the cost of device selectors (KEP-4381).
const (
	deviceCost     = 1_000_000
	deviceNames    = 32
	deviceText     = 64
	deviceDomain   = 63
	deviceNameSize = 32
)

// deviceEnv returns the environment of device selectors, and the cost estimator for devices. It is called once.
func (base *environment) deviceEnv() (*cel.Env, *costs) {
	text := func(most int64) *decl { return &decl{typ: cel.StringType, most: most} }
	by := func(keyMost int64, elem *decl) *decl {
		return &decl{typ: cel.MapType(cel.StringType, elem.typ), key: text(keyMost), elem: elem, most: deviceNames}
	}
	attributes := by(deviceNameSize, &decl{typ: cel.AnyType, most: deviceText})
	attributes.open = true
	device := &decl{typ: cel.ObjectType("kubernetes.DRADevice"), fields: map[string]*decl{
		"driver": text(deviceDomain), "allowMultipleAllocations": {typ: cel.BoolType, most: 1},
		"attributes": by(deviceDomain, attributes), "capacity": by(deviceDomain, by(deviceNameSize, &decl{typ: typeQuantity})),
	}}
	var p types.Provider = &provider{base.CELTypeProvider(), typeNames{"kubernetes.DRADevice": device}}
	env, err := base.Extend(cel.CustomTypeProvider(p), cel.Variable("device", device.typ), ext.Bindings(ext.BindingsVersion(0)))
	if err != nil {
		panic("cel: the environment of devices is wrong: " + err.Error())
	}
	return env, &costs{self: device, root: "device"}
}

// CheckDeviceSelector returns an error if an expression cannot select devices. complex reports whether the estimated cost of the
// expression exceeds the limit.
func CheckDeviceSelector(of expr.Environment, expression string) (problem *expr.Error, complex bool) {
	base := environmentOf(of)
	env, c := base.device()
	ast, text := base.compile(env, expression)
	if text != "" {
		return expr.Errorf("compilation failed: %s", text), false
	}
	if typ := ast.OutputType(); !typ.IsExactType(cel.BoolType) && !typ.IsExactType(cel.AnyType) {
		return expr.Errorf("must evaluate to %v or the unknown type, not %v", cel.BoolType, typ), false
	}
	if _, err := plan(env, ast, c); err != nil {
		return noProgram(err), false
	}
	estimate, err := env.EstimateCost(ast, c)
	return nil, err != nil || estimate.Max > deviceCost
}
