package clients

import (
	"testing"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

var configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// Typed and dynamic clients see the same objects, because they use the same server.
func TestDynamicClientSeesWhatTheTypedClientWrote(t *testing.T) {
	is := is.New(t)
	srv, typed := start(t)
	configMaps := dynamic.NewForConfigOrDie(config(srv)).Resource(configMapResource).Namespace("default")
	mustCreate(t, typed, "a")

	got, err := configMaps.Get(t.Context(), "a", metav1.GetOptions{})
	is.NoErr(err)
	is.Equal(got.GetKind(), "ConfigMap") // an unstructured object says what it is
	value, _, err := unstructured.NestedString(got.Object, "data", "key")
	is.NoErr(err)
	is.Equal(value, "1")

	is.NoErr(unstructured.SetNestedField(got.Object, "2", "data", "key"))
	_, err = configMaps.Update(t.Context(), got, metav1.UpdateOptions{})
	is.NoErr(err)
	back, err := typed.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	is.NoErr(err)
	is.Equal(back.Data["key"], "2") // and the other way round
}

// generateName, deletecollection and label selectors also work with a dynamic client.
func TestDynamicClientDeletesACollection(t *testing.T) {
	is := is.New(t)
	srv, _ := start(t)
	configMaps := dynamic.NewForConfigOrDie(config(srv)).Resource(configMapResource).Namespace("default")
	for _, color := range []string{"red", "red", "blue"} {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"generateName": color + "-", "labels": map[string]any{"color": color}},
		}}
		created, err := configMaps.Create(t.Context(), object, metav1.CreateOptions{})
		is.NoErr(err)
		is.Equal(len(created.GetName()), len(color)+len("-12345")) // five characters, drawn from the server's seed
	}

	is.NoErr(configMaps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "color=red"}))
	left, err := configMaps.List(t.Context(), metav1.ListOptions{})
	is.NoErr(err)
	is.Equal(len(left.Items), 1)                         // what matches is gone
	is.Equal(left.Items[0].GetLabels()["color"], "blue") // the rest is there
}
