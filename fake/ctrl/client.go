package ctrl

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubesim/kubesim/fake"
)

// Client returns a client for a test. It first stores the given objects unchanged (fake.Server.Seed), including status, uid,
// finalizers and deletionTimestamp. It replaces NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build() of
// controller-runtime's fake client. Definitions of custom kinds must be loaded before (srv.Load). An object that cannot be stored
// ends the test. If scheme is nil, it is client-go's scheme.
func Client(t fake.TB, srv *fake.Server, scheme *runtime.Scheme, objects ...client.Object) client.WithWatch {
	t.Helper()
	if scheme == nil {
		scheme = clientgoscheme.Scheme
	}
	for _, obj := range objects {
		if err := seed(srv, scheme, obj); err != nil {
			t.Fatalf("ctrl: %s: %v", obj.GetName(), err)
			return nil
		}
	}
	c, err := client.NewWithWatch(Config(srv, ""), client.Options{Scheme: scheme, Mapper: &mapper{srv: srv}})
	if err != nil {
		t.Fatalf("ctrl: no client: %v", err)
	}
	return c
}

// seed stores an object with the kind that it has in the scheme.
func seed(srv *fake.Server, scheme *runtime.Scheme, obj client.Object) error {
	kind, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		return err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return err
	}
	fields["apiVersion"], fields["kind"] = kind.GroupVersion().String(), kind.Kind
	return srv.Seed(fields)
}

// Config returns a client configuration for a server or for one of its users (fake.Server.As). It has no rate limit.
func Config(to fake.Entry, userAgent string) *rest.Config {
	return fake.Config[rest.Config](to, userAgent)
}

// mapper is a RESTMapper that gets the served kinds from the server without requests. Discovery requests can be slow or fail, and a
// mapper that waits for them while holding a lock blocks all other goroutines in a bubble.
type mapper struct {
	srv *fake.Server

	mu    sync.Mutex
	kinds *meta.DefaultRESTMapper
}

// known returns a mapper for the kinds that were served when it was created. If again is true, it creates a new one.
func (m *mapper) known(again bool) meta.RESTMapper {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kinds != nil && !again {
		return m.kinds
	}
	m.kinds = meta.NewDefaultRESTMapper(nil)
	for _, k := range m.srv.Kinds() {
		gv := schema.GroupVersion{Group: k.Group, Version: k.Version}
		scope := meta.RESTScopeRoot
		if k.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		m.kinds.AddSpecific(gv.WithKind(k.Kind), gv.WithResource(k.Resource), gv.WithResource(k.Singular), scope)
	}
	return m.kinds
}

// ask calls f with the cached mapper. If that has no match, it calls f again with a new mapper.
func ask[V any](m *mapper, f func(meta.RESTMapper) (V, error)) (V, error) {
	v, err := f(m.known(false))
	if meta.IsNoMatchError(err) {
		return f(m.known(true))
	}
	return v, err
}

// KindFor implements meta.RESTMapper, like the following methods.
func (m *mapper) KindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return ask(m, func(to meta.RESTMapper) (schema.GroupVersionKind, error) { return to.KindFor(r) })
}

func (m *mapper) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return ask(m, func(to meta.RESTMapper) ([]schema.GroupVersionKind, error) { return to.KindsFor(r) })
}

func (m *mapper) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return ask(m, func(to meta.RESTMapper) (schema.GroupVersionResource, error) { return to.ResourceFor(r) })
}

func (m *mapper) ResourcesFor(r schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return ask(m, func(to meta.RESTMapper) ([]schema.GroupVersionResource, error) { return to.ResourcesFor(r) })
}

func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return ask(m, func(to meta.RESTMapper) (*meta.RESTMapping, error) { return to.RESTMapping(kind, versions...) })
}

func (m *mapper) RESTMappings(kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return ask(m, func(to meta.RESTMapper) ([]*meta.RESTMapping, error) { return to.RESTMappings(kind, versions...) })
}

func (m *mapper) ResourceSingularizer(resource string) (string, error) {
	return ask(m, func(to meta.RESTMapper) (string, error) { return to.ResourceSingularizer(resource) })
}
