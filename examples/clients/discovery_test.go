package clients

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// metrics returns an aggregated API server like metrics-server, which responds while up is true.
func metrics(up *bool) http.Handler {
	mux := http.NewServeMux()
	answer := func(path, body string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		})
	}
	answer("/apis/metrics.k8s.io/v1beta1", `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"metrics.k8s.io/v1beta1","resources":[
		{"name":"nodes","singularName":"","namespaced":false,"kind":"NodeMetrics","verbs":["get","list"]}]}`)
	answer("/apis/metrics.k8s.io/v1beta1/nodes", `{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},"items":[
		{"kind":"NodeMetrics","apiVersion":"metrics.k8s.io/v1beta1","metadata":{"name":"a"},"usage":{"cpu":"1"}}]}`)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !*up {
			http.Error(w, "down", http.StatusInternalServerError)
			return
		}
		mux.ServeHTTP(w, q)
	})
}

// An unreachable aggregated API server makes its group stale. A client that needs all resources, such as the namespace controller
// before it finalizes a namespace, gets an error that names the group, and the resources of all other groups.
func TestStaleGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		up := true
		srv.Aggregate("v1beta1.metrics.k8s.io", metrics(&up))
		cfg := &rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1}
		client := discovery.NewDiscoveryClientForConfigOrDie(cfg)
		group := schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"}

		_, lists, err := client.ServerGroupsAndResources()
		is.NoErr(err)
		is.True(slices.ContainsFunc(lists, func(l *metav1.APIResourceList) bool { return l.GroupVersion == group.String() }))
		nodes, err := dynamic.NewForConfigOrDie(cfg).Resource(group.WithResource("nodes")).List(t.Context(), metav1.ListOptions{})
		is.NoErr(err)
		is.Equal(len(nodes.Items), 1)

		up = false
		time.Sleep(time.Minute)
		all := func() ([]*metav1.APIResourceList, error) {
			_, lists, err := client.ServerGroupsAndResources()
			return lists, err
		}
		for _, ask := range []func() ([]*metav1.APIResourceList, error){all, client.ServerPreferredResources,
			client.ServerPreferredNamespacedResources} {
			lists, err := ask()
			failed, ok := discovery.GroupDiscoveryFailedErrorGroups(err)
			is.True(ok)
			is.True(len(failed) == 1 && len(lists) > 10) // all others are there
			is.Equal(failed[group].Error(), "stale GroupVersion discovery: metrics.k8s.io/v1beta1")
		}
		up = true
		time.Sleep(time.Minute)
		_, err = client.ServerPreferredResources()
		is.NoErr(err)
	})
}
