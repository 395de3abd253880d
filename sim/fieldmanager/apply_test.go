package fieldmanager

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// world is one object that several managers write.
type world struct {
	t      testing.TB
	m      *Manager
	d      *resource.Definition
	live   object.Object
	second int
}

func (w *world) apply(manager, text string, force bool) *status.Status {
	w.t.Helper()
	w.second++
	config := parse(w.t, text)
	config["apiVersion"], config["kind"] = w.d.GV(), w.d.Kind
	config.Set("a", "metadata", "name")
	var live object.Object
	if w.live != nil {
		live = stored(w.t, w.d, w.live)
	}
	obj, _, s := w.m.Apply(w.d, live, config, by(manager, w.second), force)
	if s == nil {
		obj.Set("u", "metadata", "uid")
		w.live = obj
	}
	return s
}

func (w *world) update(manager, text string) {
	w.t.Helper()
	w.second++
	w.live = updated(w.t, w.m, w.d, w.live, text, by(manager, w.second))
	w.live.Set("u", "metadata", "uid")
}

func newWorld(t testing.TB, apiVersion, kindName string) *world {
	return &world{t: t, m: New(Options{}), d: define(t, apiVersion, kindName, false)}
}

func TestApply(t *testing.T) {
	is := is.New(t)
	w := newWorld(t, "v1", "ConfigMap")
	is.Equal(w.apply("m1", `{'data':{'k':'1','j':'1'}}`, false), nil)
	is.Equal(owners(w.live), `m1 Apply v1 01 {"f:data":{"f:j":{},"f:k":{}}}`+"\n") // leaves only

	s := w.apply("m2", `{'data':{'k':'2','j':'2','x':'2'}}`, false)
	is.Equal(s.Message, "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .data.j\n- .data.k")
	is.Equal(s.Details.Causes[1], status.Cause{Reason: "FieldManagerConflict", Message: `conflict with "m1"`, Field: ".data.k"})

	is.Equal(w.apply("m2", `{'data':{'k':'1'}}`, false), nil)
	is.Equal(owners(w.live), `m2 Apply v1 - {"f:data":{"f:k":{}}}
m1 Apply v1 01 {"f:data":{"f:j":{},"f:k":{}}}
`) // an equal value is owned together; nothing changed, so there is no time
	is.Equal(w.apply("m1", `{'data':{'j':'1'}}`, false), nil)
	is.Equal(w.live.String("data", "k"), "1") // m2 owns it still
	is.Equal(w.apply("m2", `{}`, false), nil)
	is.Equal(w.live.Map("data"), map[string]any{"j": "1"}) // the last owner let it go

	w.update("upd", `{'metadata':{'name':'a'},'data':{'j':'3'}}`)
	is.Equal(w.apply("m2", `{'data':{'j':'4'}}`, false).Message, `Apply failed with 1 conflict: conflict with "upd" using v1: .data.j`)
	is.Equal(w.apply("m2", `{'data':{'j':'4'}}`, true), nil)
	is.Equal(owners(w.live), `m2 Apply v1 08 {"f:data":{"f:j":{}}}`+"\n") // force takes it
}

func TestConflictsHaveAnOrder(t *testing.T) {
	is := is.New(t)
	for range 5 {
		w := newWorld(t, "v1", "ConfigMap")
		w.update("z", `{'metadata':{'name':'a'},'data':{'z':'1'}}`)
		is.Equal(w.apply("b", `{'data':{'b':'1','c':'1'}}`, false), nil)
		is.Equal(w.apply("a", `{'data':{'a':'1'}}`, false), nil)
		s := w.apply("m", `{'data':{'a':'2','b':'2','c':'2','z':'2'}}`, false)
		is.Equal(s.Message, "Apply failed with 4 conflicts: conflicts with \"a\":\n- .data.a\nconflicts with \"b\":\n- .data.b\n- .data.c\n"+
			"conflicts with \"z\" using v1:\n- .data.z") // by manager, then by path
	}
}

func TestBeforeFirstApply(t *testing.T) {
	is := is.New(t)
	w := newWorld(t, "v1", "ConfigMap")
	w.live = read(t, w.d, `{'metadata':{'name':'a','uid':'u'},'data':{'k':'1'}}`)
	is.Equal(w.apply("m", `{'data':{'k':'2'}}`, false).Message, `Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.k`)
	is.Equal(w.apply("m", `{'data':{'j':'2'}}`, false), nil)
	is.Equal(owners(w.live), `m Apply v1 02 {"f:data":{"f:j":{}}}
before-first-apply Update v1 02 {"f:data":{".":{},"f:k":{}}}
`) // the existing fields belong to before-first-apply
}

