package clientgo

import (
	"context"
	"testing"
	"time"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubesim/kubesim/fake"
)

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	lamps       = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "lamps"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

func object(fields map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: fields}
}

func lampDefinition() *unstructured.Unstructured {
	return object(map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "lamps.example.com"},
		"spec": map[string]any{"group": "example.com", "scope": "Namespaced", "names": map[string]any{"plural": "lamps", "kind": "Lamp"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
					"spec":   map[string]any{"type": "object", "properties": map[string]any{"watts": map[string]any{"type": "integer", "default": int64(9), "maximum": int64(100)}}},
					"status": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
				}}}}}}})
}

func TestDynamic(t *testing.T) {
	overAll(t, func(t *testing.T, _ *fake.Server, cfg *rest.Config) {
		is, ctx := is.New(t), t.Context()
		client := dynamic.NewForConfigOrDie(cfg)
		_, err := client.Resource(definitions).Create(ctx, lampDefinition(), metav1.CreateOptions{})
		is.NoErr(err)
		lamp := object(map[string]any{"apiVersion": "example.com/v1", "kind": "Lamp", "metadata": map[string]any{"name": "desk"}, "spec": map[string]any{}})
		made, err := client.Resource(lamps).Namespace("default").Create(ctx, lamp, metav1.CreateOptions{})
		is.NoErr(err)
		watts, _, _ := unstructured.NestedInt64(made.Object, "spec", "watts")
		is.Equal(watts, int64(9)) // a default
		is.NoErr(unstructured.SetNestedField(made.Object, true, "status", "on"))
		made, err = client.Resource(lamps).Namespace("default").UpdateStatus(ctx, made, metav1.UpdateOptions{})
		is.NoErr(err)
		is.NoErr(unstructured.SetNestedField(made.Object, int64(101), "spec", "watts"))
		_, err = client.Resource(lamps).Namespace("default").Update(ctx, made, metav1.UpdateOptions{})
		is.True(apierrors.IsInvalid(err))
		list, err := client.Resource(lamps).List(ctx, metav1.ListOptions{})
		is.NoErr(err)
		is.Equal(len(list.Items), 1)

		some, err := metadata.NewForConfigOrDie(cfg).Resource(lamps).Namespace("default").Get(ctx, "desk", metav1.GetOptions{})
		is.NoErr(err)
		is.Equal(some.UID, made.GetUID())
	})
}

// Informers follow what happens, and list again when history has expired.
func TestInformers(t *testing.T) {
	overAll(t, func(t *testing.T, srv *fake.Server, cfg *rest.Config) {
		is := is.New(t)
		ctx, stop := context.WithCancel(t.Context())
		client := kubernetes.NewForConfigOrDie(cfg)
		typed := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
		lister := typed.Core().V1().ConfigMaps().Lister()
		other := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(cfg), 0, "default", nil)
		untyped := other.ForResource(configMaps)
		synced := []cache.InformerSynced{typed.Core().V1().ConfigMaps().Informer().HasSynced, untyped.Informer().HasSynced}
		typed.Start(ctx.Done())
		other.Start(ctx.Done())
		defer func() { stop(); typed.Shutdown(); other.Shutdown() }()
		is.True(cache.WaitForCacheSync(ctx.Done(), synced...))
		for _, name := range []string{"a", "b"} {
			_, err := client.CoreV1().ConfigMaps("default").Create(ctx, configMap(name, "red"), metav1.CreateOptions{})
			is.NoErr(err)
		}
		both := func(n int) func() bool {
			return func() bool {
				one, err := lister.List(labels.Everything())
				is.NoErr(err)
				two, err := untyped.Lister().List(labels.Everything())
				is.NoErr(err)
				return len(one) == n && len(two) == n
			}
		}
		eventually(t, "both informers have two", both(2))
		srv.Replica(1).Restart() // watches break
		srv.Expire()             // and cannot go on
		is.NoErr(client.CoreV1().ConfigMaps("default").Delete(ctx, "a", metav1.DeleteOptions{}))
		eventually(t, "both informers have one", both(1))
	})
}

// When a leader ends, another candidate leads.
func TestLeaderElection(t *testing.T) {
	srv := fake.RunT(t)
	client := kubernetes.NewForConfigOrDie(fake.Config[rest.Config](srv, "compat"))
	leaders := make(chan string)
	candidate := func(ctx context.Context, name string) {
		lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "default", "one", client.CoreV1(), client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: name})
		is.New(t).NoErr(err)
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second,
			RetryPeriod: 100 * time.Millisecond, ReleaseOnCancel: true, Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leaders <- name }, OnStoppedLeading: func() {},
			}})
	}
	is := is.New(t)
	ctx, end := context.WithCancel(t.Context())
	go candidate(ctx, "alice")
	is.Equal(<-leaders, "alice")
	rest, endAll := context.WithCancel(t.Context())
	defer endAll()
	go candidate(rest, "bob")
	end()
	is.Equal(<-leaders, "bob")
	lease, err := client.CoordinationV1().Leases("default").Get(t.Context(), "one", metav1.GetOptions{})
	is.NoErr(err)
	is.Equal(*lease.Spec.HolderIdentity, "bob")
}

func TestDiscovery(t *testing.T) {
	overAll(t, func(t *testing.T, _ *fake.Server, cfg *rest.Config) {
		is := is.New(t)
		client := discovery.NewDiscoveryClientForConfigOrDie(cfg)
		version, err := client.ServerVersion()
		is.NoErr(err)
		is.Equal(version.Major, "1")
		groups, resources, err := client.ServerGroupsAndResources()
		is.NoErr(err)
		is.True(len(groups) > 10 && len(resources) > 10)
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
		mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
		is.NoErr(err)
		is.Equal(mapping.Resource.Resource, "deployments")
		is.Equal(mapping.Scope.Name(), meta.RESTScopeNameNamespace)
		document, err := client.OpenAPISchema()
		is.NoErr(err)
		is.True(document.Definitions != nil)
		paths, err := client.OpenAPIV3().Paths()
		is.NoErr(err)
		_, err = paths["apis/apps/v1"].Schema("application/json")
		is.NoErr(err)
	})
}

// Requests of kubelets and controllers about pods.
func TestPods(t *testing.T) {
	overAll(t, func(t *testing.T, _ *fake.Server, cfg *rest.Config) {
		is, ctx := is.New(t), t.Context()
		client := kubernetes.NewForConfigOrDie(cfg)
		pods := client.CoreV1().Pods("default")
		_, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}}, metav1.CreateOptions{})
		is.NoErr(err)
		is.NoErr(pods.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}, metav1.CreateOptions{}))
		p, err := pods.Get(ctx, "p", metav1.GetOptions{})
		is.NoErr(err)
		is.Equal(p.Spec.NodeName, "n")
		p.Status.Phase = corev1.PodRunning
		_, err = pods.UpdateStatus(ctx, p, metav1.UpdateOptions{})
		is.NoErr(err)
		is.NoErr(pods.Delete(ctx, "p", metav1.DeleteOptions{}))
		p, err = pods.Get(ctx, "p", metav1.GetOptions{})
		is.NoErr(err)
		is.Equal(*p.DeletionGracePeriodSeconds, int64(30)) // a kubelet has to end it
		none := int64(0)
		is.NoErr(pods.Delete(ctx, "p", metav1.DeleteOptions{GracePeriodSeconds: &none}))
		_, err = pods.Get(ctx, "p", metav1.GetOptions{})
		is.True(apierrors.IsNotFound(err))
	})
}
