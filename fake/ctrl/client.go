package ctrl

import (
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubesim/kubesim/fake"
)

// Client returns a client for a test. It first stores objects as they are (fake.Server.Seed): with status, uid, finalizers and
// deletionTimestamp. It replaces NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build() of controller-runtime's fake.
// Definitions of custom kinds must be loaded before (srv.Load). If scheme is nil, it is client-go's.
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

// seed stores an object under the kind that the scheme gives it.
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

// Config returns a client configuration for a server, or for a user of it (fake.Server.As). It has no rate limit.
func Config(to fake.Entry, userAgent string) *rest.Config {
	return fake.Config[rest.Config](to, userAgent)
}
