package resource

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// one is a store with one object.
type one struct{ obj object.Object }

func (o *one) Get(_, _, name string) object.Object {
	if name != o.obj.Name() {
		return nil
	}
	return o.obj.Copy()
}

func (o *one) Field(string, string, string, string) (string, bool)         { return "", false }
func (o *one) All(string, string) []object.Object                          { return nil }
func (o *one) Item(string, string, string) *Item                           { return nil }
func (o *one) Items(string, string, func(*Item) bool)                      {}
func (o *one) Delete(string, string, string, object.Object) *status.Status { return nil }

func (o *one) Write(storage, namespace, name string, change func(object.Object) *status.Status) *status.Status {
	_, s := o.Update(storage, namespace, name, "", change)
	return s
}

func (o *one) Update(_, _, name, _ string, change func(object.Object) *status.Status) (object.Object, *status.Status) {
	obj := o.Get("", "", name)
	if obj == nil {
		return nil, status.NotFound(status.Resource{}, name)
	}
	if s := change(obj); s != nil {
		return nil, s
	}
	o.obj = obj
	return obj.Copy(), nil
}

func parse(t *testing.T, text string) object.Object {
	t.Helper()
	obj, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return obj
}

// connection returns a request for the object's scale.
func connection(store *one, custom bool, verb string, body object.Object) *Connection {
	d := &Definition{GVK: schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}, Resource: "deployments",
		Storage: "deployments.apps", Namespaced: true, Custom: custom, Strategy: &Strategy{}}
	d.Hub = d
	return &Connection{Context: &Context{Definition: d, Subresource: "scale", Namespace: "ns", Name: "d"},
		Verb: verb, Body: body, Objects: store,
		Manage:      func(live, obj object.Object) {},
		ShowAs:      func(func(object.Object) object.Object) {},
		AdmitUpdate: func(live, body object.Object) *status.Status { return nil },
		ToScale:     func([]any, map[string]string) []any { return nil },
		FromScale:   func([]any, []any, string, map[string]string) []any { return nil }}
}

var (
	builtIn = ScalePaths{Replicas: ".spec.replicas", Status: ".status.replicas", Selector: ".spec.selector", Query: LabelSelectorQuery}
	custom  = ScalePaths{Replicas: ".spec.size", Status: ".status.size", Selector: ".status.query"}
)

// answer calls the connector and formats its result as a string.
func answer(p ScalePaths, c *Connection) string {
	obj, s := Scale(p)(c)
	if s != nil {
		return s.Message
	}
	return string(object.JSON(map[string]any{"spec": obj["spec"], "status": obj["status"]}))
}

func TestScaleIsRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		paths  ScalePaths
		custom bool
		verb   string
		obj    string
		want   string
	}{
		{"a deployment", builtIn, false, "get",
			`{"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"b":"c"},"matchExpressions":[{"key":"a","operator":"In","values":["y","x"]}]}},"status":{"replicas":1}}`,
			`{"spec":{"replicas":2},"status":{"replicas":1,"selector":"a in (x,y),b=c"}}`},
		{"plain labels", ScalePaths{Replicas: ".spec.replicas", Status: ".status.replicas", Selector: ".spec.selector", Query: LabelSetQuery}, false, "get",
			`{"metadata":{"name":"d"},"spec":{"replicas":0,"selector":{"c":"d","a":"b"}}}`,
			`{"spec":{"replicas":0},"status":{"replicas":0,"selector":"a=b,c=d"}}`},
		{"a custom resource", custom, true, "get", `{"metadata":{"name":"d"},"spec":{"size":3},"status":{"size":2,"query":"a=b"}}`,
			`{"spec":{"replicas":3},"status":{"replicas":2,"selector":"a=b"}}`},
		{"one without a size", custom, true, "get", `{"metadata":{"name":"d"}}`,
			`Internal error occurred: the spec replicas field ".spec.size" does not exist`},
		{"the same, for a patch", custom, true, "patch", `{"metadata":{"name":"d"}}`,
			`{"spec":{"replicas":-2147483648},"status":{"replicas":0,"selector":""}}`},
		{"a wrong type", custom, true, "get", `{"metadata":{"name":"d"},"spec":{"size":"x"}}`,
			`.spec.size accessor error: x is of the type string, expected int64`},
		{"a wrong type on the way", custom, true, "get", `{"metadata":{"name":"d"},"spec":1}`,
			`.spec.size accessor error: 1 is of the type int64, expected map[string]interface{}`},
		{"missing", builtIn, false, "get", `{"metadata":{"name":"other"}}`, `deployments.apps "d" not found`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(answer(tc.paths, connection(&one{parse(t, tc.obj)}, tc.custom, tc.verb, nil)), tc.want)
		})
	}
}

