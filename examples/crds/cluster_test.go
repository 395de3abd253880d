package crds

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/fake"
)

var (
	definitionsGVR = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"}
	namespacesGVR = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// cluster is a server with the CRDs of a project, and a client.
type cluster struct {
	srv    *fake.Server
	client dynamic.Interface
	kinds  map[schema.GroupVersionKind]served
}

// served is the resource of a kind.
type served struct {
	resource   schema.GroupVersionResource
	namespaced bool
}

// open starts an empty server.
func open(tb testing.TB) *cluster {
	tb.Helper()
	srv := fake.RunT(tb)
	client, err := dynamic.NewForConfig(&rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1})
	if err != nil {
		tb.Fatal(err)
	}
	return &cluster{srv, client, map[schema.GroupVersionKind]served{}}
}

// install starts a server and installs the CRDs of a project, or only those of the given kinds.
func install(tb testing.TB, p project, kinds ...string) *cluster {
	tb.Helper()
	c := open(tb)
	for _, d := range definitions(tb, p, kinds...) {
		if err := c.define(context.Background(), d); err != nil {
			tb.Fatalf("%s: %v", d.where, err)
		}
	}
	return c
}

// named returns a project by name.
func named(tb testing.TB, name string) project {
	tb.Helper()
	i := slices.IndexFunc(projects, func(p project) bool { return p.name == name })
	if i < 0 {
		tb.Fatalf("no project %q", name)
	}
	return projects[i]
}

// definitions returns the CRDs of a project, or only those of the given kinds. It ignores other objects.
func definitions(tb testing.TB, p project, kinds ...string) []document {
	tb.Helper()
	return slices.DeleteFunc(documents(tb, p, p.crds), func(d document) bool {
		kind, _, _ := unstructured.NestedString(d.object.Object, "spec", "names", "kind")
		return d.object.GetKind() != "CustomResourceDefinition" || len(kinds) > 0 && !slices.Contains(kinds, kind)
	})
}

// define creates a CRD and registers its resource.
func (c *cluster) define(ctx context.Context, d document) error {
	made, err := c.client.Resource(definitionsGVR).Create(ctx, d.object,
		metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		return err
	}
	group, _, _ := unstructured.NestedString(made.Object, "spec", "group")
	scope, _, _ := unstructured.NestedString(made.Object, "spec", "scope")
	kind, _, _ := unstructured.NestedString(made.Object, "spec", "names", "kind")
	plural, _, _ := unstructured.NestedString(made.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(made.Object, "spec", "versions")
	for _, v := range versions {
		version := v.(map[string]any)
		if version["served"] == true {
			gv := schema.GroupVersion{Group: group, Version: version["name"].(string)}
			c.kinds[gv.WithKind(kind)] = served{gv.WithResource(plural), scope == "Namespaced"}
		}
	}
	return nil
}

// objects returns the client for the resource and namespace of u. It creates a missing namespace, because manifests rely on it.
func (c *cluster) objects(ctx context.Context, u *unstructured.Unstructured) (dynamic.ResourceInterface, bool) {
	kind, ok := c.kinds[u.GroupVersionKind()]
	if !ok || !kind.namespaced {
		return c.client.Resource(kind.resource), ok
	}
	name := u.GetNamespace()
	if name == "" {
		name = "default"
	} else {
		namespace := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
		c.client.Resource(namespacesGVR).Create(ctx, namespace, metav1.CreateOptions{}) // it may be there
	}
	return c.client.Resource(kind.resource).Namespace(name), true
}

// create creates u unchanged. Its kind must be one of the project's.
func (c *cluster) create(ctx context.Context, u *unstructured.Unstructured,
	o metav1.CreateOptions) (*unstructured.Unstructured, error) {
	objects, _ := c.objects(ctx, u)
	return objects.Create(ctx, u, o)
}
