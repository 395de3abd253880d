package fieldmanager

import (
	"fmt"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// updated updates live, which may be nil, to text, and returns the result.
func updated(t testing.TB, m *Manager, d *resource.Definition, live object.Object, text string, who By) object.Object {
	t.Helper()
	obj := read(t, d, text)
	obj["apiVersion"], obj["kind"] = d.GV(), d.Kind
	if live != nil {
		obj.Set("u", "metadata", "uid")
		live = stored(t, d, live)
		live.Set("u", "metadata", "uid")
	}
	m.Update(d, live, obj, who)
	return obj
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	m := New(Options{})
	configMap := define(t, "v1", "ConfigMap", false)
	role := define(t, "rbac.authorization.k8s.io/v1", "Role", false)
	service := define(t, "v1", "Service", true)
	policy := define(t, "networking.k8s.io/v1", "NetworkPolicy", false)
	for _, x := range []struct {
		name     string
		d        *resource.Definition
		was, now string
		want     string
	}{
		{"new fields of a map bring the map", configMap, ``, `{'metadata':{'name':'a'},'data':{'k':'1'}}`,
			`b Update v1 02 {"f:data":{".":{},"f:k":{}}}`},
		{"a changed value goes to whoever changed it", configMap,
			`{'metadata':{'name':'a'},'data':{'k':'1','j':'1'}}`, `{'metadata':{'name':'a'},'data':{'k':'2','j':'1'}}`,
			"a Update v1 01 {\"f:data\":{\".\":{},\"f:j\":{}}}\nb Update v1 02 {\"f:data\":{\"f:k\":{}}}"},
		{"an equal value stays where it is", configMap,
			`{'metadata':{'name':'a'},'data':{'k':'1'}}`, `{'metadata':{'name':'a'},'data':{'k':'1'}}`,
			`a Update v1 01 {"f:data":{".":{},"f:k":{}}}`},
		{"what is removed has no owner", configMap,
			`{'metadata':{'name':'a','labels':{'x':'1'}},'data':{'k':'1'}}`, `{'metadata':{'name':'a','labels':{'x':'1'}}}`,
			`a Update v1 01 {"f:metadata":{"f:labels":{".":{},"f:x":{}}}}`},
		{"system fields have no owner", configMap, ``,
			`{'metadata':{'name':'a','namespace':'n','uid':'','generation':4,'resourceVersion':'3','finalizers':['x.io/f']}}`,
			`b Update v1 02 {"f:metadata":{"f:finalizers":{".":{},"v:\"x.io/f\"":{}}}}`},
		{"an atomic list changes as a whole", role,
			`{'metadata':{'name':'a'},'rules':[{'verbs':['get'],'resources':['pods'],'apiGroups':['']}]}`,
			`{'metadata':{'name':'a'},'rules':[{'verbs':['list'],'resources':['pods'],'apiGroups':['']}]}`,
			`b Update rbac.authorization.k8s.io/v1 02 {"f:rules":{}}`},
		{"items of a list map are found by their keys, with defaults, in any order", service,
			`{'metadata':{'name':'a'},'spec':{'ports':[{'port':80,'protocol':'TCP'},{'port':80,'protocol':'UDP','name':'x'}]}}`,
			`{'metadata':{'name':'a'},'spec':{'ports':[{'port':80,'protocol':'UDP','name':'y'},{'port':80}]}}`,
			"a Update v1 01 {\"f:spec\":{\"f:ports\":{\".\":{}," +
				"\"k:{\\\"port\\\":80,\\\"protocol\\\":\\\"TCP\\\"}\":{\".\":{},\"f:port\":{},\"f:targetPort\":{}}," +
				"\"k:{\\\"port\\\":80,\\\"protocol\\\":\\\"UDP\\\"}\":{\".\":{},\"f:port\":{},\"f:protocol\":{},\"f:targetPort\":{}}}}}\n" +
				"b Update v1 02 {\"f:spec\":{\"f:ports\":{\"k:{\\\"port\\\":80,\\\"protocol\\\":\\\"UDP\\\"}\":{\"f:name\":{}}}}}"},
		{"an empty map is nothing", policy, ``, `{'metadata':{'name':'a'},'spec':{'podSelector':{'matchLabels':{}},'policyTypes':['Ingress']}}`,
			`b Update networking.k8s.io/v1 02 {"f:spec":{"f:policyTypes":{}}}`},
		{"but not below a list", policy,
			`{'metadata':{'name':'a'},'spec':{'podSelector':{},'ingress':[{'from':[{'podSelector':{}}]}]}}`,
			`{'metadata':{'name':'a'},'spec':{'podSelector':{},'ingress':[{'from':[{'podSelector':{'matchLabels':{}}}]}]}}`,
			`b Update networking.k8s.io/v1 02 {"f:spec":{"f:ingress":{}}}`},
		{"the main resource does not own status", service, ``,
			`{'metadata':{'name':'a'},'spec':{'type':'ClusterIP'},'status':{'conditions':[{'type':'A'}]}}`,
			`b Update v1 02 {"f:spec":{"f:type":{}}}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			var live object.Object
			if x.was != "" {
				live = updated(t, m, x.d, nil, x.was, by("a", 1))
			}
			is.Equal(owners(updated(t, m, x.d, live, x.now, by("b", 2))), x.want+"\n") // the owners of the fields
		})
	}
}

func TestManagedFieldsOfTheClient(t *testing.T) {
	t.Parallel()
	const live = `{'metadata':{'name':'a'},'data':{'k':'1'}}`
	const entry = `'apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':{'f:data':{'f:k':{}}}`
	const kept = `a Update v1 01 {"f:data":{".":{},"f:k":{}}}` + "\n"
	for _, x := range []struct{ name, sent, sub, want string }{
		{"[] clears them", `[]`, "", ""},
		{"[{}] clears them", `[{}]`, "", ""},
		{"null keeps them", `null`, "", kept},
		{"a wrong operation keeps them", `[{'manager':'h','operation':'Guess',` + entry + `}]`, "", kept},
		{"a wrong fieldsType keeps them", `[{'manager':'h','operation':'Apply','apiVersion':'v1','fieldsType':'x','fieldsV1':{}}]`, "", kept},
		{"a wrong path keeps them", `[{'manager':'h','operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':{'f':{}}}]`, "", kept},
		{"no apiVersion keeps them", `[{'manager':'h','operation':'Apply','fieldsType':'FieldsV1','fieldsV1':{}}]`, "", kept},
		{"others take their place", `[{'manager':'h','operation':'Apply',` + entry + `}]`, "", `h Apply v1 - {"f:data":{"f:k":{}}}` + "\n"},
		{"paths are brought into one form",
			`[{'manager':'h','operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':{'f:metadata':{'f:ownerReferences':{'k:{ \'uid\' : \'1\' }':{}},'x:y':{}}}}]`,
			"", `h Apply v1 - {"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"1\"}":{}}}}` + "\n"},
		{"a subresource does not take them", `[]`, "status", kept},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			m, d := New(Options{}), define(t, "v1", "ConfigMap", false)
			obj := updated(t, m, d, nil, live, by("a", 1))
			now := obj.Copy()
			sent := parse(t, `{'x':`+x.sent+`}`)["x"]
			now.Set(sent, "metadata", "managedFields")
			obj.Set("u", "metadata", "uid")
			m.Update(d, obj, now, By{Name: "b", Subresource: x.sub, Time: at(2)})
			is.Equal(owners(now), x.want) // the owners of the fields
		})
	}
}

func TestClearedObjectsAreNotTracked(t *testing.T) {
	is := is.New(t)
	m, d := New(Options{}), define(t, "v1", "ConfigMap", false)
	live := read(t, d, `{'metadata':{'name':'a','uid':'u'},'data':{'k':'1'}}`)
	obj := read(t, d, `{'metadata':{'name':'a','uid':'u'},'data':{'k':'2'}}`)
	m.Update(d, live, obj, by("b", 2))
	is.Equal(owners(obj), "") // until the next apply
}

func TestStatusEndpoint(t *testing.T) {
	is := is.New(t)
	m, d := New(Options{}), define(t, "policy/v1", "PodDisruptionBudget", true)
	live := updated(t, m, d, nil, `{'metadata':{'name':'a'},'spec':{'minAvailable':1}}`, by("a", 1))
	status := By{Name: "a", Subresource: "status", Time: at(2)}
	const text = `{'metadata':{'name':'a','labels':{'x':'y'}},'spec':{'minAvailable':2},'status':{'currentHealthy':3}}`
	is.Equal(owners(updated(t, m, d, live, text, status)), `a Update policy/v1 01 {"f:spec":{"f:minAvailable":{}}}
a Update policy/v1 status 02 {"f:metadata":{"f:labels":{".":{},"f:x":{}}},"f:status":{"f:currentHealthy":{}}}
`) // spec is reset, metadata is not
	d.Strategy.CustomStatus = true
	is.Equal(owners(updated(t, m, d, live, text, status)), `a Update policy/v1 01 {"f:spec":{"f:minAvailable":{}}}
a Update policy/v1 status 02 {"f:status":{"f:currentHealthy":{}}}
`) // metadata is reset too
	d.Strategy.ResetFields = map[string][]string{"status": {"spec", "metadata.labels", "status.none"}}
	is.Equal(owners(updated(t, m, d, live, text, status)), `a Update policy/v1 01 {"f:spec":{"f:minAvailable":{}}}
a Update policy/v1 status 02 {"f:status":{"f:currentHealthy":{}}}
`) // a rule of the resource's own
}

func TestOldUpdatesAreMerged(t *testing.T) {
	is := is.New(t)
	m, d := New(Options{}), define(t, "v1", "ConfigMap", false)
	var obj object.Object
	data := ""
	for i := range 13 {
		data += fmt.Sprintf("'k%02d':'x',", i)
		obj = updated(t, m, d, withFields(obj), `{'metadata':{'name':'a'},'data':{`+data[:len(data)-1]+`}}`, by(fmt.Sprintf("m%02d", i), i))
	}
	is.Equal(len(obj.List("metadata", "managedFields")), maxUpdates) // no more than ten
	first := object.Object(obj.List("metadata", "managedFields")[0].(map[string]any))
	is.Equal(first.String("manager"), ancient)                                                                     // the oldest ones
	is.Equal(owners(obj)[:80], `ancient-changes Update v1 03 {"f:data":{".":{},"f:k00":{},"f:k01":{},"f:k02":{},`) // with the time of the last one
}

func withFields(obj object.Object) object.Object {
	if obj == nil {
		return nil
	}
	return obj.Copy()
}

func TestUnchanged(t *testing.T) {
	is := is.New(t)
	m, d := New(Options{}), define(t, "v1", "ConfigMap", false)
	live := updated(t, m, d, nil, `{'metadata':{'name':'a'},'data':{'k':'1'}}`, by("a", 1))
	later := live.Copy()
	later.List("metadata", "managedFields")[0].(map[string]any)["time"] = object.Time(at(9))
	same := later.Copy()
	m.Unchanged(live, same)
	is.Equal(owners(same), owners(live)) // nothing but the time changed: it goes back
	later.Set("2", "data", "k")
	m.Unchanged(live, later)
	is.Equal(owners(later)[:17], "a Update v1 09 {\"") // something changed
}

func TestValidate(t *testing.T) {
	is := is.New(t)
	is.NoErr(Validate(parse(t, `{}`)))                                                                                   // none
	is.Equal(Validate(parse(t, `{'metadata':{'managedFields':[{}]}}`)).Error(), "operation must be `Apply` or `Update`") // not readable
}
