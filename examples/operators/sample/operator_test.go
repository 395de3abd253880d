package main

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	clientset "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	informers "k8s.io/sample-controller/pkg/generated/informers/externalversions"

	"github.com/kubesim/kubesim/fake"
	_ "github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/sim/controller"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the second one sleeps by the real time of the program's start
	os.Exit(m.Run())
}

// start starts the controller, as its main does.
func start(srv *fake.Server) {
	srv.Process("sample", func(ctx context.Context, transport http.RoundTripper) error {
		config := &rest.Config{Host: srv.URL(), Transport: transport, QPS: -1}
		kube, foos := kubernetes.NewForConfigOrDie(config), clientset.NewForConfigOrDie(config)
		builtin, custom := kubeinformers.NewSharedInformerFactory(kube, time.Minute), informers.NewSharedInformerFactory(foos, time.Minute)
		c := NewController(ctx, kube, foos, builtin.Apps().V1().Deployments(), custom.Samplecontroller().V1alpha1().Foos())
		builtin.Start(ctx.Done())
		custom.Start(ctx.Done())
		defer builtin.Shutdown()
		defer custom.Shutdown()
		return c.Run(ctx, 2)
	})
}

// A Foo gets its Deployment, which is scaled.
func TestOperator(t *testing.T) {
	same := fake.Outcome{Counts: true}
	fake.Explore(t, fake.ExploreOptions{Prepare: prepare, Server: fake.Options{Controllers: controller.All, Nodes: 2}}, func(t fake.T, srv *fake.Server) {
		start(srv)
		for _, file := range []string{"one.yaml", "three.yaml"} {
			srv.Load(file)
			time.Sleep(5 * time.Minute)
		}
		srv.Heal()
		time.Sleep(20 * time.Minute) // a work queue retries after at most 17 minutes
		same.Compare(t, srv, "foos", "deployments", "pods")
	})
}
