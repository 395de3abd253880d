package fieldmanager

import (
	"testing"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const podText = `{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'default','uid':'1','labels':{'app':'a'}},
 'spec':{'containers':[{'name':'c','image':'nginx:1','imagePullPolicy':'IfNotPresent','terminationMessagePath':'/dev/termination-log',
 'terminationMessagePolicy':'File','ports':[{'containerPort':80,'protocol':'TCP'}],'env':[{'name':'A','value':'1'},{'name':'B','value':'2'}],
 'volumeMounts':[{'name':'v','mountPath':'/v'}],'resources':{'limits':{'cpu':'1','memory':'1Gi'},'requests':{'cpu':'1','memory':'1Gi'}}},
 {'name':'d','image':'busybox:1','imagePullPolicy':'IfNotPresent','terminationMessagePath':'/dev/termination-log','terminationMessagePolicy':'File'}],
 'dnsPolicy':'ClusterFirst','restartPolicy':'Always','schedulerName':'default-scheduler','enableServiceLinks':true,'priority':0,
 'securityContext':{},'terminationGracePeriodSeconds':30,'volumes':[{'name':'v','emptyDir':{}}],
 'tolerations':[{'effect':'NoExecute','key':'node.kubernetes.io/not-ready','operator':'Exists','tolerationSeconds':300}]},
 'status':{'phase':'Pending','qosClass':'Guaranteed'}}`

// read decodes an object like a request of the API server; stored decodes one like an object from the store.
func read(t testing.TB, d *resource.Definition, text string) object.Object {
	t.Helper()
	obj, _, err := codec.DecodeJSON(object.JSON(map[string]any(parse(t, text))), d.Type())
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func stored(t testing.TB, d *resource.Definition, obj object.Object) object.Object {
	t.Helper()
	out, err := object.Parse(codec.Append(nil, obj, d.Type()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func BenchmarkPodCreate(b *testing.B) {
	d := define(b, "v1", "Pod", true)
	m, obj, who := New(Options{}), read(b, d, podText), by("kubectl-create", 1)
	b.ReportAllocs()
	for b.Loop() {
		obj.Remove("metadata", "managedFields")
		m.Update(d, nil, obj, who)
	}
}

func BenchmarkPodUpdate(b *testing.B) {
	d := define(b, "v1", "Pod", true)
	m := New(Options{})
	live := read(b, d, podText)
	m.Update(d, nil, live, by("kubectl-create", 1))
	status := live.Copy()
	status.Set("Running", "status", "phase")
	status.Set("10.0.0.1", "status", "podIP")
	m.Update(d, live, status, By{Name: "kubelet", Subresource: "status", Time: at(2)})
	live = stored(b, d, status)
	change := read(b, d, string(object.JSON(map[string]any(live))))
	change.Set("b", "metadata", "labels", "app")
	change.Set("nginx:2", "spec", "containers")
	change["spec"] = live.Copy()["spec"]
	change.Map("spec")["containers"].([]any)[0].(map[string]any)["image"] = "nginx:2"
	sent, _ := change.Get("metadata", "managedFields")
	b.ReportAllocs()
	for b.Loop() {
		change.Set(sent, "metadata", "managedFields")
		m.Update(d, live, change, by("kubectl-edit", 3))
	}
}

func BenchmarkConfigMapApply(b *testing.B) {
	d := define(b, "v1", "ConfigMap", false)
	m := New(Options{})
	config := parse(b, `{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'default','labels':{'x':'y'}},'data':{'k':'1','j':'2'}}`)
	live, _, s := m.Apply(d, nil, config, by("m1", 1), false)
	if s != nil {
		b.Fatal(s)
	}
	live = stored(b, d, live)
	config.Set("2", "data", "k")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, s := m.Apply(d, live, config, by("m1", 2), false); s != nil {
			b.Fatal(s)
		}
	}
}