func TestScaleIsWritten(t *testing.T) {
	t.Parallel()
	const deployment = `{"metadata":{"name":"d","namespace":"ns","uid":"u","resourceVersion":"7"},"spec":{"replicas":2,"size":2}}`
	for _, tc := range []struct {
		name   string
		paths  ScalePaths
		custom bool
		verb   string
		body   string
		want   string
		rv     string // resourceVersion that the write to the store must find
	}{
		{"a number", builtIn, false, "update", `{"metadata":{"name":"d","namespace":"ns"},"spec":{"replicas":5}}`,
			`{"spec":{"replicas":5},"status":{"replicas":0,"selector":""}}`, ""},
		{"a version", builtIn, false, "update", `{"metadata":{"name":"d","namespace":"ns","resourceVersion":"6"},"spec":{"replicas":5}}`,
			`{"spec":{"replicas":5},"status":{"replicas":0,"selector":""}}`, "6"},
		{"nothing", builtIn, false, "update", `{"metadata":{"name":"d","namespace":"ns"}}`,
			`{"spec":{"replicas":0},"status":{"replicas":0,"selector":""}}`, ""},
		{"a negative number", builtIn, false, "update", `{"metadata":{"name":"d","namespace":"ns"},"spec":{"replicas":-1}}`,
			`Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`, "7"},
		{"a uid", builtIn, false, "update", `{"metadata":{"name":"d","namespace":"ns","uid":"x"}}`,
			`Operation cannot be fulfilled on deployments.apps "d": StorageError: invalid object, Code: 4, Key: /registry/deployments/ns/d, ` +
				`ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: u`, "7"},
		{"a uid in a patch", builtIn, false, "patch", `{"metadata":{"name":"d","namespace":"ns","uid":"x"}}`,
			`Operation cannot be fulfilled on deployments/scale.apps "d": Precondition failed: UID in precondition: x, UID in object meta: u`, "7"},
		{"a custom resource", custom, true, "update", `{"metadata":{"name":"d"},"spec":{"replicas":5}}`,
			`{"spec":{"replicas":5},"status":{"replicas":0,"selector":""}}`, "7"},
		{"a patch that leaves it unset", custom, true, "patch", `{"metadata":{"name":"d"},"spec":{"replicas":-2147483648}}`,
			`the spec replicas field ".spec.size" cannot be empty`, "7"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			store := &one{parse(t, deployment)}
			is.Equal(answer(tc.paths, connection(store, tc.custom, tc.verb, parse(t, tc.body))), tc.want)
			is.Equal(store.obj.ResourceVersion(), tc.rv)
		})
	}
}

// TestScaleOwners writes a Scale whose managedFields are those of the object. The write stores the changed entries in the object.
func TestScaleOwners(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	store := &one{parse(t, `{"metadata":{"name":"d","namespace":"ns","managedFields":["parent"]},"spec":{"replicas":2}}`)}
	p := ScalePaths{Replicas: ".spec.replicas", Status: ".status.replicas"}
	p.Versions = map[string]string{"apps/v1beta1": ".spec.size"}
	c := connection(store, true, "update", parse(t, `{"metadata":{"name":"d","namespace":"ns"},"spec":{"replicas":5}}`))
	c.ToScale = func(parent []any, replicas map[string]string) []any {
		is.Equal(replicas, map[string]string{"apps/v1": "spec.replicas", "apps/v1beta1": "spec.size"})
		return []any{"scale of", parent[0]}
	}
	c.Manage = func(live, obj object.Object) {
		obj.Set(append(live.List("metadata", "managedFields"), "client"), "metadata", "managedFields")
	}
	c.FromScale = func(parent, scale []any, apiVersion string, _ map[string]string) []any {
		return append(append([]any{apiVersion}, parent...), scale...)
	}
	_, s := Scale(p)(c)
	is.Equal(s, nil)
	is.Equal(string(object.JSON(store.obj.List("metadata", "managedFields"))), `["apps/v1","parent","scale of","parent","client"]`)
}

func TestServerKey(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		storage, group, resource, prefix, namespace string
		custom, dryRun                              bool
		want                                        string
	}{
		{"pods", "", "pods", "", "ns", false, false, "/registry/pods/ns/x"},
		{"deployments.apps", "apps", "deployments", "", "ns", false, true, "/deployments/ns/x"},
		{"nodes", "", "nodes", "minions", "", false, false, "/registry/minions/x"},
		{"services", "", "services", "services/specs", "ns", false, false, "/registry/services/specs/ns/x"},
		{"widgets.example.com", "example.com", "widgets", "", "ns", true, false, "/registry/example.com/widgets/ns/x"},
	} {
		t.Run(tc.storage, func(t *testing.T) {
			is := is.New(t)
			d := &Definition{GVK: schema.GVK{Group: tc.group}, Resource: tc.resource, Storage: tc.storage, KeyPrefix: tc.prefix, Custom: tc.custom}
			is.Equal(d.ServerKey(tc.namespace, "x", tc.dryRun), tc.want)
		})
	}
}
