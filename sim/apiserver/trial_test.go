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
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/registry/registrytest"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/wire"
)

// target is a real server to which the requests are sent instead, with the tokens admintoken and alicetoken: it has to agree
// with every table (KUBESIM_TARGET=http://127.0.0.1:6480, as make real prints it).
var target = os.Getenv("KUBESIM_TARGET")

// trial is one request of the admin's, of which any part can be spoilt. The config map "a" is there.
type trial struct {
	method, path string
	query        url.Values
	header       wire.Header
	body         map[string]any
	raw          string // instead of the body
	send         func(*trial) (code int, body string)
}

// request describes a request: its method or WATCH, its path below /api/v1/namespaces/NAMESPACE, what the body is sent as.
type request struct{ method, path, media string }

func newTrial(t *testing.T, q request) *trial {
	t.Helper()
	namespace := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	send := overHTTP
	if target == "" {
		send = inProcess()
	}
	for _, set := range []struct{ method, path, name string }{
		{"POST", "/api/v1/namespaces", namespace},
		{"DELETE", "/api/v1/namespaces/" + namespace + "/configmaps/b", ""},
		{"POST", "/api/v1/namespaces/" + namespace + "/configmaps", "a"},
	} {
		x := &trial{method: set.method, path: set.path, send: send, header: wire.Header{"Authorization": {"Bearer admintoken"}}}
		if set.name != "" {
			x.header.Set("Content-Type", "application/json")
			x.body = map[string]any{"metadata": map[string]any{"name": set.name}}
		}
		if code, body := send(x); code > 201 && code != http.StatusConflict && set.method != "DELETE" {
			t.Fatal(code, body)
		}
	}
	x := &trial{method: q.method, path: "/api/v1/namespaces/" + namespace + "/" + q.path, query: url.Values{}, send: send,
		header: wire.Header{"Authorization": {"Bearer admintoken"}}}
	if q.method == "WATCH" {
		x.method = "GET"
		x.query.Set("watch", "true")
	}
	if q.media != "" {
		x.header.Set("Content-Type", q.media)
		x.body = map[string]any{"metadata": map[string]any{"name": "a"}}
	}
	switch {
	case q.method == "DELETE": // its body is a DeleteOptions
		x.body = map[string]any{}
	case strings.HasPrefix(q.media, "application/apply"):
		x.query.Set("fieldManager", "test")
		x.body["kind"], x.body["apiVersion"] = "ConfigMap", "v1"
	}
	return x
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
	return string(text)
}

// metadata is that of the body.
func (x *trial) metadata() map[string]any { return x.body["metadata"].(map[string]any) }

// inProcess is a server over a store of its own.
func inProcess() func(*trial) (int, string) {
	b := registrytest.New(mvcc.New(1), clock.Epoch())
	table := resource.NewTable(b.Served)
	s := &apiserver.Server{Lock: &sync.Mutex{}, Registry: b.Registry(), Table: table, Schema: b.Schema,
		Auth:      auth.New(auth.Options{Mode: auth.RBAC}),
		Discovery: discovery.New(discovery.Options{Table: table, Schema: b.Schema, Version: discovery.Release("1.36.3"), Now: b.Now}),
		Decoder:   &codec.Decoder{Kinds: b.Schema.Kind, Meta: b.Schema.Named(crd.ObjectMeta)}}
	return func(x *trial) (code int, body string) {
		q := &apiserver.Request{Method: x.method, Path: x.path, Query: x.query, Header: x.header}
		content := x.content()
		q.ReadBody(strings.NewReader(content), int64(len(content)))
		s.Start(q, func(a *apiserver.Answer) { code, body = a.Code, string(a.Body.Bytes()) })
		return code, body
	}
}

// overHTTP sends the request to the target.
func overHTTP(x *trial) (int, string) {
	q, err := http.NewRequest(x.method, target+x.path+"?"+x.query.Encode(), bytes.NewReader([]byte(x.content())))
	if err != nil {
		return 0, err.Error()
	}
	q.Header = http.Header(x.header)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err.Error()
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		return 0, err.Error()
	}
	return a.StatusCode, string(body)
}

// step is a step on the way of a request, what makes it fail, and the code and a part of the answer then.
type step struct {
	name string
	fail func(*trial)
	code int
	want string
}

// inOrder checks that each step fails as it says, and that of any two which fail the earlier one is what the client reads.
func inOrder(t *testing.T, q request, steps ...[]step) {
	t.Helper()
	all := slices.Concat(steps...)
	for i, first := range all {
		for j, second := range all[i:] {
			x := newTrial(t, q)
			if j > 0 {
				second.fail(x)
			}
			first.fail(x)
			if code, body := x.send(x); code != first.code || !strings.Contains(message(body), first.want) {
				t.Errorf("%q and %q fail: the client reads %d %.300s, want the former's %d %s", first.name, second.name, code, message(body), first.code, first.want)
			}
		}
	}
}

// message is that of a Status in JSON; of anything else, the whole.
func message(body string) string {
	var s struct{ Message string }
	if json.Unmarshal([]byte(body), &s) != nil {
		return body
	}
	return s.Message
}
