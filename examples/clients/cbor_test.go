package clients

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/cbor"
)

// mediaTypes is a RoundTripper that records the media types of requests and responses.
type mediaTypes struct {
	next http.RoundTripper
	mu   sync.Mutex
	seen map[string]bool
}

func (m *mediaTypes) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := m.next.RoundTrip(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[r.Method+" "+r.Header.Get("Content-Type")] = true
	if err == nil {
		m.seen[r.Method+" → "+strings.Split(res.Header.Get("Content-Type"), ";")[0]] = true
	}
	return res, err
}

// A dynamic client that prefers CBOR uses it for everything with a server that has the feature gate. Typed clients of built-in kinds use
// it to apply.
func TestClientsPreferCBOR(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.ClientsAllowCBOR, true)
	featurestesting.SetFeatureDuringTest(t, features.ClientsPreferCBOR, true)
	is := is.New(t)
	log, c := withMediaTypes(t, map[string]bool{"CBORServingAndStorage": true})
	untyped, err := dynamic.NewForConfig(c)
	is.NoErr(err)
	typed, err := kubernetes.NewForConfig(c)
	is.NoErr(err)
	ctx := t.Context()
	secrets := untyped.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("default")
	w, err := secrets.Watch(ctx, metav1.ListOptions{})
	is.NoErr(err)
	defer w.Stop()
	made, err := secrets.Create(ctx, secret(), metav1.CreateOptions{})
	is.NoErr(err)
	is.Equal((<-w.ResultChan()).Object, made)
	made.SetLabels(map[string]string{"a": "b"})
	changed, err := secrets.Update(ctx, made, metav1.UpdateOptions{})
	is.NoErr(err)
	is.Equal(changed.Object["data"], map[string]any{"k": "AAEC/w=="})
	list, err := secrets.List(ctx, metav1.ListOptions{})
	is.NoErr(err)
	is.Equal(len(list.Items), 1)
	applied, err := typed.CoreV1().Secrets("default").Apply(ctx, applycorev1.Secret("s", "default").WithData(map[string][]byte{"l": {0xfe}}),
		metav1.ApplyOptions{FieldManager: "m"})
	is.NoErr(err)
	is.Equal(applied.Data["l"], []byte{0xfe})
	for _, want := range []string{"POST application/cbor", "POST → application/cbor", "PUT application/cbor", "GET → application/cbor", "GET → application/cbor-seq",
		"PATCH application/apply-patch+cbor"} {
		if !log.seen[want] {
			t.Errorf("no %s in %v", want, log.seen)
		}
	}
}

// Without the gate, the first body in CBOR is rejected, and the client sends JSON from then on.
func TestClientsFallBackFromCBOR(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, features.ClientsAllowCBOR, true)
	featurestesting.SetFeatureDuringTest(t, features.ClientsPreferCBOR, true)
	is := is.New(t)
	log, c := withMediaTypes(t, nil)
	untyped, err := dynamic.NewForConfig(c)
	is.NoErr(err)
	secrets := untyped.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("default")
	_, err = secrets.Create(t.Context(), secret(), metav1.CreateOptions{})
	is.True(apierrors.IsUnsupportedMediaType(err))
	_, err = secrets.Create(t.Context(), secret(), metav1.CreateOptions{})
	is.NoErr(err)
	is.True(log.seen["POST application/json"])
	is.True(!log.seen["POST → application/cbor"])
}

// withMediaTypes returns the configuration of clients of a new server, and the media types that they will have used.
func withMediaTypes(t *testing.T, gates map[string]bool) (*mediaTypes, *rest.Config) {
	srv := fake.RunT(t, fake.Options{CBOR: cbor.Codec{}, Replicas: []fake.ReplicaOptions{{FeatureGates: gates}}})
	log := &mediaTypes{next: srv.Transport(), seen: map[string]bool{}}
	c := config(srv)
	c.Transport = log
	return log, c
}

// secret returns a Secret with bytes.
func secret() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"},
		"data": map[string]any{"k": "AAEC/w=="}}}
}
