package fake_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/record"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// call sends a request to a server and returns the status code and the object of the response. A real test uses any
// client it likes.
func call(srv *fake.Server, method, path, body string) (int, object.Object) {
	r, err := http.NewRequest(method, srv.URL()+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	res, err := srv.Transport().RoundTrip(r)
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		panic(err)
	}
	obj, err := object.Parse(data)
	if err != nil {
		panic(err)
	}
	return res.StatusCode, obj
}

// exampleT stands for the *testing.T of a test.
type exampleT struct{}

func (exampleT) Helper()               {}
func (exampleT) Logf(string, ...any)   {}
func (exampleT) Fatalf(string, ...any) {}
func (exampleT) Cleanup(func())        {}

const secrets = "/api/v1/namespaces/default/secrets"

func ExampleRunT() {
	t := exampleT{} // in a test: its *testing.T
	srv := fake.RunT(t)

	code, secret := call(srv, "POST", secrets, `{"metadata":{"name":"a"},"stringData":{"password":"hunter2"}}`)
	fmt.Println(code, secret["type"], secret["data"])
	code, refused := call(srv, "POST", secrets, `{"metadata":{"name":"A"}}`)
	fmt.Println(code, refused["message"])
	// Output:
	// 201 Opaque map[password:aHVudGVyMg==]
	// 422 Secret "A" is invalid: metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')
}

// A test repeats a recording of a cluster: its server begins with the objects that the program saw.
func ExampleReadRecording() {
	t := exampleT{} // in a test: its *testing.T
	cluster := fake.RunT(t)
	call(cluster, "POST", secrets, `{"metadata":{"name":"a"},"stringData":{"password":"hunter2"}}`)
	file, err := os.CreateTemp("", "recording")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	request, err := http.NewRequest("GET", cluster.URL()+secrets, nil)
	if err != nil {
		panic(err)
	}
	answer, err := record.Wrap(cluster.Transport(), file).RoundTrip(request)
	if err != nil {
		panic(err)
	}
	answer.Body.Close()
	file.Close()

	rec := fake.ReadRecording(t, file.Name())
	srv := fake.RunT(t)
	rec.Begin(t, srv)
	code, secret := call(srv, "GET", secrets+"/a", "")
	fmt.Println(code, secret["metadata"].(map[string]any)["name"])
	// Output: 200 a
}

// The same seed gives the same uids and generated names.
func ExampleOptions() {
	for range 2 {
		srv := fake.RunT(exampleT{}, fake.Options{Seed: 42})
		_, secret := call(srv, "POST", secrets, `{"metadata":{"generateName":"token-"}}`)
		fmt.Println(secret.Name(), secret.UID())
	}
	// Output:
	// token-ww4n5 a514b4f9-6010-4b7f-8b65-9935f7c0bbf1
	// token-ww4n5 a514b4f9-6010-4b7f-8b65-9935f7c0bbf1
}

// Time advances when the test advances it, and everything that depends on time changes with it.
func ExampleServer_clock() {
	srv := fake.RunT(exampleT{})
	_, first := call(srv, "POST", secrets, `{"metadata":{"name":"a"}}`)
	srv.Clock.Advance(24 * time.Hour)
	_, second := call(srv, "POST", secrets, `{"metadata":{"name":"b"}}`)
	fmt.Println(first.String("metadata", "creationTimestamp"))
	fmt.Println(second.String("metadata", "creationTimestamp"))
	// Output:
	// 2026-01-01T00:00:00Z
	// 2026-01-02T00:00:00Z
}

// After Compact, the store has no revision from before the call. Watch caches are notified within seconds. From then
// on, an older continue token gets 410, with a new token that continues the list with the current objects.
func ExampleServer_Compact() {
	srv := fake.RunT(exampleT{})
	call(srv, "POST", secrets, `{"metadata":{"name":"a"}}`)
	call(srv, "POST", secrets, `{"metadata":{"name":"b"}}`)
	_, page := call(srv, "GET", secrets+"?limit=1", "")
	next := page.String("metadata", "continue")

	call(srv, "DELETE", secrets+"/b", "")
	srv.Compact()
	srv.Clock.Advance(15 * time.Second)
	code, status := call(srv, "GET", secrets+"?limit=1&continue="+next, "")
	fmt.Println(code, status["reason"])
	code, page = call(srv, "GET", secrets+"?continue="+status.String("metadata", "continue"), "")
	fmt.Println(code, len(page.List("items")))
	// Output:
	// 410 Expired
	// 200 0
}

// After Expire, a watch from an earlier revision gets 410 in its stream, so the client has to list again.
func ExampleServer_Expire() {
	srv := fake.RunT(exampleT{})
	_, list := call(srv, "GET", secrets, "")
	call(srv, "POST", secrets, `{"metadata":{"name":"a"}}`)
	srv.Expire()
	_, event := call(srv, "GET", secrets+"?watch=1&resourceVersion="+list.ResourceVersion(), "")
	fmt.Println(event["type"], event["object"].(map[string]any)["message"])
	// Output:
	// ERROR too old resource version: 4004 (4005)
}

// A listener is for clients in other processes, such as kubectl with the kubeconfig.
func ExampleServer_Listen() {
	srv := fake.RunT(exampleT{})
	defer srv.Close() // RunT closes the server at the end of a test
	l, err := srv.Listen(fake.ListenOptions{})
	if err != nil {
		panic(err)
	}
	res, err := http.Get(l.URL() + "/readyz")
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	fmt.Println(res.Status)
	fmt.Println(strings.ReplaceAll(string(l.KubeConfig("")), l.URL(), "URL"))
	// Output:
	// 200 OK
	// apiVersion: v1
	// clusters:
	// - cluster:
	//     server: URL
	//   name: kubesim
	// contexts:
	// - context:
	//     cluster: kubesim
	//     user: kubesim
	//   name: kubesim
	// current-context: kubesim
	// kind: Config
	// users:
	// - name: kubesim
	//   user: {}
}

// Controllers create the pods of a Deployment, nodes run them, and Settle lets time pass until all work is done.
func ExampleServer_Settle() {
	srv, err := fake.New(fake.Options{Controllers: controller.All, Nodes: 3})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	err = srv.LoadData([]byte(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
		"spec": {"replicas": 10, "selector": {"matchLabels": {"app": "web"}}, "template": {
			"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}}}`))
	if err != nil {
		log.Fatal(err)
	}
	if err := srv.Settle(context.Background()); err != nil {
		log.Fatal(err)
	}
	res, err := (&http.Client{Transport: srv.Transport()}).Get(srv.URL() + "/apis/apps/v1/namespaces/default/deployments/web/scale")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	var scale struct{ Status struct{ Replicas int } }
	if err := json.NewDecoder(res.Body).Decode(&scale); err != nil {
		log.Fatal(err)
	}
	fmt.Println(scale.Status.Replicas, "pods after", srv.Clock.Now().Sub(clock.Epoch()))
	// Output: 10 pods after 1s
}
