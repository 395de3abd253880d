package fake_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// shapes returns an aggregated API server. It serves one resource and returns the user of the request.
func shapes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/shapes.example.com/v1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"shapes.example.com/v1","resources":[
			{"name":"circles","singularName":"circle","namespaced":true,"kind":"Circle","verbs":["get","list","watch"],"shortNames":["ci"]},
			{"name":"circles/scale","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale","verbs":["get"]}]}`)
	})
	mux.HandleFunc("/apis/shapes.example.com/v1/namespaces/default/circles/{name}", func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		w.Header().Set("X-Own", "1")
		json.NewEncoder(w).Encode(map[string]any{"uri": q.RequestURI, "body": string(body), "header": q.Header})
	})
	mux.HandleFunc("GET /apis/shapes.example.com/v1/circles", func(w http.ResponseWriter, q *http.Request) {
		for i := range 3 {
			fmt.Fprintf(w, "event %d\n", i)
			w.(http.Flusher).Flush()
		}
		<-q.Context().Done()
	})
	mux.HandleFunc("GET /openapi/v3", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"paths":{"apis/shapes.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/shapes.example.com/v1?hash=A"}}}`)
	})
	mux.HandleFunc("GET /openapi/v3/apis/shapes.example.com/v1", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"openapi":"3.0.0"}`) })
	mux.HandleFunc("GET /openapi/v2", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"swagger":"2.0","paths":{"/apis/shapes.example.com/v1/circles":{"get":{"responses":{"200":{"schema":{"$ref":"#/definitions/io.k8s.api.core.v1.Pod"}}}}},
			"/apis/other/v1/x":{"get":{}}},"definitions":{"com.example.Circle":{"type":"object"},"io.k8s.api.core.v1.Pod":{"type":"string"}}}`)
	})
	return mux
}

const shapesService = "/apis/apiregistration.k8s.io/v1/apiservices/v1.shapes.example.com"

// available returns the reason and the message of the condition Available.
func (c client) available() (reason, message string) {
	c.t.Helper()
	_, body := c.do("GET", shapesService, "")
	return condition(c.t, body)
}

func condition(t *testing.T, body string) (reason, message string) {
	t.Helper()
	obj, err := object.Parse([]byte(body))
	if err != nil || len(obj.List("status", "conditions")) != 1 {
		t.Fatal(body)
	}
	condition := object.Object(obj.List("status", "conditions")[0].(map[string]any))
	return condition.String("reason"), condition.String("message")
}

