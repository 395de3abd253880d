package ctrl

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/fake"
)

// mapper is a RESTMapper that gets the served kinds from the server without requests. Discovery requests can be slow or fail, and a
// mapper that waits for them under a lock blocks all other goroutines in a bubble.
type mapper struct {
	srv *fake.Server

	mu    sync.Mutex
	kinds *meta.DefaultRESTMapper
}

// known returns the mapper of the kinds that were served when it was made. If again is set, it makes a new one.
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

// ask calls f with the known mapper and, if that has no match, with a new one.
func ask[V any](m *mapper, f func(meta.RESTMapper) (V, error)) (V, error) {
	v, err := f(m.known(false))
	if meta.IsNoMatchError(err) {
		return f(m.known(true))
	}
	return v, err
}

// KindFor implements meta.RESTMapper, as the other methods do.
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
