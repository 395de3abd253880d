package sim_test

import (
	"fmt"
	"net/url"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// answered sends a request to the first API server of a cluster. Package fake does the same over HTTP.
func answered(c *sim.Cluster, method, path, body string) (code int, obj object.Object) {
	q := &apiserver.Request{Method: method, Path: path, Query: url.Values{}, Body: []byte(body), Header: wire.Header{"Content-Type": {"application/json"}}}
	c.Server(1).Start(q, func(a *apiserver.Answer) {
		code = a.Code
		obj, _ = object.Parse(a.Body.Bytes())
	})
	return code, obj
}

// filled returns a cluster with a ConfigMap.
func filled() *sim.Cluster {
	c, err := sim.New(sim.Options{Bare: true})
	if err != nil {
		panic(err)
	}
	answered(c, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"},"data":{"color":"red"}}`)
	return c
}

func ExampleNew() {
	c, err := sim.New(sim.Options{Seed: 7})
	if err != nil {
		panic(err)
	}
	code, secret := answered(c, "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"generateName":"token-"}}`)
	fmt.Println(code, secret.Name(), secret.ResourceVersion(), c.Revision())
	// Output: 201 token-bmt8p 4005 4005
}

// Load continues like the original cluster: the same request gets the same response, including the uid.
func ExampleLoad() {
	c := filled()
	again, err := sim.Load(c.State(), nil)
	if err != nil {
		panic(err)
	}
	_, one := answered(c, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"b"}}`)
	_, other := answered(again, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"b"}}`)
	fmt.Println(one.UID() == other.UID(), one.ResourceVersion() == other.ResourceVersion())
	// Output: true true
}

// Resume starts new API servers, here of an older version, with the stored objects.
func ExampleResume() {
	c, err := sim.Resume(filled().State(), sim.Options{Bare: true, Replicas: []sim.ReplicaOptions{{Version: "1.35"}}})
	if err != nil {
		panic(err)
	}
	_, version := answered(c, "GET", "/version", "")
	_, stored := answered(c, "GET", "/api/v1/namespaces/default/configmaps/a", "")
	fmt.Println(version["minor"], stored.Map("data"))
	// Output: 35 map[color:red]
}

// StateAfterRestart returns the state of a cluster whose processes have ended: the stored objects, without the processes' memory.
func ExampleStateAfterRestart() {
	c := filled()
	c.Hold("operator") // its watches receive no events
	before := c.State()
	after := sim.StateAfterRestart(before, before.Options)
	fmt.Println(len(before.Servers.Held), len(after.Servers.Held))
	// Output: 1 0
}
