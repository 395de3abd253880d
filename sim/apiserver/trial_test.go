package apiserver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/registry/registrytest"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

// target is the address of a real server to which the requests are sent instead, with the tokens admintoken and alicetoken. It must
// return what every table expects (KUBESIM_TARGET=http://127.0.0.1:6480, which make real prints).
var target = os.Getenv("KUBESIM_TARGET")

// trial is one request of an administrator. Tests change it to make it invalid. An object "a" exists in the collection of its path
// if present contains the collection.
type trial struct {
	method, path string
	query        url.Values
	header       wire.Header
	body         map[string]any
	raw          string // body to send instead of the encoded object
	twice        string // a field that the body contains a second time: key and value
	send         func(*trial) answer
}

// answer is the response that the client gets.
type answer struct {
	code   int
	header wire.Header
	body   string
}

// request describes a request: its method or WATCH, its path below /api/v1/namespaces/NAMESPACE, or a complete path with NAMESPACE
// in it, and the content type of its body.
type request struct{ method, path, media string }

// present maps collections to the objects that exist if a path contains the collection.
var present = map[string]string{
	"/api/v1/namespaces/NAMESPACE/configmaps": `{"metadata":{"name":"a"}}`,
	"/api/v1/namespaces/NAMESPACE/replicationcontrollers": `{"metadata":{"name":"a"},"spec":{"replicas":0,"selector":{"a":"b"},"template":{
		"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
	"/apis/example.com/v1/namespaces/NAMESPACE/widgets": `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"replicas":1}}`,
}

func newTrial(t *testing.T, q request) *trial {
	t.Helper()
	if target == "" {
		s, _ := newServer(t)
		return trialOf(t, q, inProcess(t, s))
	}
	if strings.Contains(q.path, "/widgets") {
		x := &trial{send: overHTTP, header: wire.Header{"Authorization": {"Bearer admintoken"}}}
		x.make(t, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgets)
		for x.also("GET", "/apis/example.com/v1/widgets", "", "").code == http.StatusNotFound { // the definition is not served yet
		}
	}
	return trialOf(t, q, overHTTP)
}

// trialOf is newTrial with a server to which send sends requests.
func trialOf(t *testing.T, q request, send func(*trial) answer) *trial {
	t.Helper()
	namespace := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	path := func(text string) string { return strings.Replace(text, "NAMESPACE", namespace, 1) }
	x := &trial{method: q.method, path: q.path, query: url.Values{}, send: send, header: wire.Header{"Authorization": {"Bearer admintoken"}}}
	if !strings.HasPrefix(x.path, "/") {
		x.path = "/api/v1/namespaces/NAMESPACE/" + q.path
	}
	x.make(t, "/api/v1/namespaces", `{"metadata":{"name":"`+namespace+`"}}`)
	for collection, obj := range present { // order does not matter
		if strings.HasPrefix(x.path, collection) {
			for _, name := range []string{"a", "b"} { // objects that another trial left
				x.also("DELETE", path(collection)+"/"+name, "application/json", `{"propagationPolicy":"Background"}`)
			}
			x.make(t, path(collection), obj)
		}
	}
	x.path = path(x.path)
	if q.method == "WATCH" {
		x.method = "GET"
		x.query.Set("watch", "true")
	}
	if q.media != "" {
		x.header.Set("Content-Type", q.media)
		x.body = map[string]any{"metadata": map[string]any{"name": "a"}}
	}
	switch {
	case q.method == "DELETE": // the body of a DELETE is a DeleteOptions object
		x.body = map[string]any{}
	case strings.HasPrefix(q.media, "application/apply"):
		x.query.Set("fieldManager", "test")
		x.body["kind"], x.body["apiVersion"] = "ConfigMap", "v1"
	}
	return x
}

// make creates an object unless it exists.
func (x *trial) make(t *testing.T, collection, obj string) {
	t.Helper()
	if a := x.also("POST", collection, "application/json", obj); a.code > 201 && a.code != http.StatusConflict {
		t.Fatal(a.code, a.body)
	}
}

// also sends another request as the same user.
func (x *trial) also(method, path, media, body string) answer {
	q := &trial{method: method, path: path, raw: body, header: x.header.Clone()}
	q.header.Set("Content-Type", media)
	return x.send(q)
}

func (x *trial) content() string {
	switch {
	case x.raw != "":
		return x.raw
	case x.body == nil:
		return ""
	}
	text, err := json.Marshal(x.body)
	if err != nil {
		panic(err)
	}
	if x.twice != "" {
		text = slices.Concat(text[:len(text)-1], []byte(","+x.twice+","+x.twice+"}"))
	}
	return string(text)
}

// metadata returns the metadata of the body.
func (x *trial) metadata() map[string]any { return x.body["metadata"].(map[string]any) }

// newServer returns a server with its own store.
func newServer(t *testing.T) (*apiserver.Server, *registrytest.Backend) {
	t.Helper()
	b := registrytest.New(mvcc.New(1), clock.Epoch())
	table := resource.NewTable(b.Served)
	reg := b.Registry()
	s := &apiserver.Server{Lock: &sync.Mutex{}, Registry: reg, Table: table, Schema: b.Schema,
		Auth:      auth.New(auth.Options{Mode: auth.RBAC}),
		Host:      flowing{reg: reg},
		Discovery: discovery.New(discovery.Options{Table: table, Schema: b.Schema, Version: discovery.Release("1.36.3")}),
		Decoder:   &codec.Decoder{Schema: b.Schema, Meta: b.Schema.Named(crd.ObjectMeta)}}
	serveWidgets(t, s, b)
	return s, b
}

// flowing is a Host with flow schemas.
type flowing struct {
	apiserver.StandaloneHost
	reg *registry.Registry
}

func (h flowing) Flow() *flowcontrol.Config { return flowcontrol.New(h.reg.Reader()) }

// widgets is the definition of a custom resource that has a scale.
const widgets = `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets",
	"singular":"widget","kind":"Widget","listKind":"WidgetList"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{},
	"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},"schema":{"openAPIV3Schema":{"type":"object",
	"properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}}]}}`

