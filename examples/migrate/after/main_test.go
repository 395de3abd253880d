package migrate

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	controllerruntime "sigs.k8s.io/controller-runtime"

	"github.com/kubesim/kubesim/examples/bubble"
)

func TestMain(m *testing.M) {
	bubble.Ready()
	controllerruntime.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
