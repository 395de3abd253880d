package celgo

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
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
	env, c := environmentOf(of).device()
	ast, _, problem := compileDeviceSelector(of, expression)
	if problem != nil {
		return problem, false
	}
	estimate, err := env.EstimateCost(ast, c)
	return nil, err != nil || estimate.Max > deviceCost
}

func compileDeviceSelector(of expr.Environment, expression string) (ast *cel.Ast, program cel.Program, problem *expr.Error) {
	base := environmentOf(of)
	env, c := base.device()
	ast, text := base.compile(env, expression)
	if text != "" {
		return nil, nil, expr.Errorf("compilation failed: %s", text)
	}
	if typ := ast.OutputType(); !typ.IsExactType(cel.BoolType) && !typ.IsExactType(cel.AnyType) {
		return nil, nil, expr.Errorf("must evaluate to %v or the unknown type, not %v", cel.BoolType, typ)
	}
	program, err := plan(env, ast, c, cel.CostLimit(deviceCost))
	if err != nil {
		return nil, nil, noProgram(err)
	}
	return ast, program, nil
}

// DeviceSelector is a compiled expression that selects devices.
type DeviceSelector struct {
	env     *cel.Env
	program cel.Program
}

// NewDeviceSelector compiles an expression that selects devices. The error is the one that a scheduler reports.
func NewDeviceSelector(of expr.Environment, expression string) (*DeviceSelector, error) {
	of.Stored = true
	_, program, problem := compileDeviceSelector(of, expression)
	if problem != nil {
		return nil, problem
	}
	env, _ := environmentOf(of).device()
	return &DeviceSelector{env, program}, nil
}

// Match reports whether a driver's device matches the expression. device is the device in a ResourceSlice
// (dynamic-resource-allocation/cel, CompilationResult.DeviceMatches).
func (s *DeviceSelector) Match(driver string, device object.Object) (bool, error) {
	attributes, capacity := map[string]any{}, map[string]any{}
	put := func(into map[string]any, name string, v ref.Val) {
		domain, id, qualified := strings.Cut(name, "/")
		if !qualified {
			domain, id = driver, name
		}
		if into[domain] == nil {
			into[domain] = map[string]any{}
		}
		into[domain].(map[string]any)[id] = v
	}
	all := device.Map("attributes")
	for _, name := range object.SortedKeys(all) {
		v, err := attributeVal(object.As(all[name]))
		if err != nil {
			return false, fmt.Errorf("attribute %s: %w", name, err)
		}
		put(attributes, name, v)
	}
	for name, c := range device.Map("capacity") { // order does not matter: the result is a map
		put(capacity, name, quantityVal(quantity.Of(object.As(c)["value"])))
	}
	adapter := s.env.CELTypeAdapter()
	out, _, err := s.program.Eval(map[string]any{"device": map[string]any{
		"driver": driver, "allowMultipleAllocations": device.True("allowMultipleAllocations"),
		"attributes": domains{types.NewStringInterfaceMap(adapter, attributes), adapter},
		"capacity":   domains{types.NewStringInterfaceMap(adapter, capacity), adapter},
	}})
	if err != nil {
		return false, err
	}
	matches, ok := out.(types.Bool)
	if !ok {
		return false, fmt.Errorf("CEL result of type %s could not be converted to bool: type conversion error from '%[1]s' to 'bool'", out.Type().TypeName())
	}
	return bool(matches), nil
}

// attributeVal returns the value of an attribute in the form that expressions use.
func attributeVal(attribute object.Object) (ref.Val, error) {
	if n, ok := attribute.Int("int"); ok {
		return types.Int(n), nil
	}
	if b, ok := attribute.Bool("bool"); ok {
		return types.Bool(b), nil
	}
	if attribute.Has("string") {
		return types.String(attribute.String("string")), nil
	}
	if !attribute.Has("version") {
		return nil, errors.New("unsupported attribute value")
	}
	v, err := parseSemver(attribute.String("version"))
	if err != nil {
		return nil, fmt.Errorf("parse semantic version: %w", err)
	}
	return semverVal(v), nil
}

// domains is a map of attributes or capacities by domain. A domain that a device does not have is an empty map.
type domains struct {
	traits.Mapper
	adapter types.Adapter
}

// Find implements traits.Mapper.
func (d domains) Find(key ref.Val) (ref.Val, bool) {
	if v, found := d.Mapper.Find(key); found {
		return v, true
	}
	return types.NewStringInterfaceMap(d.adapter, map[string]any{}), true
}
