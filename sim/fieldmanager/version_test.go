package fieldmanager

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// twoVersions returns a custom resource whose field spec.size is spec.count in v1, and a Manager that serves both versions.
func twoVersions() (m *Manager, v1, v2 *resource.Definition) {
	str := &schema.Type{Kind: schema.String, GoType: "string"}
	number := &schema.Type{Kind: schema.Int, Bits: 64, GoType: "int64"}
	custom := func(name string, t *schema.Type) schema.Field {
		return schema.Field{Name: name, Type: t, Pointer: true, OmitEmpty: true}
	}
	typeWith := func(size string) *schema.Type {
		meta := schema.NewStruct("", "", []schema.Field{custom("name", str), custom("uid", str), custom("managedFields", &schema.Type{Kind: schema.Any})})
		spec := schema.NewStruct("", "", []schema.Field{custom(size, number), custom("kept", str)})
		return schema.NewStruct("", "", []schema.Field{custom("apiVersion", str), custom("kind", str),
			custom("metadata", meta), custom("spec", spec)})
	}
	one, two := typeWith("count"), typeWith("size")
	move := func(from, to string) func(object.Object) (object.Object, error) {
		return func(obj object.Object) (object.Object, error) {
			if v, ok := obj.Get("spec", from); ok {
				obj.Set(v, "spec", to)
				obj.Remove("spec", from)
			}
			if obj.String("spec", "kept") == "fail" {
				return nil, errors.New("no")
			}
			return obj, nil
		}
	}
	toV1, toV2 := move("size", "count"), move("count", "size")
	form := &resource.StorageCodec{Convert: func(_ resource.Asker, obj object.Object, apiVersion string) (object.Object, error) {
		convert := map[string]func(object.Object) (object.Object, error){"x.io/v1": toV1, "x.io/v2": toV2}[apiVersion]
		if convert == nil {
			return nil, errors.New("what is " + apiVersion)
		}
		obj["apiVersion"] = apiVersion
		return convert(obj)
	}}
	define := func(version string, t *schema.Type) *resource.Definition {
		d := &resource.Definition{GVK: schema.GVK{Group: "x.io", Version: version, Kind: "W"}, Custom: true, StorageCodec: form,
			Strategy: &resource.Strategy{}, Type: func() *schema.Type { return t }}
		d.Hub = d
		return d
	}
	v1, v2 = define("v1", one), define("v2", two)
	m = New(Options{Versions: versions{v1.GV(): v1, v2.GV(): v2}})
	return m, v1, v2
}

func TestVersions(t *testing.T) {
	is := is.New(t)
	m, v1, v2 := twoVersions()
	live, _, s := m.Apply(v1, nil, parse(t, `{'apiVersion':'x.io/v1','kind':'W','metadata':{'name':'a'},'spec':{'count':1,'kept':'x'}}`), by("a", 1), false)
	is.Equal(s, nil)
	hub := parse(t, `{'apiVersion':'x.io/v2','kind':'W','metadata':{'name':'a','uid':'u'},'spec':{'size':1,'kept':'x'}}`)
	hub.Set(live.List("metadata", "managedFields"), "metadata", "managedFields")

	config := parse(t, `{'apiVersion':'x.io/v2','kind':'W','metadata':{'name':'a'},'spec':{'size':2}}`)
	_, _, s = m.Apply(v2, hub, config, by("b", 2), false)
	is.Equal(s.Message, `Apply failed with 1 conflict: conflict with "a": .spec.count`) // the owner's version names the field

	now := hub.Copy()
	now.Set(int64(2), "spec", "size")
	m.Update(v2, hub, now, by("b", 2))
	is.Equal(owners(now), `a Apply x.io/v1 01 {"f:spec":{"f:kept":{}}}
b Update x.io/v2 02 {"f:spec":{"f:size":{}}}
`) // taken away in the owner's version

	config = parse(t, `{'apiVersion':'x.io/v2','kind':'W','metadata':{'name':'a'},'spec':{'kept':'x'}}`)
	obj, _, s := m.Apply(v2, hub, config, by("a", 3), false)
	is.Equal(s, nil)
	is.Equal(obj.Map("spec"), map[string]any{"kept": "x"}) // given up in another version than it was applied in
	is.Equal(owners(obj), `a Apply x.io/v2 03 {"f:spec":{"f:kept":{}}}`+"\n")

	m.Versions = nil
	now = hub.Copy()
	m.Update(v2, hub, now, by("b", 2))
	is.Equal(owners(now), "") // v1 is not served any more
}

// versions are the versions of one resource, by apiVersion.
type versions map[string]*resource.Definition

// Version implements Versions.
func (v versions) Version(_ *resource.Definition, apiVersion string) *resource.Definition {
	return v[apiVersion]
}

