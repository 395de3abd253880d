package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
)

// connections are the ways in which client-go connects to a server: HTTP/1.1, and HTTP/1.1 and HTTP/2 over TLS.
var connections = map[string]func(t *testing.T) *rest.Config{
	"http": func(t *testing.T) *rest.Config {
		_, l := listen(t, fake.ListenOptions{}, fake.Options{Auth: auth.RBAC})
		return &rest.Config{Host: l.URL(), BearerToken: "admintoken", QPS: -1}
	},
	"http1 over tls": func(t *testing.T) *rest.Config {
		c := secure(t)
		c.NextProtos = []string{"http/1.1"}
		return c
	},
	"http2 over tls": secure,
}

func secure(t *testing.T) *rest.Config {
	_, l := listen(t, fake.ListenOptions{TLS: true}, fake.Options{Auth: auth.RBAC})
	return &rest.Config{Host: l.URL(), BearerToken: "admintoken", QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: l.CA()}}
}

// Every client of client-go can decode the server's responses, over each connection and in each content type. (CBOR is a feature
// gate of clients and servers. If the server does not support it, the client requests JSON instead.)
func TestClients(t *testing.T) {
	for name, connect := range connections { // order does not matter
		for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf", "application/cbor"} {
			t.Run(name+" "+contentType, func(t *testing.T) {
				t.Parallel()
				c := connect(t)
				c.ContentType, c.AcceptContentTypes = contentType, contentType+",application/json"
				typed(t, c)
				untyped(t, c)
			})
		}
		t.Run(name+" discovery", func(t *testing.T) {
			t.Parallel()
			discover(t, connect(t))
		})
	}
}

// typed checks that a clientset can write, read, list, watch and delete Secrets. In protobuf, a key of the Secret has no value, and
// an empty patch must not change the stored object.
func typed(t *testing.T, c *rest.Config) {
	is := is.New(t)
	ctx := t.Context()
	secrets := kubernetes.NewForConfigOrDie(c).CoreV1().Secrets("default")
	w, err := secrets.Watch(ctx, metav1.ListOptions{})
	is.NoErr(err)
	defer w.Stop()
	made, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Labels: map[string]string{"l": ""}},
		Data: map[string][]byte{"k": nil, "l": []byte("v")}}, metav1.CreateOptions{})
	is.NoErr(err)
	is.Equal(made.Data["l"], []byte("v"))
	event := <-w.ResultChan()
	is.Equal(event.Object.(*corev1.Secret).UID, made.UID)
	if c.ContentType == "application/vnd.kubernetes.protobuf" { // null in JSON is another thing
		patched, err := secrets.Patch(ctx, "s", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
		is.NoErr(err)
		is.Equal(patched.ResourceVersion, made.ResourceVersion)
	}
	list, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: "l"})
	is.NoErr(err)
	is.Equal(len(list.Items), 1)
	list.Items[0].Data["m"] = []byte{0, 1}
	updated, err := secrets.Update(ctx, &list.Items[0], metav1.UpdateOptions{})
	is.NoErr(err)
	is.Equal(updated.Data["m"], []byte{0, 1})
	is.NoErr(secrets.Delete(ctx, "s", metav1.DeleteOptions{}))
	_, err = secrets.Get(ctx, "s", metav1.GetOptions{})
	is.Equal(err.Error(), `secrets "s" not found`)
}

// untyped reads the namespaces with the clients that have no types.
func untyped(t *testing.T, c *rest.Config) {
	is := is.New(t)
	ctx := t.Context()
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	objects, err := dynamic.NewForConfigOrDie(c).Resource(namespaces).List(ctx, metav1.ListOptions{})
	is.NoErr(err)
	partial, err := metadata.NewForConfigOrDie(c).Resource(namespaces).List(ctx, metav1.ListOptions{})
	is.NoErr(err)
	is.True(len(objects.Items) >= 4)
	is.Equal(len(partial.Items), len(objects.Items))
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "n"}}}
	applied, err := dynamic.NewForConfigOrDie(c).Resource(namespaces).Apply(ctx, "n", obj, metav1.ApplyOptions{FieldManager: "m"})
	is.NoErr(err)
	is.Equal(applied.GetName(), "n")
}

// discover requests discovery with and without aggregation, maps kinds with it, lists each resource with the typed client's
// decoder, and reads the OpenAPI documents of both versions.
func discover(t *testing.T, c *rest.Config) {
	is := is.New(t)
	d := discovery.NewDiscoveryClientForConfigOrDie(c)
	groups, lists, err := d.ServerGroupsAndResources()
	is.NoErr(err)
	d.UseLegacyDiscovery = true
	legacy, legacyLists, err := d.ServerGroupsAndResources()
	is.NoErr(err)
	is.Equal(names(groups), names(legacy))
	is.Equal(len(lists), len(legacyLists))
	resources, err := restmapper.GetAPIGroupResources(d)
	is.NoErr(err)
	_, err = restmapper.NewDiscoveryRESTMapper(resources).RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	is.NoErr(err)

	document, err := d.OpenAPISchema() // which is compressed
	is.NoErr(err)
	is.Equal(document.GetSwagger(), "2.0")
	paths, err := d.OpenAPIV3().Paths()
	is.NoErr(err)
	for _, at := range paths { // order does not matter
		for _, contentType := range []string{"application/json", openapi.ContentTypeOpenAPIV3PB} {
			data, err := at.Schema(contentType)
			is.NoErr(err)
			is.True(len(data) > 100 && (contentType != "application/json" || json.Valid(data)))
		}
	}
	_, err = openapi3.NewRoot(d.OpenAPIV3()).GVSpec(schema.GroupVersion{Group: "apps", Version: "v1"})
	is.NoErr(err)
	for _, list := range lists {
		decodeAll(t, c, list)
	}
}

func names(groups []*metav1.APIGroup) []string {
	var out []string
	for _, g := range groups {
		out = append(out, g.Name)
	}
	return out
}

// decodeAll lists each resource of a group version in JSON, YAML and protobuf, and decodes the responses into client-go's types.
func decodeAll(t *testing.T, c *rest.Config, list *metav1.APIResourceList) {
	is := is.New(t)
	gv, err := schema.ParseGroupVersion(list.GroupVersion)
	is.NoErr(err)
	client := discovery.NewDiscoveryClientForConfigOrDie(c).RESTClient()
	for _, r := range list.APIResources {
		if !slices.Contains(r.Verbs, "list") {
			continue
		}
		path := "/apis/" + gv.String() + "/" + r.Name
		if gv.Group == "" {
			path = "/api/v1/" + r.Name
		}
		for _, contentType := range []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"} {
			data, err := client.Get().AbsPath(path).SetHeader("Accept", contentType).DoRaw(context.Background())
			is.NoErr(err)
			obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
			if err != nil && !scheme.Scheme.Recognizes(gv.WithKind(r.Kind)) {
				continue // client-go has no type for definitions and API services
			}
			if err != nil {
				t.Errorf("GET %s as %s: %v", path, contentType, err)
				continue
			}
			is.True(meta.IsListType(obj))
			is.Equal(obj.GetObjectKind().GroupVersionKind(), gv.WithKind(fmt.Sprint(r.Kind, "List")))
		}
	}
}
