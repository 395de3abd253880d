package fakes

import (
	"testing"
	"testing/synctest"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

var configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func unstructuredConfigMap(name, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"key": value},
	}}
}

func TestClientGoReads(t *testing.T) {
	each(t, []probe{
		// Returns all objects, and no continue token.
		{"list with a limit", func(is *is.I, s *server) {
			s.mustCreate("a")
			s.mustCreate("b")
			list, err := s.configMaps().List(s.ctx, metav1.ListOptions{Limit: 1})
			is.NoErr(err)
			is.Equal(len(list.Items), 1)
			is.True(list.Continue != "")
			is.Equal(*list.RemainingItemCount, int64(1))
		}},
		// The selector is ignored.
		{"list with a field selector", func(is *is.I, s *server) {
			s.mustCreatePod("a")
			s.mustCreatePod("b", func(p *corev1.Pod) { p.Spec.NodeName = "node-1" })
			list, err := s.pods().List(s.ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=node-1"})
			is.NoErr(err)
			is.Equal(len(list.Items), 1)
			_, err = s.pods().List(s.ctx, metav1.ListOptions{FieldSelector: "spec.hostname=a"})
			is.True(apierrors.IsBadRequest(err)) // a field that cannot be selected by
		}},
		// The fakes behave correctly.
		{"list in order", func(is *is.I, s *server) {
			s.mustCreate("b")
			s.mustCreate("a")
			list, err := s.configMaps().List(s.ctx, metav1.ListOptions{})
			is.NoErr(err)
			is.Equal(list.Items[0].Name, "a") // by namespace and name
		}},
		// The typed and the dynamic fake do not share objects.
		{"read with a dynamic client what a typed one wrote", func(is *is.I, s *server) {
			s.mustCreate("a")
			got, err := s.dynamic.Resource(configMapResource).Namespace("default").Get(s.ctx, "a", metav1.GetOptions{})
			is.NoErr(err)
			is.Equal(got.GetName(), "a")
		}},
		// The dynamic fake panics.
		{"list a resource that nobody registered", func(is *is.I, s *server) {
			widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
			_, err := s.dynamic.Resource(widgets).List(s.ctx, metav1.ListOptions{})
			is.True(apierrors.IsNotFound(err))
		}},
		// OpenAPIV3 panics, and OpenAPISchema and ServerPreferredResources return nothing.
		{"discovery", func(is *is.I, s *server) {
			paths, err := s.client.Discovery().OpenAPIV3().Paths()
			is.NoErr(err)
			text, err := paths["api/v1"].Schema("application/json")
			is.NoErr(err)
			is.True(len(text) > 100_000)
			document, err := s.client.Discovery().OpenAPISchema()
			is.NoErr(err)
			is.True(len(document.GetDefinitions().GetAdditionalProperties()) > 500)
			preferred, err := s.client.Discovery().ServerPreferredResources()
			is.NoErr(err)
			is.True(len(preferred) > 15)
		}},
		// RESTClient returns nil.
		{"the REST client", func(is *is.I, s *server) {
			text, err := s.client.CoreV1().RESTClient().Get().AbsPath("/readyz").DoRaw(s.ctx)
			is.NoErr(err)
			is.Equal(string(text), "ok")
		}},
	})
}

// The fakes return no error.
func TestClientGoListOfTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := start(t, fake.Options{Clock: clock.System{}})
		_, err := s.configMaps().List(s.ctx, metav1.ListOptions{
			ResourceVersion: "999999", ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		})
		is.True(apierrors.IsTimeout(err)) // the server waits for it in vain
		is.True(apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge))
	})
}