func TestFailingConversion(t *testing.T) {
	is := is.New(t)
	m, _, v2 := twoVersions()
	live := parse(t, `{'apiVersion':'x.io/v2','kind':'W','metadata':{'name':'a','uid':'u','managedFields':[
		{'manager':'a','operation':'Apply','apiVersion':'x.io/v1','fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'f:count':{}}}}]},'spec':{'size':1}}`)
	obj := live.Copy()
	obj.Set("fail", "spec", "kept")
	m.Update(v2, live, obj, by("b", 2))
	is.Equal(owners(obj), "") // the request continues without managedFields
}

// TestFieldThatAnotherVersionDoesNotHave checks that a field which an owner's version does not have is an error, because the
// conversion to that version does not prune the object. An update then drops managedFields, and an apply fails.
func TestFieldThatAnotherVersionDoesNotHave(t *testing.T) {
	is := is.New(t)
	m, v1, v2 := twoVersions()
	v2.StorageCodec.Convert = func(_ resource.Asker, obj object.Object, apiVersion string) (object.Object, error) {
		if m.Versions.Version(nil, apiVersion) == nil {
			return nil, errors.New("no version " + apiVersion)
		}
		obj["apiVersion"] = apiVersion
		return obj, nil
	}
	live, _, s := m.Apply(v1, nil, parse(t, `{'apiVersion':'x.io/v1','kind':'W','metadata':{'name':'a'},'spec':{'kept':'x'}}`), by("a", 1), false)
	is.Equal(s, nil)
	live["apiVersion"] = v2.GV()
	live.Set("u", "metadata", "uid")

	obj := live.Copy()
	obj.Set(int64(1), "spec", "size")
	m.Update(v2, live, obj, by("b", 2))
	is.Equal(owners(obj), "") // v1 has no spec.size

	apply := func(live object.Object, manager, spec string) string {
		_, _, s := m.Apply(v2, live, parse(t, `{'apiVersion':'x.io/v2','kind':'W','metadata':{'name':'a'},'spec':`+spec+`}`), by(manager, 2), true)
		if s == nil {
			return ""
		}
		return s.Message
	}
	is.Equal(apply(live, "b", `{'kept':'y'}`), "")
	is.Equal(apply(live, "b", `{'size':1}`), "failed to convert new object: .spec.size: field not declared in schema")
	is.Equal(apply(live, "a", `{'size':1}`), "failed to prune fields: failed to convert merged object to last applied version: "+
		".spec.size: field not declared in schema") // a owned something in v1
	with := live.Copy()
	with.Set(int64(1), "spec", "size")
	is.Equal(apply(with, "b", `{'kept':'y'}`), ".spec.size: field not declared in schema") // the object has it already

	m.Versions = versions{v2.GV(): v2}
	is.Equal(apply(live, "b", `{'kept':'y'}`), "no version x.io/v1") // the definition does not name v1 any more
}

func TestCustomResourceWithoutSchema(t *testing.T) {
	is := is.New(t)
	m, _, v2 := twoVersions()
	d := *v2
	d.Type, d.Hub = nil, &d
	obj := parse(t, `{'apiVersion':'x.io/v2','kind':'W','metadata':{'name':'a'},'spec':{'list':[{'a':1}],'map':{'a':{'b':1}},'null':null}}`)
	m.Update(&d, nil, obj, by("b", 1))
	is.Equal(owners(obj), `b Update x.io/v2 01 {"f:spec":{".":{},"f:list":{},"f:map":{".":{},"f:a":{".":{},"f:b":{}}},"f:null":{}}}`+"\n")
	now := obj.Copy()
	now.Set("text", "spec", "map")
	obj.Set("u", "metadata", "uid")
	m.Update(&d, obj, now, by("c", 2))
	is.Equal(owners(now), `b Update x.io/v2 01 {"f:spec":{".":{},"f:list":{},"f:null":{}}}
c Update x.io/v2 02 {"f:spec":{"f:map":{}}}
`) // a value of another type replaces everything that it owned
}

func TestSchemaThatBecameAtomic(t *testing.T) {
	is := is.New(t)
	m, _, v2 := twoVersions()
	v2.Type().Field("spec").MapType = "atomic"
	live := parse(t, `{'apiVersion':'x.io/v2','kind':'W','metadata':{'name':'a','uid':'u','managedFields':[
		{'manager':'a','operation':'Apply','apiVersion':'x.io/v2','fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'f:size':{}}}}]},'spec':{'size':1}}`)
	obj := live.Copy()
	m.Update(v2, live, obj, by("b", 2))
	is.Equal(owners(obj), `a Apply x.io/v2 - {"f:spec":{}}`+"\n") // its parts' owner owns the whole
	config := parse(t, `{'apiVersion':'x.io/v2','kind':'W','metadata':{'name':'a'},'spec':{'size':2}}`)
	_, _, s := m.Apply(v2, live, config, by("b", 2), false)
	is.Equal(s.Message, `Apply failed with 1 conflict: conflict with "a": .spec`)
}
