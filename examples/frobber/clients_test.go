package frobber

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/fake"
)

// oldFrobber is the type in a client that was compiled before the change.
type oldFrobber struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Height            int    `json:"height"`
	Param             string `json:"param"`
	Policy            string `json:"policy,omitempty"`
}

// newFrobber is v6 after the change.
type newFrobber struct {
	oldFrobber
	Width  int      `json:"width,omitempty"`
	Params []string `json:"params,omitempty"`
}

// nextFrobber is the type of v7beta1.
type nextFrobber struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	HeightInInches    int      `json:"heightInInches"`
	WidthInInches     int      `json:"widthInInches,omitempty"`
	Params            []string `json:"params,omitempty"`
}

// client is a typed client. It neither reads nor sends fields that T does not have.
type client[T any] struct {
	t       *testing.T
	objects dynamic.ResourceInterface
}

func clientOf[T any](t *testing.T, srv *fake.Server, version string) client[T] {
	t.Helper()
	d, err := dynamic.NewForConfig(&rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client[T]{t, d.Resource(schema.GroupVersionResource{Group: "example.com", Version: version,
		Resource: "frobbers"}).Namespace("default")}
}

// recode copies the fields that in and out have in common.
func recode(t *testing.T, in, out any) {
	t.Helper()
	data, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (c client[T]) done(u *unstructured.Unstructured, err error) (out T, _ error) {
	if err == nil {
		recode(c.t, u.Object, &out)
	}
	return out, err
}

func (c client[T]) get(name string) T {
	c.t.Helper()
	out, err := c.done(c.objects.Get(context.Background(), name, metav1.GetOptions{}))
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// create sends a JSON text.
func (c client[T]) create(text string) (T, error) {
	c.t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		c.t.Fatal(err)
	}
	return c.done(c.objects.Create(context.Background(), u, metav1.CreateOptions{}))
}

// put replaces an object with the fields of obj.
func (c client[T]) put(obj T) (T, error) {
	c.t.Helper()
	u := &unstructured.Unstructured{}
	recode(c.t, obj, &u.Object)
	return c.done(c.objects.Update(context.Background(), u, metav1.UpdateOptions{}))
}

// patch sends a JSON merge patch.
func (c client[T]) patch(name, text string) (T, error) {
	c.t.Helper()
	return c.done(c.objects.Patch(context.Background(), name, types.MergePatchType, []byte(text),
		metav1.PatchOptions{}))
}

const (
	v6      = `{"apiVersion":"example.com/v6","kind":"Frobber",`
	v7beta1 = `{"apiVersion":"example.com/v7beta1","kind":"Frobber",`
)

// server starts a server with the old definition.
func server(t *testing.T) *fake.Server {
	t.Helper()
	srv := fake.RunT(t)
	is.New(t).NoErr(srv.Load("testdata/old.yaml"))
	return srv
}

// upgrade installs the change: the definition, the conversion and the admission webhook.
func upgrade(t *testing.T, srv *fake.Server) {
	t.Helper()
	srv.Convert("frobbers.example.com", Convert)
	srv.Admit("normalize.frobbers.example.com", Admit(func() bool { return true }))
	define(t, srv, "testdata/new.yaml")
	is.New(t).NoErr(srv.Load("testdata/webhook.yaml"))
}

// replace replaces the definition with a changed file, and returns the server's error.
func replace(t *testing.T, srv *fake.Server, change func(string) string, file string) error {
	t.Helper()
	is := is.New(t)
	data, err := os.ReadFile(file)
	is.NoErr(err)
	u := document(t, change(string(data)))
	d, err := dynamic.NewForConfig(&rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1})
	is.NoErr(err)
	crds := d.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"})
	current, err := crds.Get(t.Context(), u.GetName(), metav1.GetOptions{})
	is.NoErr(err)
	u.SetResourceVersion(current.GetResourceVersion())
	_, err = crds.Update(t.Context(), u, metav1.UpdateOptions{})
	return err
}

// define replaces the definition with an unchanged file, which must succeed.
func define(t *testing.T, srv *fake.Server, file string) {
	t.Helper()
	is.New(t).NoErr(replace(t, srv, func(s string) string { return s }, file))
}
