package ctrl

import (
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	controllerruntime "sigs.k8s.io/controller-runtime"

	"github.com/kubesim/kubesim/fake/ctrl/clientgo"
)

// Main runs the tests of a package like clientgo.Main, and without the logs of controller-runtime.
//
//	func TestMain(m *testing.M) { ctrl.Main(m) }
func Main(m interface{ Run() int }) {
	controllerruntime.SetLogger(logr.Discard())
	clientgo.Main(m)
}

// Scheme returns a scheme with client-go's kinds and the kinds that the given functions add. It panics if a function returns an
// error.
//
//	ctrl.Start(t, srv, setup, ctrl.Options{Scheme: ctrl.Scheme(v1.AddToScheme)})
func Scheme(add ...func(*runtime.Scheme) error) *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	for _, f := range add {
		utilruntime.Must(f(s))
	}
	return s
}