// serveWidgets makes a server serve the custom resource widgets.
func serveWidgets(t *testing.T, s *apiserver.Server, b *registrytest.Backend) {
	t.Helper()
	obj, err := object.Parse([]byte(widgets))
	if err != nil {
		t.Fatal(err)
	}
	crd.Defaults(obj)
	crd.Names(obj, nil, b.Now())
	custom := &crd.Server{Schema: b.Schema, Minor: 36, Meta: s.Decoder.ReadMeta}
	definitions := &resource.Definition{Strategy: &resource.Strategy{}}
	definitions.Hub = definitions
	for _, d := range custom.Define(resource.NewItem(definitions, obj, 1, object.JSON(map[string]any(obj)))).New {
		s.Table.Add(d)
		b.Hubs[d.Storage] = d.Hub
	}
	s.Decoder.Unstructured, s.Decoder.Prune = custom.Known, custom.Prune
}

// inProcess returns a function that sends requests to a server. The server must respond to each exactly once.
func inProcess(t *testing.T, s *apiserver.Server) func(*trial) answer {
	return func(x *trial) (got answer) {
		q := &apiserver.Request{Method: x.method, Path: x.path, Query: x.query, Header: x.header}
		content := x.content()
		q.ReadBody(strings.NewReader(content), int64(len(content)))
		s.Start(q, func(a *apiserver.Answer) {
			if got.code != 0 {
				t.Errorf("%s %s is answered twice: %d, and then %d", x.method, x.path, got.code, a.Code)
			}
			got = answer{a.Code, a.Header.Clone(), string(a.Body.Bytes())}
		})
		return got
	}
}

// overHTTP sends the request to the target.
func overHTTP(x *trial) answer {
	q, err := http.NewRequest(x.method, target+x.path+"?"+x.query.Encode(), bytes.NewReader([]byte(x.content())))
	if err != nil {
		return answer{body: err.Error()}
	}
	q.Header = http.Header(x.header)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return answer{body: err.Error()}
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		return answer{body: err.Error()}
	}
	return answer{a.StatusCode, wire.Header(a.Header), string(body)}
}

// step is a step in handling a request, a function that makes it fail, and the code and a part of the body of the response in that
// case.
type step struct {
	name string
	fail func(*trial)
	code int
	want string
}

// inOrder checks that each step fails with its error, and that if two steps fail, the client gets the error of the earlier step.
func inOrder(t *testing.T, q request, steps ...[]step) {
	t.Helper()
	inOrderOf(t, func() *trial { return newTrial(t, q) }, slices.Concat(steps...))
}

// inOrderOf is inOrder for the requests that begin creates. unseen are steps that come after the last of steps; because that one
// always fails, they are never reached.
func inOrderOf(t *testing.T, begin func() *trial, steps []step, unseen ...step) {
	t.Helper()
	for i, first := range steps {
		for _, second := range append(slices.Clone(steps[i:]), unseen...) {
			x := begin()
			if second.name != first.name {
				second.fail(x)
			}
			first.fail(x)
			if a := x.send(x); a.code != first.code || !strings.Contains(message(a.body), first.want) {
				t.Errorf("%q and %q fail: the client reads %d %.300s, want the former's %d %s", first.name, second.name, a.code, message(a.body), first.code, first.want)
			}
		}
	}
}

// message returns the message of a Status in JSON, or the whole body if it is not a Status.
func message(body string) string {
	var s struct{ Message string }
	if json.Unmarshal([]byte(body), &s) != nil {
		return body
	}
	return s.Message
}
