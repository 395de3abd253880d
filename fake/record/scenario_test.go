package record_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/record"
	"github.com/kubesim/kubesim/sim/scenario"
)

const widget = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com",
"scope":"Namespaced","names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{
"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

const wantScript = `# A recording of a client: its writes, and the changes of other clients that it observed.

# The objects that the client read first.
request POST '/apis/apiextensions.k8s.io/v1/customresourcedefinitions' -f 1.yaml --as others
request POST '/api/v1/namespaces' -f 2.yaml --as others
request POST '/apis/example.com/v1/namespaces/shop/widgets' -f 3.yaml --as others

# The writes of the client and of other clients.
? request PATCH '/apis/example.com/v1/namespaces/shop/widgets/a?fieldManager=x' -H 'Content-Type: application/merge-patch+json' -f 4.json --as client
tick 1m0s
? request PATCH '/apis/example.com/v1/namespaces/shop/widgets/a' -H 'Content-Type: application/merge-patch+json' -f 5.json --as others
request POST '/apis/example.com/v1/namespaces/shop/widgets' -f 6.yaml --as others
tick 10m0s
? request DELETE '/apis/example.com/v1/namespaces/shop/widgets/a' --as others

`

// TestScenario checks the scenario that Scenario creates from a recording in which the client and another user write
// the same objects.
func TestScenario(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		user := &client{srv.URL(), srv.Transport()}
		send := func(c *client, method, path, contentType, body string) {
			_, err := c.text(method, path, contentType, body)
			is.NoErr(err)
		}
		const widgets, own = "/apis/example.com/v1/widgets", "/apis/example.com/v1/namespaces/shop/widgets"
		send(user, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", widget)
		send(user, "POST", "/api/v1/namespaces", "application/json", `{"metadata":{"name":"shop"}}`)
		send(user, "POST", own, "application/json", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`)
		time.Sleep(time.Minute)

		c := &client{srv.URL(), record.Wrap(srv.Transport(), &file)}
		send(c, "GET", widgets, "", "")
		ctx, cancel := context.WithCancel(t.Context())
		w, err := c.do(ctx, "GET", widgets+"?watch=1&resourceVersion=0", "", "")
		is.NoErr(err)
		go func() { // reads the events
			for buffer := make([]byte, 4096); err == nil; {
				_, err = w.Body.Read(buffer)
			}
		}()
		send(c, "PATCH", own+"/a?fieldManager=x", "application/merge-patch+json", `{"size":1}`)
		time.Sleep(time.Minute)
		send(user, "PATCH", own+"/a", "application/merge-patch+json", `{"size":2}`)
		send(user, "POST", own, "application/json", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"b"}}`)
		time.Sleep(10 * time.Minute)
		send(user, "DELETE", own+"/a", "", "")
		synctest.Wait()
		cancel()
		synctest.Wait()
	})
	is := is.New(t)
	entries, err := record.Read(&file)
	is.NoErr(err)
	text, err := record.Scenario(entries)
	is.NoErr(err)
	script, _, _ := strings.Cut(text, "-- 1.yaml --")
	is.Equal(script, wantScript)
	f, err := scenario.ParseFile([]byte(text))
	is.NoErr(err)
	out, err := scenario.Run(f, scenario.RunOptions{})
	is.NoErr(err)
	is.Equal(out.Failure, nil)
	is.Equal(strings.Count(out.Transcript, " → 20"), 7) // each request succeeds
	is.Equal(f.Files["5.json"], `{"size":2}`+"\n")
}
