package devices

import (
	"fmt"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// TestExtendedResources checks which class provides an extended resource that several classes name.
func TestExtendedResources(t *testing.T) {
	is := is.New(t)
	class := func(name, created, resource string) object.Object {
		return object.Object{"metadata": map[string]any{"name": name, "creationTimestamp": created}, "spec": map[string]any{"extendedResourceName": resource}}
	}
	all := []object.Object{
		class("b", "2026-01-02T00:00:00Z", "x.io/gpu"), class("a", "2026-01-02T00:00:00Z", "x.io/gpu"), class("old", "2026-01-01T00:00:00Z", "x.io/gpu"),
		{"metadata": map[string]any{"name": "plain"}},
	}
	is.Equal(ExtendedResources(all), map[string]string{"x.io/gpu": "a", ImplicitPrefix + "a": "a", ImplicitPrefix + "b": "b",
		ImplicitPrefix + "old": "old", ImplicitPrefix + "plain": "plain"})
}

// TestExtendedRequests checks the devices that init containers share with each other and with containers that start later. The
// expected values come from kube-scheduler v1.37.2. For 20,000 random pods, both have the same results, too.
func TestExtendedRequests(t *testing.T) {
	is := is.New(t)
	pod := parsed(t, `{"spec":{
		"initContainers":[
			{"name":"most","resources":{"requests":{"x.io/gpu":"5"}}},
			{"name":"side","restartPolicy":"Always","resources":{"requests":{"x.io/gpu":"1"}}},
			{"name":"more","resources":{"requests":{"cpu":"1","x.io/gpu":"3"}}},
			{"name":"less","resources":{"requests":{"x.io/gpu":"1"}}}],
		"containers":[{"name":"main","resources":{"requests":{"a.io/nic":"1","x.io/gpu":"2"}}}]}}`)
	requests, mappings := ExtendedRequests(pod, map[string]string{"x.io/gpu": "gpus"})
	var got, uses []string
	for _, r := range requests {
		got = append(got, fmt.Sprintf("%s %d", object.As(r).String("name"), object.As(r).Int64("exactly", "count")))
	}
	for _, m := range mappings {
		uses = append(uses, object.As(m).String("containerName")+" "+object.As(m).String("requestName"))
	}
	is.Equal(got, []string{"container-0-request-0 2", "container-1-request-0 1", "container-4-request-1 2"})
	is.Equal(uses, []string{"side container-1-request-0", "main container-4-request-1",
		"most container-1-request-0", "most container-4-request-1", "most container-0-request-0",
		"more container-4-request-1", "more container-0-request-0", "less container-4-request-1"})
}
