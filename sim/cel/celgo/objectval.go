package celgo

import (
	"fmt"
	"reflect"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/object"
)

// objectVal is an object that a mutation creates: Object{spec: Object.spec{…}}, JSONPatch{op: "add", …}.
type objectVal struct {
	name   string
	fields map[string]ref.Val
}

func (o *objectVal) typ() *cel.Type { return types.NewObjectType(o.name) }

func (o *objectVal) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("unable to convert to %v", to)
}

func (o *objectVal) ConvertToType(to ref.Type) ref.Val {
	switch to.TypeName() {
	case o.name:
		return o
	case types.TypeType.TypeName():
		return types.NewTypeTypeWithParam(o.typ())
	}
	return types.NewErr("unsupported conversion into %v", to)
}

func (o *objectVal) Equal(other ref.Val) ref.Val {
	p, ok := other.(*objectVal)
	if !ok || p.name != o.name || len(p.fields) != len(o.fields) {
		return types.False
	}
	for _, name := range object.SortedKeys(o.fields) {
		if p.fields[name] == nil || types.Equal(o.fields[name], p.fields[name]) != types.True {
			return types.False
		}
	}
	return types.True
}

func (o *objectVal) Type() ref.Type    { return o.typ() }
func (o *objectVal) Value() any        { return o.fields }
func (o *objectVal) IsZeroValue() bool { return len(o.fields) == 0 }

// Get implements traits.Indexer. It returns the field name, as the expression o.name does.
func (o *objectVal) Get(name ref.Val) ref.Val {
	if s, ok := name.(types.String); ok {
		if v := o.fields[string(s)]; v != nil {
			return v
		}
	}
	return types.NewErr("no such key: %v", name)
}

func (o *objectVal) json() (any, *expr.Error) {
	m := map[string]any{}
	for _, name := range object.SortedKeys(o.fields) {
		v, err := jsonOf(o.fields[name])
		if err != nil {
			return nil, err
		}
		m[name] = v
	}
	return m, nil
}

// checkNames returns an error if the type of an object, or of an object in it, does not match its position. For example,
// Object.spec is the type of only the field spec.
func checkNames(v ref.Val, name string) *expr.Error {
	o, ok := v.(*objectVal)
	if !ok {
		return nil
	}
	if o.name != name {
		return expr.Errorf("unexpected type name %q, expected %q, which matches field name path from root Object type", o.name, name)
	}
	for _, f := range object.SortedKeys(o.fields) {
		if err := checkNames(o.fields[f], name+"."+f); err != nil {
			return err
		}
	}
	return nil
}

// patchProvider provides the types of mutations. Object and all types below it may have any field.
type patchProvider struct{ types.Provider }

var patchFields = map[string]*types.Type{"op": cel.StringType, "path": cel.StringType, "from": cel.StringType, "value": cel.DynType}

func isObjectName(name string) bool { return name == "Object" || strings.HasPrefix(name, "Object.") }

// FindStructType returns the type with the given name.
func (p *patchProvider) FindStructType(name string) (*types.Type, bool) {
	if name == "JSONPatch" || isObjectName(name) {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldType returns the type of a field.
func (p *patchProvider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if isObjectName(name) {
		return &types.FieldType{Type: types.DynType}, true
	}
	if name == "JSONPatch" {
		if t, ok := patchFields[field]; ok {
			return &types.FieldType{Type: t}, true
		}
		return &types.FieldType{Type: types.NewObjectType("")}, true // a type to which nothing can be assigned
	}
	return p.Provider.FindStructFieldType(name, field)
}

// NewValue implements types.Provider. For JSONPatch, Object and the types below Object, it creates an objectVal.
func (p *patchProvider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if name == "JSONPatch" || isObjectName(name) {
		return &objectVal{name: name, fields: fields}
	}
	return p.Provider.NewValue(name, fields)
}
