package clients

import (
	"os"
	"testing"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/examples/bubble"
	"github.com/kubesim/kubesim/fake"
)

func TestMain(m *testing.M) {
	bubble.Ready()
	os.Exit(m.Run())
}

// config returns the basic configuration of every client-go client. Without QPS: -1 it would be limited to five requests per
// second.
func config(srv *fake.Server) *rest.Config {
	return &rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1}
}

// start returns a server and a typed client for it.
func start(t *testing.T, options ...fake.Options) (*fake.Server, *kubernetes.Clientset) {
	t.Helper()
	srv := fake.RunT(t, options...)
	return srv, kubernetes.NewForConfigOrDie(config(srv))
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"key": value}}
}

// mustCreate creates a ConfigMap in the namespace default.
func mustCreate(t *testing.T, client kubernetes.Interface, name string) *corev1.ConfigMap {
	t.Helper()
	created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(name, "1"), metav1.CreateOptions{})
	is.New(t).NoErr(err) // the ConfigMap is created
	return created
}
