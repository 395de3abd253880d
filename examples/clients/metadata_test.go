package clients

import (
	"testing"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
)

// A metadata client reads and watches only the metadata of any resource.
func TestMetadataClientReadsAndWatchesMetadataOnly(t *testing.T) {
	is := is.New(t)
	srv, typed := start(t)
	configMaps := metadata.NewForConfigOrDie(config(srv)).Resource(configMapResource).Namespace("default")
	created := mustCreate(t, typed, "a")

	got, err := configMaps.Get(t.Context(), "a", metav1.GetOptions{})
	is.NoErr(err)
	is.Equal(got.UID, created.UID) // the server left out all but metadata

	list, err := configMaps.List(t.Context(), metav1.ListOptions{})
	is.NoErr(err)
	is.Equal(len(list.Items), 1)

	w, err := configMaps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	is.NoErr(err)
	defer w.Stop()
	_, err = configMaps.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"color":"red"}}}`), metav1.PatchOptions{})
	is.NoErr(err)
	event := <-w.ResultChan()
	is.Equal(event.Type, watch.Modified)
	is.Equal(event.Object.(*metav1.PartialObjectMetadata).Labels["color"], "red")
}