// aggregatedDiscovery returns the version of the group in aggregated discovery.
func (c client) aggregatedDiscovery() string {
	c.t.Helper()
	q, err := http.NewRequest("GET", c.srv.URL()+"/apis", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	q.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	res, err := c.srv.Transport().RoundTrip(q)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, x := range c.parse(read(c.t, res.Body)).List("items") {
		if group := object.Object(x.(map[string]any)); group.String("metadata", "name") == "shapes.example.com" {
			return string(object.JSON(group.List("versions")[0]))
		}
	}
	return ""
}

// TestAggregate checks that a handler can replace an aggregated API server in a bubble: it is available and discovered
// at once, gets the user's name but not the token, and streams its output piece by piece.
func TestAggregate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}})}
		c.srv.Aggregate("v1.shapes.example.com", shapes())
		reason, message := c.available()
		is.Equal(reason+": "+message, "Passed: all checks passed")
		is.Equal(c.aggregatedDiscovery(), `{"freshness":"Current","resources":[{"resource":"circles","responseKind":{"group":"","kind":"Circle","version":""},`+
			`"scope":"Namespaced","shortNames":["ci"],"singularResource":"circle","subresources":[{"responseKind":{"group":"autoscaling","kind":"Scale",`+
			`"version":"v1"},"subresource":"scale","verbs":["get"]}],"verbs":["get","list","watch"]}],"version":"v1"}`)

		q, err := http.NewRequest("POST", c.srv.URL()+"/apis/shapes.example.com/v1/namespaces/default/circles/a?b=2&a=1%20x", strings.NewReader("round"))
		is.NoErr(err)
		q.Header = http.Header{"Impersonate-User": {"bob"}, "Impersonate-Group": {"g"}, "Impersonate-Extra-Scopes%2fx": {"s"}, "X-Remote-User": {"evil"},
			"X-Remote-Extra-E": {"evil"}, "Authorization": {"Basic x"}, "Connection": {"X-Hop"}, "X-Hop": {"1"}}
		res, err := c.srv.Transport().RoundTrip(q)
		is.NoErr(err)
		is.Equal(res.Header["X-Own"], []string{"1"})
		is.Equal(len(res.Header["X-Kubernetes-Pf-Flowschema-Uid"]), 1) // every response has it, but only once
		var got struct {
			URI, Body string
			Header    http.Header
		}
		is.NoErr(json.Unmarshal([]byte(read(t, res.Body)), &got))
		is.Equal(got.URI, "/apis/shapes.example.com/v1/namespaces/default/circles/a?a=1+x&b=2")
		is.Equal(got.Body, "round")
		is.Equal(len(got.Header["Audit-Id"]), 1)
		delete(got.Header, "Audit-Id")
		is.Equal(got.Header, http.Header{"X-Remote-User": {"bob"}, "X-Remote-Group": {"g", "system:authenticated"},
			"X-Remote-Extra-Scopes%2fx": {"s"}, "X-Forwarded-Host": {"v1-shapes-example-com.default.svc:443"}, "X-Forwarded-Proto": {"https"},
			"X-Forwarded-Uri": {"/apis/shapes.example.com/v1/namespaces/default/circles/a"}})

		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		watch := c.get(ctx, "/apis/shapes.example.com/v1/circles?watch=1")
		lines := bufio.NewScanner(watch.Body)
		for i := range 3 {
			is.True(lines.Scan())
			is.Equal(lines.Text(), fmt.Sprint("event ", i))
		}
		watch.Body.Close() // this ends the handler's context

		_, index := c.do("GET", "/openapi/v3", "")
		is.True(strings.Contains(index, `"apis/shapes.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/shapes.example.com/v1?hash=A"}`))
		_, document := c.do("GET", "/openapi/v3/apis/shapes.example.com/v1", "")
		is.Equal(document, `{"openapi":"3.0.0"}`)
		_, text := c.do("GET", "/openapi/v2", "")
		v2 := c.parse(text)
		is.Equal(v2.String("definitions", "com.example.Circle", "type"), "object")
		is.Equal(v2.String("definitions", "io.k8s.api.core.v1.Pod_v2", "type"), "string") // renamed, because another definition has its name
		path := object.Object(v2.Map("paths")["/apis/shapes.example.com/v1/circles"].(map[string]any))
		is.Equal(path.String("get", "responses", "200", "schema", "$ref"), "#/definitions/io.k8s.api.core.v1.Pod_v2")
		is.True(v2.Map("paths")["/apis/other/v1/x"] == nil) // its path is not below the APIService's path
	})
}

