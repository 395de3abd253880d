package zookeeper

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// TestMain does what ctrl.Main of fake/ctrl does, which needs a later version of controller-runtime than this operator.
func TestMain(m *testing.M) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetLogger(logr.Discard())
	controllerruntime.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// start runs a manager until its context ends.
func start(ctx context.Context, config *rest.Config, add func(*runtime.Scheme) error, setup func(manager.Manager) error) error {
	scheme := runtime.NewScheme()
	if err := errors.Join(add(scheme), clientgoscheme.AddToScheme(scheme)); err != nil {
		return err
	}
	mgr, err := manager.New(config, manager.Options{Scheme: scheme, MetricsBindAddress: "0", LeaderElection: true,
		LeaderElectionNamespace: "default", LeaderElectionID: "zookeeper-operator-lock", LeaderElectionResourceLock: "leases"})
	if err == nil {
		err = setup(mgr)
	}
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
