package fieldmanager

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

func TestScale(t *testing.T) {
	is := is.New(t)
	replicas := Replicas{"apps/v1": "spec.replicas"}
	parent := parse(t, `{'x':[
		{'manager':'m1','operation':'Apply','apiVersion':'apps/v1','time':'2026-01-01T00:00:01Z','fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'f:replicas':{},'f:paused':{}}}},
		{'manager':'m2','operation':'Apply','apiVersion':'apps/v1','time':'2026-01-01T00:00:01Z','fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'f:replicas':{}}}},
		{'manager':'m3','operation':'Update','apiVersion':'apps/v1','time':'2026-01-01T00:00:01Z','fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'f:paused':{}}}},
		{'manager':'m4','operation':'Update','apiVersion':'apps/v9','fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'f:replicas':{}}}}]}`).List("x")
	shown := func(list []any) string {
		return owners(object.Object{"metadata": map[string]any{"managedFields": list}})
	}

	scale := ToScale(parent, replicas)
	is.Equal(shown(scale), `m1 Apply autoscaling/v1 01 {"f:spec":{"f:replicas":{}}}
m2 Apply autoscaling/v1 01 {"f:spec":{"f:replicas":{}}}
`) // owners of the replicas

	is.Equal(shown(FromScale(parent, scale, "apps/v1", replicas)), shown(parent[:3])) // unchanged but for a version that is gone

	d := define(t, "autoscaling/v1", "Scale", false)
	live := read(t, d, `{'metadata':{'name':'d','uid':'u'},'spec':{'replicas':1}}`)
	live.Set(scale, "metadata", "managedFields")
	config := parse(t, `{'apiVersion':'autoscaling/v1','kind':'Scale','metadata':{'name':'d'},'spec':{'replicas':4}}`)
	hpa := By{Name: "hpa", Subresource: "scale", Time: at(2)}
	obj, _, s := New(Options{}).Apply(d, live, config, hpa, true)
	is.Equal(s, nil)
	is.Equal(shown(FromScale(parent, obj.List("metadata", "managedFields"), "apps/v1", replicas)),
		`hpa Apply apps/v1 scale - {"f:spec":{"f:replicas":{}}}
m1 Apply apps/v1 01 {"f:spec":{"f:paused":{}}}
m3 Update apps/v1 01 {"f:spec":{"f:paused":{}}}
`) // the replicas went to the Scale's manager
}
