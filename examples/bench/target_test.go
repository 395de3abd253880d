package bench

import (
	"context"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	clientgofake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubesim/kubesim/fake"
)

const (
	json     = runtime.ContentTypeJSON
	protobuf = runtime.ContentTypeProtobuf
)

// pods contains the operations of the benchmarks, which every target implements.
type pods interface {
	create(context.Context, *corev1.Pod) (*corev1.Pod, error)
	get(ctx context.Context, name string) (*corev1.Pod, error)
	update(context.Context, *corev1.Pod) (*corev1.Pod, error)
	list(context.Context) (*corev1.PodList, error)
	watch(context.Context) (watch.Interface, error)
	apply(context.Context, *corev1apply.ConfigMapApplyConfiguration) error
}

// target is an implementation to measure. open returns it with some pods in the namespace default: pod-0, pod-1, and so on.
type target struct {
	name  string
	floor string // name of the corresponding floor
	open  func(t testing.TB, existing int) pods
}

// targets are the implementations that the benchmarks compare. Targets with "manager" in their names are used through
// controller-runtime's client, like its fake. It uses protobuf for built-in kinds.
var targets = []target{
	{"kubesim", "floor", func(t testing.TB, n int) pods { return fill(t, typed{clientOf(kubesim(t), json)}, n) }},
	{"kubesim-protobuf", "floor-protobuf", func(t testing.TB, n int) pods { return fill(t, typed{clientOf(kubesim(t), protobuf)}, n) }},
	{"kubesim-manager", "floor-manager", func(t testing.TB, n int) pods { return fill(t, managed(t, kubesim(t)), n) }},
	{"client-go-simple", "floor", func(t testing.TB, n int) pods { return fill(t, typed{clientgofake.NewSimpleClientset()}, n) }},
	{"client-go", "floor", func(t testing.TB, n int) pods { return fill(t, typed{clientgofake.NewClientset()}, n) }},
	{"controller-runtime", "floor", func(t testing.TB, n int) pods { return fill(t, generic{controllerfake.NewClientBuilder().Build()}, n) }},
	{"floor", "floor", func(t testing.TB, n int) pods { return typed{clientOf(newFloor(t, n, false), json)} }},
	{"floor-protobuf", "floor-protobuf", func(t testing.TB, n int) pods { return typed{clientOf(newFloor(t, n, false), protobuf)} }},
	{"floor-answers", "floor", func(t testing.TB, n int) pods { return typed{clientOf(newFloor(t, n, true), json)} }},
	{"floor-manager", "floor-manager", func(t testing.TB, n int) pods { return managed(t, newFloor(t, n, true)) }},
}

// kubesim returns the transport of a new server.
func kubesim(t testing.TB) http.RoundTripper {
	return fake.RunT(t).Transport()
}

// newFloor returns a floor that responds to reads with kubesim's responses. If knowsAnswers is true, it also does so for writes.
func newFloor(t testing.TB, existing int, knowsAnswers bool) *floor {
	server := kubesim(t)
	fill(t, typed{clientOf(server, json)}, existing)
	return &floor{server: server, knowsAnswers: knowsAnswers, answers: map[string]*answer{}}
}

// fill creates n pods.
func fill(t testing.TB, p pods, n int) pods {
	for i := range n {
		if _, err := p.create(t.Context(), pod(i)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func configOf(server http.RoundTripper) *rest.Config {
	return &rest.Config{Host: "http://kubesim.invalid", Transport: server, QPS: -1}
}

// managed returns controller-runtime's client for a server.
func managed(t testing.TB, server http.RoundTripper) pods {
	c, err := client.NewWithWatch(configOf(server), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return generic{c}
}

func clientOf(server http.RoundTripper, contentType string) kubernetes.Interface {
	config := configOf(server)
	config.ContentType = contentType
	if contentType == protobuf {
		config.AcceptContentTypes = protobuf + "," + json
	}
	return kubernetes.NewForConfigOrDie(config)
}

// typed implements pods with a typed clientset.
type typed struct{ kubernetes.Interface }

func (c typed) create(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	return c.CoreV1().Pods("default").Create(ctx, p, metav1.CreateOptions{})
}

func (c typed) get(ctx context.Context, name string) (*corev1.Pod, error) {
	return c.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
}

func (c typed) update(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	return c.CoreV1().Pods("default").Update(ctx, p, metav1.UpdateOptions{})
}

func (c typed) list(ctx context.Context) (*corev1.PodList, error) {
	return c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
}

func (c typed) apply(ctx context.Context, a *corev1apply.ConfigMapApplyConfiguration) error {
	_, err := c.CoreV1().ConfigMaps("default").Apply(ctx, a, metav1.ApplyOptions{FieldManager: "bench", Force: true})
	return err
}

// generic implements pods with a controller-runtime client.
type generic struct{ client.WithWatch }

func (c generic) create(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	return p, c.Create(ctx, p)
}

func (c generic) get(ctx context.Context, name string) (*corev1.Pod, error) {
	p := &corev1.Pod{}
	return p, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, p)
}

func (c generic) update(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	return p, c.Update(ctx, p)
}

func (c generic) list(ctx context.Context) (*corev1.PodList, error) {
	l := &corev1.PodList{}
	return l, c.List(ctx, l, client.InNamespace("default"))
}

func (c generic) apply(ctx context.Context, a *corev1apply.ConfigMapApplyConfiguration) error {
	return c.Apply(ctx, a, client.FieldOwner("bench"), client.ForceOwnership)
}