func TestLastApplied(t *testing.T) {
	is := is.New(t)
	w := newWorld(t, "v1", "ConfigMap")
	const note = `kubectl.kubernetes.io/last-applied-configuration`
	obj := parse(t, `{'metadata':{'name':'a','uid':'u'},'data':{'k':'1','other':'1'}}`)
	obj.Set(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1"}}`, "metadata", "annotations", note)
	w.m.Update(w.d, nil, obj, by("client-side", 1))
	w.live = obj
	is.Equal(w.apply("m", `{'data':{'k':'2'}}`, false).Message, `Apply failed with 1 conflict: conflict with "client-side" using v1: .data.k`)
	is.Equal(w.apply("kubectl", `{'data':{'k':'2','other':'2'}}`, false).Message,
		`Apply failed with 1 conflict: conflict with "client-side" using v1: .data.other`) // not in the annotation
	is.Equal(w.apply("kubectl", `{'data':{'k':'2'}}`, false), nil) // the annotation has it: no conflict
	is.Equal(w.live.Annotations()[note], `{"apiVersion":"v1","data":{"k":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}`+"\n")
	is.Equal(w.apply("kubectl", `{'metadata':{'annotations':null},'data':{'k':'2'}}`, false), nil)
	is.Equal(w.live.Annotations()[note], `{"apiVersion":"v1","data":{"k":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}`+"\n") // null is not noted
	is.Equal(w.apply("kubectl", fmt.Sprintf(`{'data':{'k':'%s'}}`, strings.Repeat("x", annotationsMax)), false), nil)
	is.Equal(w.live.Annotations()[note], "") // it grew too large
}

func TestInvalidConfigurations(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ kind, config, want string }{
		{"v1 ConfigMap", `{'nope':1}`, ".nope: field not declared in schema"},
		{"v1 ConfigMap", `{'data':{'k':1}}`, ".data.k: expected string, got &value.valueUnstructured{Value:1}"},
		{"v1 ConfigMap", `{'data':[]}`, ".data: expected map, got &{[]}"},
		{"v1 ConfigMap", `{'immutable':1}`, ".immutable: expected boolean, got &{1}"},
		{"v1 ConfigMap", `{'metadata':{'finalizers':['a','a']}}`, `.metadata.finalizers: duplicate entries for key [="a"]`},
		{"v1 ConfigMap", `{'metadata':{'finalizers':[null]}}`, `.metadata.finalizers: element 0: associative list without keys has an element that's an explicit null`},
		{"v1 ConfigMap", `{'metadata':{'finalizers':'a'}}`, `.metadata.finalizers: expected list, got &{a}`},
		{"v1 ConfigMap", `{'data':{'k':1,'l':true}}`, "errors:\n  .data.k: expected string, got &value.valueUnstructured{Value:1}\n" +
			"  .data.l: expected string, got &value.valueUnstructured{Value:true}"},
		{"apps/v1 Deployment", `{'spec':{'replicas':'1'}}`, ".spec.replicas: expected numeric (int or float), got string"},
		{"apps/v1 Deployment", `{'spec':{'template':{'spec':{'containers':[{'name':'a','foo':1}]}}}}`,
			`.spec.template.spec.containers[name="a"].foo: field not declared in schema`},
		{"apps/v1 Deployment", `{'spec':{'template':{'spec':{'containers':[{'name':'a'},{'name':'a'}]}}}}`,
			`.spec.template.spec.containers: duplicate entries for key [name="a"]`},
		{"apps/v1 Deployment", `{'spec':{'template':{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'protocol':'TCP'},{'containerPort':80}]}]}}}}`,
			`.spec.template.spec.containers[name="a"].ports: duplicate entries for key [containerPort=80,protocol="TCP"]`},
		{"apps/v1 Deployment", `{'spec':{'template':{'spec':{'containers':[1]}}}}`,
			`.spec.template.spec.containers: element 0: associative list with keys may not have non-map elements`},
		{"apps/v1 Deployment", `{'spec':{'template':{'spec':{'containers':[{'name':'a','resources':{'limits':{'cpu':[]}}}]}}}}`,
			`.spec.template.spec.containers[name="a"].resources.limits.cpu: expected any scalar, got &{[]}`},
		{"resource.k8s.io/v1 ResourceClaim", `{'status':{'devices':[{}]}}`, ""},
	} {
		t.Run(x.config, func(t *testing.T) {
			is := is.New(t)
			apiVersion, kindName, _ := strings.Cut(x.kind, " ")
			s := newWorld(t, apiVersion, kindName).apply("m", x.config, false)
			if x.want == "" {
				is.Equal(s, nil)
				return
			}
			gvk := schema.ParseGVK(apiVersion, kindName)
			is.Equal(s.Message, "failed to create typed patch object (/a; "+gvk.String()+"): "+x.want) // the real server's message
			is.Equal(s.Code, 500)
		})
	}
}

func TestUndecodableManagedFields(t *testing.T) {
	is := is.New(t)
	w := newWorld(t, "v1", "ConfigMap")
	w.live = parse(t, `{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','managedFields':[{'operation':'x'}]}}`)
	is.Equal(w.apply("m", `{}`, false).Message, "failed to decode managed fields: operation must be `Apply` or `Update`")
}
