package fieldmanager

import (
	"math/rand/v2"
	"testing"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/matryer/is"
)

// TestMergeEqualsTyped: what a configuration is merged to is what structured-merge-diff makes of it, which is asked about lists only.
func TestMergeEqualsTyped(t *testing.T) {
	kind := func(apiVersion, kind string) *model {
		return New().model(typeOf(define(t, apiVersion, kind, true)), false)
	}
	for _, x := range []struct {
		name  string
		model *model
		text  string
	}{
		{"Pod", kind("v1", "Pod"), podText},
		{"Service", kind("v1", "Service"), `{'metadata':{'name':'a','finalizers':['x'],'labels':{'a':'b'}},'spec':{'selector':{'a':'b'},
			'ports':[{'port':80,'targetPort':'x'},{'port':80,'protocol':'UDP'}],'externalIPs':['1.2.3.4']},'status':{'conditions':[{'type':'A'}]}}`},
		{"ResourceClaim", kind("resource.k8s.io/v1", "ResourceClaim"), `{'status':{'devices':[{'driver':'d','pool':'p','device':'x','data':{'a':[1]}}]}}`},
		{"a custom resource", New().model(customType(), true), `{'any':{'a':[{'b':1}],'c':{}},'percent':{'a':{'b':1}},'atomic':{'a':'b'},
			'lists':{'x':[{'name':'a','value':1},{'name':'b','list':['a','b']}]},'set':[1,2]}`},
		{"one without a schema", untypedModel, `{'any':{'a':[{'b':1}],'c':{},'d':{'e':'f'}},'g':1}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			compared := 0
			for seed := range uint64(3000) {
				r := rand.New(rand.NewPCG(seed, 7))
				draw := func() map[string]any {
					var v any = map[string]any(parse(t, x.text))
					for range r.IntN(4) {
						v = disturbed(r, v)
					}
					m, _ := v.(map[string]any)
					return m
				}
				obj, config := draw(), draw()
				if len(obj) == 0 || len(config) == 0 || x.model.root.unreachable(obj) != "" || x.model.root.invalid(config) != "" {
					continue
				}
				compared++
				before := [2]any{object.Copy(obj), object.Copy(config)}
				want, err := x.model.typed(obj).Merge(x.model.typed(config))
				is.NoErr(err)
				got, err := x.model.merge(obj, config)
				is.NoErr(err)
				is.Equal(got, want.AsValue().Unstructured())
				is.Equal([2]any{obj, config}, before) // neither changes
			}
			is.True(compared > 500)
		})
	}
}

// customType returns a type with what built-in kinds have less of.
func customType() *schema.Type {
	str, number := &schema.Type{Kind: schema.String}, &schema.Type{Kind: schema.Int, Bits: 64}
	field := func(name string, t *schema.Type) schema.Field {
		return schema.Field{Name: name, Type: t, Pointer: true, OmitEmpty: true}
	}
	item := schema.NewStruct("", "", []schema.Field{field("name", str), field("value", number),
		{Name: "list", Type: &schema.Type{Kind: schema.List, Elem: str}, ListType: "set"}})
	items := &schema.Type{Kind: schema.List, Elem: item}
	lists := schema.NewStruct("", "", []schema.Field{{Name: "x", Type: items, ListType: "map", MapKeys: []string{"name"}}})
	return schema.NewStruct("", "", []schema.Field{
		field("any", &schema.Type{Kind: schema.Any}),
		field("percent", &schema.Type{Kind: schema.IntOrString}),
		{Name: "atomic", Type: &schema.Type{Kind: schema.Map, Elem: str}, MapType: "atomic"},
		field("lists", lists),
		{Name: "set", Type: &schema.Type{Kind: schema.List, Elem: number}, ListType: "set"},
	})
}
