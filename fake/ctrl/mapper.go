package ctrl

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/fake"
)

// mapper is a RESTMapper that asks the server what it serves, without requests: discovery can be late or fail, and a mapper that
// waits for it under a lock holds up all others in a bubble.
type mapper struct {
	srv *fake.Server

	mu    sync.Mutex
	kinds *meta.DefaultRESTMapper
}

// known returns the mapper of what was served when it was made. again makes it anew.
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

// ask asks what is known, and what is served now when it is not known.
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
