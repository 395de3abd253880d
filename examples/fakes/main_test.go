package fakes

import (
	"context"
	"os"
	"testing"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/examples/bubble"
	"github.com/kubesim/kubesim/fake"
)

func TestMain(m *testing.M) {
	bubble.Ready()
	os.Exit(m.Run())
}

// probe is an operation that a test may perform on a server.
type probe struct {
	name string
	run  func(is *is.I, s *server)
}

// each runs probes, each with its own server.
func each(t *testing.T, probes []probe) {
	t.Helper()
	for _, p := range probes {
		t.Run(p.name, func(t *testing.T) { p.run(is.New(t), start(t)) })
	}
}

// server is a kubesim and clients of it.
type server struct {
	*fake.Server
	t       *testing.T
	ctx     context.Context
	config  *rest.Config
	client  kubernetes.Interface
	dynamic dynamic.Interface
}

func start(t *testing.T, options ...fake.Options) *server {
	t.Helper()
	srv := fake.RunT(t, options...)
	config := &rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1}
	return &server{
		Server: srv, t: t, ctx: t.Context(), config: config,
		client: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config),
	}
}

func (s *server) pods() corev1client.PodInterface { return s.client.CoreV1().Pods("default") }

func (s *server) configMaps() corev1client.ConfigMapInterface {
	return s.client.CoreV1().ConfigMaps("default")
}

// pod returns a pod that can be created.
func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
	}
}

// mustCreatePod creates a pod to which changes were applied.
func (s *server) mustCreatePod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	s.t.Helper()
	p := pod(name)
	for _, change := range changes {
		change(p)
	}
	created, err := s.pods().Create(s.ctx, p, metav1.CreateOptions{})
	is.New(s.t).NoErr(err) // the pod is created
	return created
}

// mustCreate creates a ConfigMap to which changes were applied.
func (s *server) mustCreate(name string, changes ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	s.t.Helper()
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"key": "1"}}
	for _, change := range changes {
		change(c)
	}
	created, err := s.configMaps().Create(s.ctx, c, metav1.CreateOptions{})
	is.New(s.t).NoErr(err) // the ConfigMap is created
	return created
}

func labelled(color string) func(*corev1.ConfigMap) {
	return func(c *corev1.ConfigMap) { c.Labels = map[string]string{"color": color} }
}
