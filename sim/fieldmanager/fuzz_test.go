package fieldmanager

import (
	"testing"

	"github.com/kubesim/kubesim/sim/object"
)

// FuzzManagedFields checks that nothing panics for any managedFields that a client sends, in any object.
func FuzzManagedFields(f *testing.F) {
	f.Add([]byte(`{"data":{"k":"1"}}`), []byte(`[{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}}}}]`))
	f.Add([]byte(`{"metadata":{"finalizers":["a","a",null,1]}}`), []byte(`[{"operation":"Update","apiVersion":"v9","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"a\"":{}}}}}]`))
	f.Add([]byte(`{"spec":{"containers":[{"name":"c"},{}],"volumes":7}}`), []byte(`[{"operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"k:{":{},"v:":{},"i:x":{},"":{},".":7,"f:":{"k:{\"a\":1e999}":{}}}}]`))
	f.Add([]byte(`{"spec":null,"metadata":[]}`), []byte(`[null,{}]`))
	f.Fuzz(func(t *testing.T, body, fields []byte) {
		obj, err := object.Parse(body)
		if err != nil {
			return
		}
		sent, err := object.ParseValue(fields)
		if err != nil {
			return
		}
		run(t, false, obj, sent)
		run(t, true, obj, sent)
	})
}

// run performs all operations with an object and managedFields that a client sent.
func run(t *testing.T, custom bool, obj object.Object, sent any) {
	d := define(t, "v1", "Pod", true)
	if custom {
		d.Type, d.Custom = nil, true
	}
	m := New(Options{})
	with := obj.Copy()
	if _, ok := with["metadata"].(map[string]any); ok {
		with.Set(sent, "metadata", "managedFields")
	}
	live := with.Copy()
	m.Update(d, nil, with, by("a", 1))
	live.Set("u", "metadata", "uid")
	m.Update(d, live, obj.Copy(), by("b", 2))
	_, _, _ = m.Apply(d, live.Copy(), obj.Copy(), by("c", 3), true)
	_, _, _ = m.Apply(d, nil, obj.Copy(), by("kubectl", 3), false)
	list, _ := sent.([]any)
	FromScale(list, list, "v1", Replicas{"v1": "spec.replicas"})
	ToScale(list, Replicas{"v1": "spec.replicas"})
	m.Unchanged(live, with)
	_ = Validate(with)
}