// TestAggregateAway checks that the server notices within 30 seconds of its clock that an aggregated API server has
// gone away or has come back. Until then its information is out of date, and requests get 503.
func TestAggregateAway(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	up, mux := true, shapes()
	c.srv.Aggregate("v1.shapes.example.com", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !up {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, q)
	}))
	up = false
	code, body := c.do("GET", "/apis/shapes.example.com/v1", "")
	is.Equal(fmt.Sprint(code, " ", body), "503 down\n") // the server has not noticed yet
	c.srv.Clock.Advance(30 * time.Second)
	reason, message := c.available()
	is.Equal(reason, "FailedDiscoveryCheck")
	is.Equal(message, "failing or missing response from https://v1-shapes-example-com.default.svc:443/apis/shapes.example.com/v1: "+
		"bad status from https://v1-shapes-example-com.default.svc:443/apis/shapes.example.com/v1: 503")
	code, body = c.do("GET", "/apis/shapes.example.com/v1/circles", "")
	is.Equal(fmt.Sprint(code, " ", body), "503 service unavailable\n")
	is.Equal(c.aggregatedDiscovery(), `{"freshness":"Stale","version":"v1"}`)
	_, list := c.do("GET", "/apis/shapes.example.com", "")
	is.True(strings.Contains(list, `"shapes.example.com/v1"`)) // the group is listed
	up = true
	c.srv.Clock.Advance(10 * time.Millisecond)
	reason, _ = c.available()
	is.Equal(reason, "Passed")

	_, _ = c.do("DELETE", shapesService, "")
	code, body = c.do("GET", "/apis/shapes.example.com/v1", "")
	is.Equal(fmt.Sprint(code, " ", body), "404 404 page not found\n")
	is.Equal(c.aggregatedDiscovery(), "")
}

// TestAggregatePriority checks that groups are listed in order of the priorities of their APIServices, and that
// versions are listed in order of theirs.
func TestAggregatePriority(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	for name, priority := range map[string][2]int{"v1.low.example.com": {50, 10}, "v1beta1.high.example.com": {17900, 20}, "v1.high.example.com": {10, 10}} { // order does not matter
		version, group, _ := strings.Cut(name, ".")
		c.do("POST", "/apis/apiregistration.k8s.io/v1/apiservices", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"group":%q,"version":%q,
			"groupPriorityMinimum":%d,"versionPriority":%d,"service":{"namespace":"default","name":"none"}}}`, name, group, version, priority[0], priority[1]))
	}
	_, body := c.do("GET", "/apis", "")
	var names []string
	for _, x := range c.parse(body).List("groups") {
		group := object.Object(x.(map[string]any))
		names = append(names, group.String("name"))
		if group.String("name") == "high.example.com" {
			is.Equal(group.String("preferredVersion", "version"), "v1beta1")
		}
	}
	is.Equal(names[0], "apiregistration.k8s.io")
	is.Equal(names[1], "high.example.com") // 17900 is higher than the priority of any built-in group
	is.Equal(names[2], "apps")
	is.Equal(names[len(names)-1], "low.example.com")
}

// TestAggregateTimeouts checks that requests to a server that does not respond time out: after five seconds of the
// server's clock for discovery, and after a minute or the client's timeout for everything else but watches.
func TestAggregateTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}})}
		slow, mux := false, shapes()
		c.srv.Aggregate("v1.shapes.example.com", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if slow && q.Header.Get("X-Remote-User") != "system:kube-aggregator" {
				<-q.Context().Done()
				return
			}
			mux.ServeHTTP(w, q)
		}))
		slow = true
		const late = `504 {"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout",` +
			`"reason":"Timeout","details":{},"code":504}` + "\n"
		for _, x := range []struct {
			path, want string
			after      time.Duration
		}{
			{"", "503 error trying to reach service: context deadline exceeded", 5 * time.Second},
			{"?timeout=2s", late, 2 * time.Second},
			{"/namespaces/default/circles/a", late, time.Minute},
			{"/namespaces/default/circles/a?timeout=3s", late, 3 * time.Second},
			{"/namespaces/default/circles/a?timeout=1h", late, time.Minute},
		} {
			began := time.Now()
			code, body := c.do("GET", "/apis/shapes.example.com/v1"+x.path, "")
			is.Equal(fmt.Sprint(code, " ", body), x.want)
			is.Equal(time.Since(began), x.after)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		q, err := http.NewRequestWithContext(ctx, "GET", c.srv.URL()+"/apis/shapes.example.com/v1/circles?watch=1", nil)
		is.NoErr(err)
		began := time.Now()
		_, err = c.srv.Transport().RoundTrip(q)
		is.True(err != nil || ctx.Err() != nil)
		is.Equal(time.Since(began), time.Hour) // as long as the client waits
	})
}
