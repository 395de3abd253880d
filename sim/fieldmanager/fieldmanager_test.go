package fieldmanager

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// define returns the definition of a built-in kind without defaults.
func define(t testing.TB, apiVersion, kindName string, hasStatus bool) *resource.Definition {
	t.Helper()
	set, err := schema.Load(schema.Default)
	if err != nil {
		t.Fatal(err)
	}
	gvk := schema.ParseGVK(apiVersion, kindName)
	d := &resource.Definition{GVK: gvk, Storage: kindName, Strategy: &resource.Strategy{HasStatus: hasStatus},
		Type: func() *schema.Type { return set.Kind(gvk) }}
	if set.Kind(gvk) == nil {
		t.Fatalf("no type of %v", gvk)
	}
	d.Hub = d
	return d
}

// parse parses an object in which ' stands for ".
func parse(t testing.TB, text string) object.Object {
	t.Helper()
	b := []byte(text)
	for i := range b {
		if b[i] == '\'' {
			b[i] = '"'
		}
	}
	obj, err := object.Parse(b)
	if err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return obj
}

// at is the time of the n-th second.
func at(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }

func by(name string, second int) By { return By{Name: name, Time: at(second)} }

// owners formats managedFields, one entry per line: manager operation apiVersion [subresource] second fields.
func owners(obj object.Object) string {
	out := ""
	for _, v := range obj.List("metadata", "managedFields") {
		e := object.Object(v.(map[string]any))
		out += e.String("manager") + " " + e.String("operation") + " " + e.String("apiVersion")
		if s := e.String("subresource"); s != "" {
			out += " " + s
		}
		if s := e.String("time"); s != "" {
			out += " " + s[17:19]
		} else {
			out += " -"
		}
		fields, _ := json.Marshal(object.Plain(e["fieldsV1"]))
		out += " " + string(fields) + "\n"
	}
	return out
}

func TestCreateDeployment(t *testing.T) {
	is := is.New(t)
	d := define(t, "apps/v1", "Deployment", true)
	obj := parse(t, `{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'d'},
		'spec':{'progressDeadlineSeconds':600,'replicas':2,'revisionHistoryLimit':10,'selector':{'matchLabels':{'app':'a'}},
		'strategy':{'rollingUpdate':{'maxSurge':'25%','maxUnavailable':'25%'},'type':'RollingUpdate'},
		'template':{'metadata':{'labels':{'app':'a'}},'spec':{'containers':[{'image':'nginx:1','imagePullPolicy':'IfNotPresent','name':'c',
		'terminationMessagePath':'/dev/termination-log','terminationMessagePolicy':'File'}],'dnsPolicy':'ClusterFirst',
		'restartPolicy':'Always','schedulerName':'default-scheduler','securityContext':{},'terminationGracePeriodSeconds':30}}},
		'status':{'replicas':7}}`)
	New(Options{}).Update(d, nil, obj, by("conform", 1))
	is.Equal(owners(obj), `conform Update apps/v1 01 {"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}}}
`) // as the real server records it
}
