package ctrl

import (
	"os"
	"os/signal"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	controllerruntime "sigs.k8s.io/controller-runtime"
)

// Main runs the tests of a package, without the logs of controller-runtime and client-go, and exits. It prepares the process for
// testing/synctest bubbles: the runtime's goroutine for signals starts outside of them, and errors that client-go handles are not
// delayed until the real time of the start.
//
//	func TestMain(m *testing.M) { ctrl.Main(m) }
func Main(m interface{ Run() int }) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	controllerruntime.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
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
