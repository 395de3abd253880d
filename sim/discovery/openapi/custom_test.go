package openapi

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

const cronTab = `{"type":"object","description":"A table.","properties":{
  "kind":{"type":"string"},
  "spec":{"type":"object","required":["cron"],"properties":{
    "cron":{"type":"string","pattern":"^\\d+$","default":"1"},
    "port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
    "default":{"type":"integer","nullable":true},
    "more":{"type":"object","additionalProperties":{"type":"string","default":"x"}},
    "any":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}`

func TestCustomSchema(t *testing.T) {
	is := is.New(t)
	set, err := schema.Load(schema.Default)
	is.NoErr(err)
	s := &Source{Schema: set, Version: "1.36", Custom: func(*resource.Definition) object.Object {
		o, err := object.Parse([]byte(cronTab))
		is.NoErr(err)
		return o
	}}
	kind := schema.GVK{Group: "stable.example.com", Version: "v1", Kind: "CronTab"}
	def := &resource.Definition{GVK: kind, Resource: "crontabs", Custom: true, Verbs: []string{"get", "list", "patch", "watch"}}
	def.Hub = def
	p := Part{Key: "apis/stable.example.com/v1", Group: kind.Group, Version: "v1", Custom: true, Defs: []*resource.Definition{def}}

	v3 := read(t, s.V3(p))
	is.Equal(v3.String("info", "title"), "Kubernetes CRD Swagger")
	const name = "com.example.stable.v1.CronTab"
	is.Equal(v3.String("components", "schemas", name, "description"), "A table.")                                  // as the author wrote it
	is.Equal(v3.String("components", "schemas", name, "properties", "kind", "description"), kindText)              // but for these
	is.Equal(v3.String("components", "schemas", name, "properties", "spec", "properties", "cron", "default"), "1") // with defaults
	_, ok := v3.Get("components", "schemas", meta+"ObjectMeta")
	is.True(ok) // the referenced definition exists
	get := "/apis/stable.example.com/v1/crontabs/{name}"
	types, _ := v3.Get("paths", get, "get", "responses", "200", "content")
	is.Equal(object.SortedKeys(types.(map[string]any)), customTypes) // no protobuf

	spec := object.Object(s.V2([]Part{p})).Map("definitions", name, "properties", "spec", "properties")
	is.Equal(string(object.JSON(spec)), `{"any":{"x-kubernetes-preserve-unknown-fields":true},`+
		`"cron":{"pattern":"^\\d+$","type":"string"},"default":{},"more":{"additionalProperties":{"type":"string"},"type":"object"},`+
		`"port":{"x-kubernetes-int-or-string":true}}`) // without parts that OpenAPI 2 does not support, and without defaults
}

func TestUnknownStructure(t *testing.T) {
	is := is.New(t)
	set, err := schema.Load(schema.Default)
	is.NoErr(err)
	def := &resource.Definition{GVK: schema.GVK{Group: "a.b", Version: "v1", Kind: "C"}, Resource: "cs", Custom: true}
	s := &Source{Schema: set}
	out := map[string]any{}
	(&writer{Source: s, part: Part{Key: "apis/a.b/v1"}, seen: map[string]bool{}}).custom(def, out)
	preserve, _ := object.Object(out).Get("b.a.v1.C", "x-kubernetes-preserve-unknown-fields")
	is.Equal(preserve, true) // anything goes
}

func TestWords(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct{ group, tag, id string }{
		{"", "core_v1", "getCoreV1X"},
		{"apps", "apps_v1", "getAppsV1X"},
		{"rbac.authorization.k8s.io", "rbacAuthorization_v1", "getRbacAuthorizationV1X"},
		{"stable.example.com", "stableExampleCom_v1", "getStableExampleComV1X"},
		{"my-group.io", "myGroupIo_v1", "getMyGroupIoV1X"},
	} {
		b := builder{group: c.group, version: "v1"}
		is.Equal(b.tag(), c.tag)
		is.Equal(b.id("get", "X"), c.id)
	}
	is.Equal(article("Event"), "an Event")
	is.Equal(article("Pod"), "a Pod")
	is.Equal(article("Endpoints"), "Endpoints")          // plurals have none
	is.Equal(article("IngressClass"), "an IngressClass") // this is no plural
}
